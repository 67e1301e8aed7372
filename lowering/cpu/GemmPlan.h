#ifndef TENON_LOWERING_CPU_GEMMPLAN_H
#define TENON_LOWERING_CPU_GEMMPLAN_H

#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"

namespace tenon::cpu {

/// Bounds of one tile. The rows of A that a tile reads for one block of K (rows x depth) stay in a core's L2 while the panels of
/// B, one at a time, stay in L1 or stream from L2.
struct GemmLimits {
  int64_t rows;   ///< rows of C in one tile
  int64_t whole;  ///< K up to which there is one block: the sums of a strip then never leave the cache nearest to the core
  int64_t depth;  ///< steps of K in one block beyond that, between two visits of the sums in scratch
  int64_t panels; ///< panels of B in one tile
  int64_t split;  ///< column blocks wanted when K is split: fewer read a block of A, which no cache keeps, fewer times
  int64_t work;   ///< multiply-adds below which a tile takes more panels: about 20 us on a fast core
};

GemmLimits gemmLimits(Tier tier, mlir::Type storage);

/// How a contraction is cut: by its shape, strides and types, the tier and what a tile computes, never by the threads. Values are
/// i64, constants where the shape is.
struct GemmPlan {
  /// `leastPanels` (i64, may be null): panels a tile takes at least, bounded by the limits.
  GemmPlan(Emitter &emit, const GemmSpec &spec, mlir::Value leastPanels = nullptr);

  int64_t width;               ///< columns of a panel
  int64_t panelsPerRun;        ///< panels of one of GemmRuns, at least 1
  mlir::Value rowBlocks;       ///< blocks along M
  mlir::Value rowsPerBlock;    ///< rows of all blocks but the last
  mlir::Value depthBlocks;     ///< blocks along K, at least 1
  mlir::Value depthPerBlock;   ///< steps of all blocks but the last
  mlir::Value panels;          ///< panels along N, the last one may be partial
  mlir::Value panelsPerBlock;  ///< panels of all column blocks but the last
  mlir::Value columnBlocks;    ///< blocks along N
  mlir::Value tiles;           ///< rowBlocks * columnBlocks
  mlir::Value streamsRight;    ///< i1: whether few rows of A read B where it is, all of K at once
  mlir::Value multipliesTiles; ///< i1: whether there are rows enough, where the tier and the type have tiles

  /// Row counts a micro-kernel may be called with, ascending; 1 .. rows of the register tile when m is not a constant. Of tiles
  /// (TileKernel.h) any number is configured.
  llvm::SmallVector<int64_t> stripHeights;
};

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_GEMMPLAN_H
