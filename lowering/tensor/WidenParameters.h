// Parameters that lie in memory in 16 bits, as whoever reads f32 reads them.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// The other type in which it can be read. Null: there is none.
mlir::Type readOtherwise(ReadParameterOp read);
/// Parameters of f32 that lie in memory in 16 bits are read in these, and widened for whoever reads f32; joined with their
/// remainders where they have some.
void widenParameters(mlir::func::FuncOp function, mlir::Type stored, bool hasRemainders);

} // namespace tenon
