// `reduce = f64` of a numerics policy: what sums is computed in f64 and gives what it gave.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Sums, softmax, normalizers, losses, attention and their gradients (the trait ReadsRows, or isReduction of
/// MixedPrecisionOpInterface) take their real operands converted to `wide`, and who reads a result reads it in its old type;
/// what only others of them read (row statistics) stays wide.
void widenSums(mlir::func::FuncOp function, mlir::Type wide);

} // namespace tenon
