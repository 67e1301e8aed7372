// What tenon.optimize updates, with which factors.
#pragma once
#include "dialect/Panels.h"
#include "lowering/code/Parameters.h"
#include <vector>

namespace tenon {

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
  mlir::Type element;
};
/// What is trained, by offset; unless tensors count, a stack whose elements lie without gaps and share their factors is one
/// segment.
mlir::FailureOr<OptimizerTable> tabulate(OptimizeOp op, const ParameterTable &parameters);

} // namespace tenon
