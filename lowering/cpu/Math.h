// Elementary functions (lowering/code/RealFunctions.h), where there are few of them without calls; those of f64 call libm.
#pragma once
#include "lowering/code/RealFunctions.h"
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// Whether there is code for an op, of the math dialect, on its scalars.
bool hasMathFunction(mlir::Operation &op);
/// Such an op on `operands`, scalars or vectors.
Value emitMathFunction(FunctionCode &code, mlir::Operation &op, mlir::ValueRange operands);

} // namespace tenon::cpu
