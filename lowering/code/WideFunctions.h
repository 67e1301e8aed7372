// Elementary functions of f64 for targets that have no libm: for proofs and for tables of positions, not for speed.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tenon {

/// exp, log, tanh, erf, sin, cos, atan and powf of the math dialect on f64; null for other ops. Errors are stated in
/// WideFunctions.cpp.
mlir::Value emitWideFunction(mlir::ImplicitLocOpBuilder &builder, mlir::Operation &op, mlir::ValueRange operands);

} // namespace tenon
