// Fused attention of 16 bits against the f32 kernel: the same inputs, results rounded once, equal bits.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "test/lowering/cpu/KernelRun.h"

namespace tenon::test {

/// Retypes what attention stores short (queries, keys, values, tables, results) from f32 to `storage`, in functions without
/// stacks. The results y that gradients read become outputs as well.
void storeShort(mlir::ModuleOp module, mlir::Type storage);

/// The other side, the functions as they were in f32: gradients read y from a further argument.
void takeYAsInput(mlir::ModuleOp module);
/// For a function of that: the inputs that the short one had, and the results y that its gradients read.
std::vector<Numbers> inputsWithY(mlir::func::FuncOp shortFunction, const std::vector<Numbers> &inputs, const Results &results);

/// Whether each result is that of the f32 kernel, rounded where it is stored short. `corrupt` is added to element 0 of those.
bool sameWhenRounded(const std::string &what, const Results &results, const Results &wide, double corrupt);

} // namespace tenon::test
