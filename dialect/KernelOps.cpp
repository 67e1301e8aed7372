// The scalar ops of the kernel form.
#include "dialect/TenonDialect.h"

using namespace mlir;
using namespace tenon;

LogicalResult AtOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto tensor = cast<RankedTensorType>(adaptor.getTensor().getType());
  if (tensor.getRank() != int64_t(adaptor.getIndices().size())) // C1
    return emitOptionalError(location, "'tenon.at' op expects one index per dimension, got ", adaptor.getIndices().size(), " for rank ", tensor.getRank());
  types.push_back(tensor.getElementType());
  return success();
}
