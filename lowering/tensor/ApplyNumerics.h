// Mixed precision, as a function: what it makes of types is asked before it runs, too.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// What `tenon-apply-numerics` does.
void applyNumerics(mlir::func::FuncOp function);

} // namespace tenon
