// Weights in panels (Gemm.h, GemmPanels) into the panels of scratch: what is widened, and all that is read across the lines.
#pragma once
#include "lowering/cpu/Tier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::cpu {

/// The private function that widens pairs of bf16 along K, in the order DepthOrder::OddFirst:
///   (k: i64, source: ptr, panel: ptr)
/// `k` is a multiple of 2, the source has kPanelWidth pairs from one pair of steps to the next; `width` columns of them go to a
/// panel of f32.
mlir::func::FuncOp getWidenPanel(mlir::OpBuilder &builder, mlir::Location location, Tier tier, int64_t width);

/// The private function that packs pairs of columns of B, whose steps of K are neighbours, into a panel of `width` columns:
///   (k: i64, source: ptr, panel: ptr)
/// `k` is a multiple of 16 and lies in one panel of the source. What the panel of scratch has are pairs of steps where the tier
/// multiplies pairs, else f32 in the order DepthOrder::OddFirst.
mlir::func::FuncOp getTurnPanel(mlir::OpBuilder &builder, mlir::Location location, Tier tier, int64_t width);

} // namespace tenon::cpu
