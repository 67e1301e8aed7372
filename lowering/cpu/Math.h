// Elementary functions (lowering/code/RealFunctions.h), where there are few of them without calls; those of f64 call libm.
#pragma once
#include "lowering/code/RealFunctions.h"
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// The op of the math dialect on `operands` (scalars or vectors, f32 or f64); null when there is no code for it.
Value emitMathFunction(FunctionCode &code, mlir::Operation &op, mlir::ValueRange operands);

} // namespace tenon::cpu
