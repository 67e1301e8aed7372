// Which kernels of a tier are compiled with the compiler: what most contractions are made of. Others are made as programs need
// them.
#pragma once
#include "lowering/cpu/Tier.h"
#include "mlir/IR/BuiltinOps.h"

namespace tenon::cpu {

/// Micro-kernels, packing, streamed and widened operands of the tier into `module`. Kernels that several tiers share are of the
/// tier that they are named after.
void addLibraryKernels(mlir::ModuleOp module, Tier tier);

} // namespace tenon::cpu
