// The kernels of GPUs, as an interface of the ops that they are generated from.
#pragma once
#include "dialect/TenonDialect.h"
#include "lowering/gpu/Chip.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;
}
namespace tenon::gpu {
class LaunchSequence;
/// Attaches GpuKernelOpInterface to the kernel ops of the dialect.
void registerKernelGenerators(mlir::DialectRegistry &registry);
/// Whether the kernels of an op take rows that lie apart (lowering/target/Rows.h).
bool takesRowSteps(KernelOpInterface kernel); // GpuTarget.cpp
} // namespace tenon::gpu

#include "lowering/gpu/GpuInterfaces.h.inc"
