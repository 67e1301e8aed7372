#ifndef TENON_LOWERING_CPU_GEMMPLAN_H
#define TENON_LOWERING_CPU_GEMMPLAN_H

#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"

namespace tenon::cpu {

/// Arithmetic of `Emitter` on numbers that are known.
struct KnownNumbers {
  static int64_t constant(int64_t value) { return value; }
  static bool flag(bool value) { return value; }
  static int64_t add(int64_t a, int64_t b) { return a + b; }
  static int64_t mul(int64_t a, int64_t b) { return a * b; }
  static int64_t div(int64_t a, int64_t b) { return a / b; }
  static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
  static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }
  static int64_t min(int64_t a, int64_t b) { return std::min(a, b); }
  static int64_t max(int64_t a, int64_t b) { return std::max(a, b); }
  static bool less(int64_t a, int64_t b) { return a < b; }
  static bool lessEqual(int64_t a, int64_t b) { return a <= b; }
  template <typename T> static T select(bool condition, T a, T b) { return condition ? a : b; }
};

template <class Numbers> struct NumbersOf { // by Emitter
  using Number = mlir::Value;
  using Condition = mlir::Value;
};
template <> struct NumbersOf<KnownNumbers> {
  using Number = int64_t;
  using Condition = bool;
};
template <class Numbers> using NumberOf = typename NumbersOf<Numbers>::Number;

/// How a contraction is cut by its shape, strides and types, the tier and what a tile computes, never by the threads. The rule is
/// one for numbers that are known, when kernels are chosen, and for those of a run.
template <class Numbers> struct GemmCut {
  using Number = NumberOf<Numbers>;
  using Condition = typename NumbersOf<Numbers>::Condition;

  Number rowBlocks;          ///< blocks along M
  Number rowsPerBlock;       ///< rows of all blocks but the last
  Number depthBlocks;        ///< blocks along K, at least 1
  Number depthPerBlock;      ///< steps of all blocks but the last
  Number panels;             ///< panels along N, the last one may be partial
  Number panelsPerBlock;     ///< panels of all column blocks but the last
  Number columnBlocks;       ///< blocks along N
  Number tiles;              ///< rowBlocks * columnBlocks
  Condition streamsRight;    ///< whether few rows of A read B where it is, all of K at once
  Condition multipliesTiles; ///< whether there are rows enough, where the tier and the type have tiles

  GemmCut() = default;
  /// `leastPanels` (null: none): panels a tile takes at least, bounded by the limits.
  GemmCut(Numbers &emit, const GemmAccess &access, const GemmLimits &limits, Number m, Number n, Number k,
          const Number *leastPanels);
};

/// Of many contractions: the least panels of a tile of each, and how many share one.
template <class Numbers> NumberOf<Numbers> leastPanelsOf(Numbers &emit, const GemmLimits &limits, NumberOf<Numbers> batch);
template <class Numbers>
NumberOf<Numbers> entriesPerTile(Numbers &emit, const GemmLimits &limits, NumberOf<Numbers> work, NumberOf<Numbers> batch,
                                 NumberOf<Numbers> tilesEach);

/// As GemmSpec::choice says. Values are i64 and i1, constants where the shape is.
struct GemmPlan : GemmCut<Emitter> {
  GemmPlan(Emitter &emit, const GemmSpec &spec, mlir::Value leastPanels = nullptr);

  int64_t width;        ///< columns of a panel
  int64_t panelsPerRun; ///< panels of one of GemmRuns, at least 1

  /// Row counts a micro-kernel may be called with, ascending; 1 .. rows of the register tile when m is not a constant. Of tiles
  /// (TileKernel.h) any number is configured.
  llvm::SmallVector<int64_t> stripHeights;

private:
  void takeChoice(Emitter &emit, const GemmSpec &spec);
};

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_GEMMPLAN_H
