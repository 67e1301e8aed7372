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
  /// Of a rule with factored moments: bytes in their arena, and the matrix whose means by rows and columns lie there.
  struct Means {
    int64_t rows, columns;         // places of the means
    int64_t rowCount, columnCount; // 0: means of elements, at `rows`
  } means = {0, 0, 0, 0};
  bool continues(const OptimizerSegment &before, int64_t bytes) const;
};

/// Segments whose elements are of one type and lie in memory in one way: kernels are made for each.
struct OptimizerPart {
  mlir::Type element;           // of gradients and moments, which rules compute in
  mlir::Type stored, copies;    // of parameters in memory; of what is multiplied in their place, null: nothing is
  bool isSplit = false;         // remainders lie beside what is stored
  int64_t shrunk = 1;           // their places in the arena of parameters are this part of those in the arena of gradients
  std::optional<Panels> panels; // of all that have some; nothing where none has
  size_t first = 0, count = 0;  // of OptimizerTable::segments
};

struct OptimizerTable {
  std::vector<OptimizerPart> parts; ///< one, unless parameters differ in type
  std::vector<OptimizerSegment> segments;
  /// Bounds of norms; 0: none. The first is the recipe's and holds for what no group clips, the others are those of groups.
  std::vector<double> bounds;
  /// Each segment is one tensor, for the rule or the clipping has norms of tensors.
  bool perTensor = false;
};
/// What is trained, part by part, by offset; unless tensors count, a stack whose elements lie without gaps and share their
/// factors is one segment.
mlir::FailureOr<OptimizerTable> tabulate(OptimizeOp op, const ParameterTable &parameters);

} // namespace tenon
