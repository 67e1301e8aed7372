// The scalar code that a kernel's code is made of.
#pragma once
#include "mlir/IR/Operation.h"

namespace tenon {

/// Asks `check` about each op of a kernel's regions, in their order, and about those outside that compute scalars for them, which
/// the code repeats. Fails at the first one that does.
mlir::LogicalResult checkScalarsOf(mlir::Operation *kernel, llvm::function_ref<mlir::LogicalResult(mlir::Operation &)> check);

/// Whether it is scalar code of the kernel form that every target has code for, whatever its types are: elements that are read
/// and put, sizes, inner loops, random bits. Folds and arithmetic are each target's own.
bool isOfEveryTarget(mlir::Operation &op);

/// Whether it is an op of the math dialect that each target has as an instruction, or leaves to LLVM: sqrt, absf, absi, fma. What
/// is a function stands in Functions.def.
bool isMathInstruction(mlir::Operation &op);

} // namespace tenon
