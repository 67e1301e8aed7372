// Which code tier this machine can run, from CPUID feature bits, the registers the operating system saves, and its permission.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

/// Each needs what those before it need.
enum class Tier : int {
#define TENON_TIER(tier, ...) tier,
#include "tenon/tiers.def"
};
constexpr Tier kTiers[] = {
#define TENON_TIER(tier, ...) Tier::tier,
#include "tenon/tiers.def"
};

/// As in TnVariant, in manifests and on command lines.
std::string_view nameOf(Tier tier);
Expected<Tier> tierFromName(std::string_view name);
/// In place of a tier's name: the choice that is made where nothing is said.
constexpr std::string_view kBestTier = "best";
/// What may be asked for, the least demanding first, then kBestTier.
std::vector<std::string> tierChoices();
/// The same for a sentence: "portable, .. or best".
std::string listOfTierChoices();
/// The best tier of this machine.
Tier machineTier();
/// Name of the first feature that `tier` needs and the machine lacks, empty if none. Of a machine with AMX, the first call for
/// its tier asks the operating system to let the process use its registers, which adds 8 KiB to what is saved of a thread that
/// does.
std::string_view missingFeature(Tier tier);

/// In front of a function of the runtime: it is compiled with vectors of Tier::Avx512, and called where no feature of that is
/// missing.
#if defined(__x86_64__)
#define TENON_CODE_OF_AVX512 [[gnu::target("avx512f")]]
#else
#define TENON_CODE_OF_AVX512
#endif

/// What decides.
struct Processor {
  struct Registers {
    uint32_t a = 0, b = 0, c = 0, d = 0;
  };
  Registers one, seven, sevenOne, extended; ///< CPUID leaves 1; 7, 0; 7, 1; 0x80000001
  uint64_t savedRegisters = 0;              ///< XCR0, 0 without OSXSAVE
  bool (*askForTiles)() = nullptr;          ///< called where all else is there; false: refused
};
std::string_view missingFeature(Tier tier, const Processor &processor);
Tier tierOf(const Processor &processor);

} // namespace tenon::runtime
