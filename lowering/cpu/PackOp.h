// tenon.pack as a kernel.
#pragma once
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

mlir::LogicalResult generatePack(mlir::Operation *op, KernelSequence &sequence);

} // namespace tenon::cpu
