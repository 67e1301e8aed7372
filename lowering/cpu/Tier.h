#pragma once
#include "dialect/ElementModel.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tenon::cpu {

/// One compilation of the same kernels. Each tier is a separate module with its own target machine; the loader picks one by CPU
/// feature bits. The vector tiers compute the same bits (one sequential FMA chain per contraction output, 16 virtual lanes per
/// row reduction), but for the contractions of Tier::Amx; what holds of Portable: docs/cpu.md, "Determinism".
enum class Tier {
#define TENON_TIER(tier, ...) tier,
#include "runtime/include/tenon/tiers.def"
};
constexpr Tier kTiers[] = {
#define TENON_TIER(tier, ...) Tier::tier,
#include "runtime/include/tenon/tiers.def"
};

struct TierRow {
  llvm::StringLiteral publicName, name, cpu, features;
  int64_t vectorBits;
};
inline constexpr TierRow kTierRows[] = {
#define TENON_TIER(tier, publicName, name, cpu, features, vectorBits) {publicName, name, cpu, features, vectorBits},
#include "runtime/include/tenon/tiers.def"
};
constexpr const TierRow &rowOf(Tier tier) { return kTierRows[int(tier)]; }

/// Register tile of the contraction micro-kernel: `rows` x (`vectors` * lanes) accumulators, `unroll` steps of K per iteration.
struct MicroTile {
  int64_t rows;
  int64_t vectors;
  int64_t unroll;
};

/// Short lower-case name, used in symbol names and on the command line.
inline llvm::StringRef tierName(Tier tier) { return rowOf(tier).name; }

/// As a variant of the target: in the table of the artifact and the manifest, in `--tier` and in options of passes.
inline llvm::StringRef tierPublicName(Tier tier) { return rowOf(tier).publicName; }

inline std::optional<Tier> tierOfPublicName(llvm::StringRef name) {
  for (Tier tier : kTiers)
    if (tierPublicName(tier) == name)
      return tier;
  return std::nullopt;
}

/// The `-mcpu` of the tier's target machine and its `-mattr`: together exactly the tier's features.
inline llvm::StringRef tierCpu(Tier tier) { return rowOf(tier).cpu; }
inline llvm::StringRef tierFeatures(Tier tier) { return rowOf(tier).features; }

inline int64_t tierVectorBits(Tier tier) { return rowOf(tier).vectorBits; }

/// Lanes of one vector register for `element` (f32: 4, 8, 16; f64: 2, 4, 8).
inline int64_t tierLanes(Tier tier, mlir::Type element) { return tierVectorBits(tier) / element.getIntOrFloatBitWidth(); }

inline mlir::VectorType tierVector(Tier tier, mlir::Type element) {
  return mlir::VectorType::get({tierLanes(tier, element)}, element);
}

/// Tiers that a program has only where something is contracted in bf16: without that, their code is that of x86-64-v4.
inline bool isOnlyForBf16(Tier tier) { return tier == Tier::Avx512Bf16 || tier == Tier::Amx; }
/// In symbols of helpers that contractions of bf16 do not need: equal where the code is.
inline llvm::StringRef helperTierName(Tier tier) { return tierName(isOnlyForBf16(tier) ? Tier::Avx512 : tier); }

/// Whether it is the type of which the instruction multiplies pairs of steps. Sums of it have that instruction's order in every
/// tier, and lie in pairs where a parameter lies in panels.
inline bool isOfPairs(mlir::Type storage) { return storage.isBF16(); }
/// Whether contractions of `storage` multiply pairs along K (`vdpbf16ps`): one register holds two steps.
inline bool multipliesPairs(Tier tier, mlir::Type storage) { return isOnlyForBf16(tier) && isOfPairs(storage); }
/// Whether those with enough rows multiply tiles of pairs (`tdpbf16ps`).
inline bool multipliesTiles(Tier tier, mlir::Type storage) { return tier == Tier::Amx && isOfPairs(storage); }

/// Tiles that keep every accumulator in a register and hide the FMA latency. AVX2: 12 accumulators, 2 vectors of B, 1 broadcast
/// of 16 registers; AVX-512: 28 + 2 + 1 of 32. One more accumulator spills into the dependency chain (0.26 of the speed,
/// measured).
inline MicroTile microTile(Tier tier) {
  switch (tier) {
  case Tier::Portable:
    return {4, 2, 1};
  case Tier::Avx2:
    return {6, 2, 4};
  case Tier::Avx512:
  case Tier::Avx512Bf16:
  case Tier::Amx:
    return {14, 2, 1};
  }
  return {1, 1, 1};
}

} // namespace tenon::cpu
