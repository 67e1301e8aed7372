// The loss scale of tenon.optimize: what torch.amp.GradScaler does, in the step itself.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tenon {

/// What the gradients of a step are too large by; empty without a loss scale.
struct LossScale {
  mlir::Value place, now, inverse; // of the TnLossScale; f32; f64
  mlir::Value unscaled(mlir::ImplicitLocOpBuilder &builder, mlir::Value norm) const {
    return inverse ? mlir::arith::MulFOp::create(builder, norm, inverse).getResult() : norm;
  }
};
/// `place`: of the TnLossScale.
LossScale readLossScale(mlir::ImplicitLocOpBuilder &builder, mlir::Value place);
/// Where `last` (i1): more after `scale_every` updates in a row with `finite` gradients, less after another one.
void emitNextScale(mlir::ImplicitLocOpBuilder &builder, OptimizeOp op, const LossScale &scale, mlir::Value finite,
                   mlir::Value last);
/// i1.
mlir::Value isFinite(mlir::ImplicitLocOpBuilder &builder, mlir::Value real);

} // namespace tenon
