// Parts of tenon.optimize: the loss scale.
#pragma once
#include "lowering/code/HostNumbers.h"
#include "lowering/cpu/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::cpu {

/// What the gradients of a step are too large by; empty without a loss scale.
struct LossScale {
  Value place, now, inverse; // of the TnLossScale; f32; f64
  Value unscaled(ImplicitLocOpBuilder &builder, Value norm) const {
    return inverse ? mlir::arith::MulFOp::create(builder, norm, inverse).getResult() : norm;
  }
};
LossScale readLossScale(FunctionCode &code);
/// Where `last` (i1): more after `scale_every` updates in a row with `finite` gradients, less after another one.
void emitNextScale(FunctionCode &code, OptimizeOp op, const LossScale &scale, Value finite, Value last);
/// Calls of libm from this code.
LibraryCall libraryOf(FunctionCode &code);
/// i1.
Value isFinite(ImplicitLocOpBuilder &builder, Value real);

} // namespace tenon::cpu
