// Elementary functions as code of arith and math.fma on f32 or vectors of f32, where there are few of them without calls. Errors
// are stated in Math.cpp.
#pragma once
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// The op of the math dialect on `operands` (scalars or vectors, f32 or f64); null when there is no code for it. f64 calls libm.
Value emitMathFunction(FunctionCode &code, mlir::Operation &op, mlir::ValueRange operands);

Value emitExp(ImplicitLocOpBuilder &builder, Value x);
/// For x that is at most 0, or rounding errors above it, or NaN.
Value emitExpAtMostOne(ImplicitLocOpBuilder &builder, Value x);
Value emitTanh(ImplicitLocOpBuilder &builder, Value x);
Value emitErf(ImplicitLocOpBuilder &builder, Value x);
Value emitLog(ImplicitLocOpBuilder &builder, Value x);
Value emitSinCos(ImplicitLocOpBuilder &builder, Value x, bool cosine);
Value emitAtan(ImplicitLocOpBuilder &builder, Value x);
Value emitPow(ImplicitLocOpBuilder &builder, Value x, Value y);

} // namespace tenon::cpu
