// Operands of nests in the order of their lanes: a filter [channels, places] that each output reads, channels on the lanes.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Where lanes step along a dimension that is not an operand's last one, each load gathers. What a nest reads many times that way
/// is copied once in front of it, that dimension last; in front of the loops in which it does not change.
void orderOperands(mlir::func::FuncOp function);

} // namespace tenon
