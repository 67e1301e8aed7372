// The CPU's kernels, as an interface of the ops that they are generated from.
#pragma once
#include "lowering/cpu/Tier.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir {
class DialectRegistry;
}
namespace tenon::cpu {
class KernelSequence;
/// Attaches CpuKernelOpInterface to the kernel ops of the dialect.
void registerKernelGenerators(mlir::DialectRegistry &registry);
} // namespace tenon::cpu

#include "lowering/cpu/CpuInterfaces.h.inc"
