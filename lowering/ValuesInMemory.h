// Which values of the tensor form exist in memory; all others are computed where they are read.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Ops that stay as they are; their tensor operands must exist in memory.
bool isKernel(mlir::Operation *op);
/// Ops that compute an element from the elements of their operands at the same place, by a formula without random numbers.
bool isElementwise(mlir::Operation *op);
/// Values that are addresses: nothing is computed for them.
bool isAddress(mlir::Operation *op);
/// Results with one element per row of the operand.
bool isRowResult(mlir::Value value);

/// The results of element ops that get memory, nested blocks included. `fuse` false: everything that is computed.
llvm::DenseSet<mlir::Value> valuesInMemory(mlir::func::FuncOp function, bool fuse);

} // namespace tenon
