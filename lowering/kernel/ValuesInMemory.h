// Which values of the tensor form exist in memory; all others are computed where they are read.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

class Target;

/// Ops that are no element computations, and contractions: their tensor operands must exist in memory.
bool isKernel(mlir::Operation *op);
/// Ops whose results are addresses: nothing is computed for them.
bool isAddress(mlir::Operation *op);
/// Results with one element per row of the operand.
bool isRowResult(mlir::Value value);

/// How much code one element of this op is, in additions; at least 1.
unsigned codeOf(mlir::Operation *op);
/// What a kernel computes for one element ends at this much code, and the next value gets memory: LLVM is not linear in the size
/// of a body, so that a chain of 5,000 steps in one would compile for minutes. More than any layer has.
inline constexpr unsigned kMostCodeOfKernel = 256;

/// The results of element ops that get memory, nested blocks included. `fuse` false: everything that is computed.
llvm::DenseSet<mlir::Value> valuesInMemory(mlir::func::FuncOp function, bool fuse, const Target &target);

} // namespace tenon
