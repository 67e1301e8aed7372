// A library in the place of an artifact's: it opens the one that TENON_TEST_WRAPPED names, shows its code for x86-64-v4-amx as
// that for x86-64-v4-bf16, and, since the processor has no AMX, does what its instructions are defined to do (Tiles.h) when they
// trap. At the end of the process it says on stderr how many there were.
#include "Tiles.h"
#include "runtime/include/tenon/artifact.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <ucontext.h>
#include <vector>

namespace {

using tenon::test::tilesOfThread;

std::atomic<long> trapped{0};

/// One instruction: VEX of three bytes, opcode map 0F38, 128 bits, W0, and what its ModRM names.
class Instruction {
public:
  Instruction(const uint8_t *at, greg_t *registers) : bytes(at), registers(registers) {
    known = at[0] == 0xc4 && (at[1] & 0x1f) == 2 && (at[2] & 0x84) == 0;
    prefix = at[2] & 3;
    opcode = at[3];
    mode = at[4] >> 6;
    reg = (at[4] >> 3 & 7) | ((at[1] & 0x80) ? 0 : 8);
    rm = (at[4] & 7) | ((at[1] & 0x20) ? 0 : 8);
    third = ~at[2] >> 3 & 15;
    length = 5;
    if (known && mode != 3)
      readAddress();
  }

  /// False: it is none of AMX.
  bool run() {
    enum { None, P66, F3, F2 };
    auto is = [&](int wanted, uint8_t code, bool inMemory) {
      return known && prefix == wanted && opcode == code && (mode != 3) == inMemory;
    };
    if (is(None, 0x49, true) && reg == 0)
      tilesOfThread().configure(reinterpret_cast<const void *>(base));
    else if (is(None, 0x49, false) && bytes[4] == 0xc0)
      tilesOfThread().release();
    else if (is(F2, 0x49, false))
      tilesOfThread().clear(reg);
    else if (is(F2, 0x4b, true))
      tilesOfThread().load(reg, reinterpret_cast<const void *>(base), stride);
    else if (is(F3, 0x4b, true))
      tilesOfThread().store(reg, reinterpret_cast<void *>(base), stride);
    else if (is(F3, 0x5c, false))
      tilesOfThread().multiply(reg, rm, third);
    else
      return false;
    return true;
  }

  int length;

private:
  int64_t value(int number) const {
    constexpr int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return registers[order[number]];
  }
  int32_t displacement() {
    int32_t read;
    std::memcpy(&read, bytes + length, 4);
    length += 4;
    return read;
  }
  /// `base` is the address of row 0, `stride` the scaled index.
  void readAddress() {
    bool hasBase = true;
    int baseRegister = rm;
    if ((rm & 7) == 4) {
      const uint8_t sib = bytes[length++];
      const int index = (sib >> 3 & 7) | ((bytes[1] & 0x40) ? 0 : 8);
      stride = index == 4 ? 0 : value(index) << (sib >> 6);
      baseRegister = (sib & 7) | ((bytes[1] & 0x20) ? 0 : 8);
      hasBase = mode != 0 || (sib & 7) != 5;
      if (!hasBase)
        base = displacement();
    } else if (mode == 0 && (rm & 7) == 5) { // of the next instruction
      hasBase = false;
      base = displacement();
      base += reinterpret_cast<int64_t>(bytes) + length;
    }
    if (hasBase)
      base = value(baseRegister);
    if (mode == 1)
      base += static_cast<int8_t>(bytes[length++]);
    else if (mode == 2)
      base += displacement();
  }

  const uint8_t *bytes;
  const greg_t *registers;
  bool known;
  int prefix, opcode, mode, reg, rm, third;
  int64_t base = 0, stride = 0;
};

void onTrap(int, siginfo_t *, void *context) {
  greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  Instruction instruction(reinterpret_cast<const uint8_t *>(registers[REG_RIP]), registers);
  if (!instruction.run()) {
    std::fprintf(stderr, "tiles: an illegal instruction that is none of AMX\n");
    std::abort();
  }
  ++trapped;
  registers[REG_RIP] += instruction.length;
}

void sayTrapped() { std::fprintf(stderr, "tiles: %ld instructions by definition\n", trapped.load()); }

const TnArtifact *wrap() {
  const char *path = std::getenv("TENON_TEST_WRAPPED");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
  auto table = library ? reinterpret_cast<const TnArtifact *(*)()>(dlsym(library, "tn_artifact")) : nullptr;
  if (!table) {
    std::fprintf(stderr, "tiles: no artifact at TENON_TEST_WRAPPED: %s\n", path ? dlerror() : "it is not set");
    std::abort();
  }
  static TnArtifact artifact = *table();
  static std::vector<TnEntry> entries(artifact.entries, artifact.entries + artifact.entry_count);
  static std::vector<std::vector<TnVariant>> variants;
  for (TnEntry &entry : entries) { // the code for AMX under the name of x86-64-v4-bf16
    std::vector<TnVariant> &list = variants.emplace_back();
    for (int32_t i = 0; i < entry.variant_count; ++i)
      if (std::string_view(entry.variants[i].name) == "x86-64-v4-amx")
        list.push_back({"x86-64-v4-bf16", entry.variants[i].run});
      else if (std::string_view(entry.variants[i].name) != "x86-64-v4-bf16")
        list.push_back(entry.variants[i]);
    entry.variants = list.data();
    entry.variant_count = static_cast<int32_t>(list.size());
  }
  artifact.entries = entries.data();
  struct sigaction action = {};
  action.sa_sigaction = onTrap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
  std::atexit(sayTrapped);
  return &artifact;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const TnArtifact *tn_artifact() {
  static const TnArtifact *const artifact = wrap();
  return artifact;
}
