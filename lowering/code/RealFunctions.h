// Elementary functions as code of arith and math.fma on f32 or vectors of f32, the same on all targets: no library is called.
// Errors are stated in RealFunctions.cpp.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tenon {

/// exp, log, tanh, erf, sin, cos, atan and powf of the math dialect.
bool hasRealFunction(mlir::Operation &op);
/// One of these on f32; null for other ops.
mlir::Value emitRealFunction(mlir::ImplicitLocOpBuilder &builder, mlir::Operation &op, mlir::ValueRange operands);

/// For x that is at most 0, or rounding errors above it, or NaN.
mlir::Value emitExpAtMostOne(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);
mlir::Value emitTanh(mlir::ImplicitLocOpBuilder &builder, mlir::Value x);

} // namespace tenon
