#include "dialect/ElementModel.h"
#include "dialect/TensorSizes.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace tenon {

using runtime::DataType;

ElementModel elementModel(Type element) {
  constexpr int64_t rowBytes = 64;
  if (element.isF64())
    return {DataType::F64, element, rowBytes / int64_t(sizeof(double))};
  if (element.isF32())
    return {DataType::F32, element, rowBytes / int64_t(sizeof(float))};
  if (element.isBF16() || element.isF16())
    return {element.isBF16() ? DataType::BF16 : DataType::F16, Float32Type::get(element.getContext()),
            rowBytes / int64_t(sizeof(float))};
  if (element.isInteger(64))
    return {DataType::I64, element, 16};
  if (element.isInteger(32))
    return {DataType::I32, element, 16};
  if (element.isInteger(1))
    return {DataType::Bool, element, 16};
  llvm_unreachable("no element of a tensor");
}

Type copyType(ModuleOp module) {
  auto compute = module ? module->getAttrOfType<TypeAttr>("tenon.compute") : TypeAttr();
  return compute ? compute.getValue() : Type();
}

AffineExpr tensorBytes(RankedTensorType type) {
  return product(sizesOf(type), type.getContext()) * elementBytes(type.getElementType());
}

} // namespace tenon
