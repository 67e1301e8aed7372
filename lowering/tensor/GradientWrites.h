// One write per parameter and depth.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// A stack that is applied twice has two reverse loops, and each writes gradients of its depths. Afterwards each depth is written
/// once, with the sum: in the later loop where both have the same depths, else in a loop of its own for each range of depths that
/// the same loops have.
void joinGradientWrites(mlir::func::FuncOp function);

} // namespace tenon
