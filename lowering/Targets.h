// The targets of this compiler.
#pragma once
#include "lowering/target/Target.h"

namespace tenon {

/// Makes all targets known (findTarget), and what their kernels need, in a context that modules are compiled in.
void registerTargets(mlir::DialectRegistry &registry);
/// Their own passes and pipelines. The targets are known.
void registerTargetPasses();
/// The kernels of a target that were compiled with the compiler. The target's own library, which made them, does not know them.
/// Null: it has none.
const KernelLibrary *kernelLibraryOf(const Target &target);

} // namespace tenon
