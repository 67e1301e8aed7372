// Scalar code, as steps and places of attention are made of, over whole tensors.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/IR/IRMapping.h"

namespace tenon {

/// Maps the result of every op of the block but its end to a tensor of the sizes of `space`; `known` has the arguments. False: an
/// op has no counterpart in the tensor form (what was made so far has no readers then).
bool elementwise(mlir::OpBuilder &builder, mlir::Location location, mlir::Block &block, mlir::RankedTensorType space,
                 mlir::IRMapping &known);

} // namespace tenon
