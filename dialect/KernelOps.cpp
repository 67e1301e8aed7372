// The scalar ops of the kernel form.
#include "dialect/TenonDialect.h"

using namespace mlir;
using namespace tenon;

void AtOp::build(OpBuilder &, OperationState &state, Value tensor, ValueRange indices) {
  state.addOperands(tensor);
  state.addOperands(indices);
  state.addTypes(cast<RankedTensorType>(tensor.getType()).getElementType());
}

LogicalResult AtOp::verify() {
  int64_t rank = cast<RankedTensorType>(getTensor().getType()).getRank();
  if (rank != int64_t(getIndices().size()))
    return emitOpError("expects one index per dimension, got ") << getIndices().size() << " for rank " << rank;
  return success();
}
