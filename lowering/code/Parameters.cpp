#include "lowering/code/Parameters.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon {

ParameterTable parametersOf(ModuleOp module) {
  ParameterTable table;
  for (ParameterOp parameter : module.getOps<ParameterOp>())
    table[parameter.getSymName()] = parameter;
  return table;
}

SmallVector<AffineExpr> rowMajorStrides(RankedTensorType type) {
  SmallVector<AffineExpr> strides(type.getRank());
  AffineExpr stride = getAffineConstantExpr(1, type.getContext());
  SmallVector<AffineExpr> sizes = sizesOf(type);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    stride = stride * sizes[dim];
  }
  return strides;
}

} // namespace tenon
