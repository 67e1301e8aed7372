// Where a rule with factored moments keeps the means of squares: a compact arena of its own, without the places of all elements.
#pragma once
#include "dialect/OptimizeSettings.h"
#include "mlir/IR/BuiltinOps.h"
#include <vector>

namespace tenon {

/// The means of one parameter. A tensor of two dimensions or more is a matrix, of more than two that whose rows and columns are
/// fewest together; numbers are of the parameter's type.
struct FactoredMoment {
  ParameterOp parameter;
  int64_t offset, stride;    // bytes, of an element of a stack: means by rows first, from the start of a line of the cache
  int64_t rows = 0;          // of the matrix; without columns there is a mean for each element
  int64_t columns = 0;       // 0: it is not taken apart
  int64_t columnsOffset = 0; // bytes from the means by rows
  size_t rowDimensions = 0;  // the first dimensions are those of rows
};
/// Of all parameters that train in some function, in their order in the module.
std::vector<FactoredMoment> factoredMoments(mlir::ModuleOp module, int64_t leastToFactor);
/// Bytes of the arena.
int64_t bytesOf(const std::vector<FactoredMoment> &moments);

} // namespace tenon
