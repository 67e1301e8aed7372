// Parts of tenon.optimize: the table of what is updated how, the schedule, the loss scale.
#pragma once
#include "dialect/Panels.h"
#include "lowering/cpu/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tenon::cpu {

/// Consecutive elements of the arenas with equal factors.
struct OptimizerSegment {
  int64_t offset, count; // bytes, elements
  double rate, gradient, decay;
  int64_t norm;                   // of OptimizerTable::bounds: whose norm clips it
  int64_t lines = 0, columns = 0; // of a matrix that lies in panels; else 0. A segment may have several, one behind the other
  bool continues(const OptimizerSegment &before, int64_t bytes) const;
};

struct OptimizerTable {
  std::vector<OptimizerSegment> segments;
  /// Bounds of norms; 0: none. The first is the recipe's and holds for what no group clips, the others are those of groups.
  std::vector<double> bounds;
  /// Each segment is one tensor, for the rule or the clipping has norms of tensors.
  bool perTensor = false;
  std::optional<Panels> panels; ///< of all that have some; nothing where none has
  Type element;
};
/// What is trained, by offset; unless tensors count, a stack whose elements lie without gaps and share their factors is one
/// segment.
mlir::FailureOr<OptimizerTable> tabulate(OptimizeOp op, KernelSequence &sequence);

/// Factor of the rate, f64, at `step`, the number of updates before this one (f64).
Value scheduleFactor(FunctionCode &code, OptimizeOp op, Value step);

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
/// i1.
Value isFinite(ImplicitLocOpBuilder &builder, Value real);

} // namespace tenon::cpu
