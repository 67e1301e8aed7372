// Nests that read one tensor over one domain as one kernel: gradients of biases and of gains, parts of a tensor, a row's
// statistics beside its elements in 16 bits.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Of nests with no other kernel between them.
void joinNests(mlir::func::FuncOp function);

} // namespace tenon
