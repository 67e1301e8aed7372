#ifndef TENON_LOWERING_CPU_GEMMPLAN_H
#define TENON_LOWERING_CPU_GEMMPLAN_H

#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/KnownNumbers.h"

namespace tenon::cpu {

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
  int64_t stripRows;    ///< rows of a register tile at most

  /// Row counts a micro-kernel may be called with, ascending; 1 .. rows of the register tile when m is not a constant. Of tiles
  /// (TileKernel.h) any number is configured.
  llvm::SmallVector<int64_t> stripHeights;

private:
  void takeChoice(Emitter &emit, const GemmSpec &spec);
};

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_GEMMPLAN_H
