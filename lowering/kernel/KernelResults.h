// What kernels give and loops carry, put in order around the selection.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// A result that fusion left without readers is not stored.
void dropUnusedResults(mlir::func::FuncOp function);

/// A body that yields one carry as another one reads a place that the copies at its end overwrite: the value gets a place of its
/// own first.
void copyExchangedCarries(mlir::func::FuncOp function);

} // namespace tenon
