// Parts of tenon.optimize: its settings, the table of what is updated how, the schedule.
#pragma once
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

class OptimizerSettings {
public:
  explicit OptimizerSettings(OptimizeOp op) : op(op) {}
  double number(llvm::StringRef key, double otherwise) const;
  bool isSet(llvm::StringRef key) const;
  llvm::StringRef schedule() const;
  /// Batches whose gradients make one update.
  int64_t accumulate() const { return int64_t(number("accumulate", 1)); }
  /// The schedule's length is TnContext::total_steps.
  bool lengthAtStart() const { return isSet("at_start"); }
  /// Reports unknown keys, values that contradict each other, and what is not supported yet.
  mlir::LogicalResult check() const;

private:
  mutable OptimizeOp op;
};

/// Consecutive elements of the arenas with equal factors.
struct OptimizerSegment {
  int64_t offset, count; // bytes, elements
  double rate, gradient, decay;
  int64_t norm;          // of OptimizerTable::bounds: whose norm clips it
  bool continues(const OptimizerSegment &before, int64_t bytes) const;
};

struct OptimizerTable {
  std::vector<OptimizerSegment> segments;
  /// Bounds of norms; 0: none. The first is the recipe's and holds for what no group clips, the others are those of groups.
  std::vector<double> bounds;
  Type element;
};
/// What is trained, by offset; a stack whose elements lie without gaps and share their factors is one segment.
mlir::FailureOr<OptimizerTable> tabulate(OptimizeOp op, const OptimizerSettings &settings, KernelSequence &sequence);

/// Factor of the rate, f64, at `step`, the number of updates before this one (f64).
Value scheduleFactor(FunctionCode &code, const OptimizerSettings &settings, Value step);

} // namespace tenon::cpu
