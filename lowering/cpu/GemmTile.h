// One tile of work of a contraction: what Gemm.h describes, once it is cut.
#ifndef TENON_LOWERING_CPU_GEMMTILE_H
#define TENON_LOWERING_CPU_GEMMTILE_H

#include "lowering/cpu/GemmPlan.h"

namespace tenon::cpu {

/// Emits tile number `tile` (i64) of the plan's; inside of `withTiles`. `scratch`: as for emitGemmTile.
void emitTileOfGemm(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, mlir::Value scratch, mlir::Value tile);

/// Emits `work` between the configuration of the tile registers and their release, where the plan multiplies tiles: they may be
/// on for as long as tiles of work take, since nothing in those gives the thread away or touches them.
void withTiles(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, llvm::function_ref<void()> work);

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_GEMMTILE_H
