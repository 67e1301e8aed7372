// The panel of B that a tile of work reads: where it lies in memory, or packed into scratch.
#pragma once
#include "lowering/cpu/GemmPlan.h"
#include "lowering/cpu/Pack.h"

namespace tenon::cpu {

/// bf16 is summed in one order in all tiers, that of the instruction for pairs.
inline DepthOrder depthOrderOf(mlir::Type storage) { return isOfPairs(storage) ? DepthOrder::OddFirst : DepthOrder::Ascending; }

/// A block of K, and scratch.
struct BlockOfDepth {
  mlir::Value start, steps; ///< i64
  mlir::Value packed;       ///< where a panel is packed to
  GemmOperand computed;     ///< columns as computed, where they are; strides are those of a column and of a step
};

/// Address of the panel of `columns` columns from `column` on (i64), in the block of K: in place, or packed by code emitted here.
mlir::Value placeRight(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, const BlockOfDepth &block, mlir::Value column,
                       mlir::Value columns);

} // namespace tenon::cpu
