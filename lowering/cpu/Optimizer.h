// Parts of tenon.optimize: the table of what is updated how, the schedule.
#pragma once
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// Consecutive elements of the arenas with equal factors.
struct OptimizerSegment {
  int64_t offset, count; // bytes, elements
  double rate, gradient, decay;
  int64_t norm; // of OptimizerTable::bounds: whose norm clips it
  bool continues(const OptimizerSegment &before, int64_t bytes) const;
};

struct OptimizerTable {
  std::vector<OptimizerSegment> segments;
  /// Bounds of norms; 0: none. The first is the recipe's and holds for what no group clips, the others are those of groups.
  std::vector<double> bounds;
  Type element;
};
/// What is trained, by offset; a stack whose elements lie without gaps and share their factors is one segment.
mlir::FailureOr<OptimizerTable> tabulate(OptimizeOp op, KernelSequence &sequence);

/// Factor of the rate, f64, at `step`, the number of updates before this one (f64).
Value scheduleFactor(FunctionCode &code, OptimizeOp op, Value step);

} // namespace tenon::cpu
