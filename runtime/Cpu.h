// Which code tier this machine can run, from CPUID feature bits and the registers the operating system saves.
#pragma once
#include "runtime/Status.h"
#include <string_view>

namespace tenon::runtime {

enum class Tier : int {
  Portable = 0,
  X86V3 = 1,
  X86V4 = 2,
  X86V4Bf16 = 3
}; // index into TnEntry::run; each needs what those before it need
constexpr int tierCount = 4;

std::string_view nameOf(Tier tier); // portable, x86-64-v3, x86-64-v4, x86-64-v4-bf16
Expected<Tier> tierFromName(std::string_view name);
/// The best tier of this machine.
Tier machineTier();
/// Name of the first feature that `tier` needs and the machine lacks, empty if none.
std::string_view missingFeature(Tier tier);

} // namespace tenon::runtime
