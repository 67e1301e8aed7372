#include "runtime/device/Cpu.h"
#include <ranges>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tenon::runtime {

namespace {

constexpr std::string_view tierNames[] = {
#define TENON_TIER(tier, name, ...) name,
#include "tenon/tiers.def"
};

#if defined(__x86_64__)
Processor::Registers cpuid(unsigned leaf, unsigned subleaf) {
  Processor::Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d))
    return {};
  return r;
}

/// Extended control register 0: which register files the operating system saves.
uint64_t savedRegisters() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

/// Of the process, once: Linux gives the state of tiles to those who ask (Documentation/arch/x86/xstate.rst), refuses where a
/// thread's stack for signals is too small to take it, and before 5.16 knows nothing of it.
bool askForTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  static const bool given = syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
  return given;
}

const Processor &thisProcessor() {
  static const Processor processor = [] {
    Processor p{cpuid(1, 0), cpuid(7, 0), cpuid(7, 1), cpuid(0x80000001u, 0), 0, askForTiles};
    if ((p.one.c >> 27 & 1) != 0)
      p.savedRegisters = savedRegisters();
    return p;
  }();
  return processor;
}
#endif

} // namespace

// Features of the levels: "System V Application Binary Interface, AMD64", table 3.1.
std::string_view missingFeature(Tier tier, const Processor &processor) {
  if (tier == Tier::Portable)
    return {};
  const auto &[one, seven, sevenOne, extended, saved, ask] = processor;
  struct Feature {
    bool there;
    std::string_view name;
  };
  const Feature level3[] = {
      {(one.c >> 27 & 1) != 0, "OSXSAVE"}, {(one.c >> 28 & 1) != 0, "AVX"},   {(seven.b >> 5 & 1) != 0, "AVX2"},
      {(one.c >> 12 & 1) != 0, "FMA"},     {(one.c >> 29 & 1) != 0, "F16C"},  {(seven.b >> 3 & 1) != 0, "BMI1"},
      {(seven.b >> 8 & 1) != 0, "BMI2"},   {(one.c >> 22 & 1) != 0, "MOVBE"}, {(extended.c >> 5 & 1) != 0, "LZCNT"},
  };
  for (const Feature &feature : level3)
    if (!feature.there)
      return feature.name;
  if ((saved & 0x6) != 0x6)
    return "operating system support for AVX registers";
  if (tier == Tier::Avx2)
    return {};
  const Feature level4[] = {
      {(seven.b >> 16 & 1) != 0, "AVX512F"},  {(seven.b >> 30 & 1) != 0, "AVX512BW"}, {(seven.b >> 28 & 1) != 0, "AVX512CD"},
      {(seven.b >> 17 & 1) != 0, "AVX512DQ"}, {(seven.b >> 31 & 1) != 0, "AVX512VL"},
  };
  for (const Feature &feature : level4)
    if (!feature.there)
      return feature.name;
  if ((saved & 0xe6) != 0xe6)
    return "operating system support for AVX-512 registers";
  if (tier == Tier::Avx512)
    return {};
  if ((sevenOne.a >> 5 & 1) == 0)
    return "AVX512_BF16";
  if (tier == Tier::Avx512Bf16)
    return {};
  if ((seven.d >> 24 & 1) == 0)
    return "AMX-TILE";
  if ((seven.d >> 22 & 1) == 0)
    return "AMX-BF16";
  if ((saved & 0x60000) != 0x60000)
    return "operating system support for AMX tiles";
  return ask() ? "" : "permission of the operating system to use AMX tiles";
}

Tier tierOf(const Processor &processor) {
  for (Tier tier : std::views::reverse(kTiers))
    if (missingFeature(tier, processor).empty())
      return tier;
  return Tier::Portable;
}

std::string_view nameOf(Tier tier) { return tierNames[static_cast<int>(tier)]; }

Expected<Tier> tierFromName(std::string_view name) {
  for (Tier tier : kTiers)
    if (nameOf(tier) == name)
      return tier;
  return usageError("unknown tier '", name, "': expected ", listOfTierChoices());
}

std::vector<std::string> tierChoices() {
  std::vector<std::string> names(std::begin(tierNames), std::end(tierNames));
  names.emplace_back(kBestTier);
  return names;
}

std::string listOfTierChoices() {
  std::string text;
  for (std::string_view name : tierNames)
    text += concat(text.empty() ? "" : ", ", name);
  return concat(text, " or ", kBestTier);
}

#if defined(__x86_64__)
std::string_view missingFeature(Tier tier) { return missingFeature(tier, thisProcessor()); }
Tier machineTier() { return tierOf(thisProcessor()); }
#else
std::string_view missingFeature(Tier tier) { return tier == Tier::Portable ? std::string_view() : "an x86-64 processor"; }
Tier machineTier() { return Tier::Portable; }
#endif

} // namespace tenon::runtime
