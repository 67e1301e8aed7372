#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Scores of pairs that lie in memory in 16 bits and are widened for attention are read as they lie there.
void readPairsAsStored(mlir::func::FuncOp function);

} // namespace tenon
