#include "dialect/TensorSizes.h"
#include "dialect/SizeValues.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon {

static AffineMap mapOf(RankedTensorType type) {
  if (auto attribute = dyn_cast_or_null<AffineMapAttr>(type.getEncoding()))
    return attribute.getValue();
  return {};
}

SmallVector<AffineExpr> sizesOf(RankedTensorType type) {
  if (AffineMap map = mapOf(type))
    return SmallVector<AffineExpr>(map.getResults());
  SmallVector<AffineExpr> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(getAffineConstantExpr(size, type.getContext()));
  return sizes;
}

unsigned dimCountOf(RankedTensorType type) {
  AffineMap map = mapOf(type);
  return map ? map.getNumDims() : 0;
}

AffineMapAttr sizeAttribute(AffineExpr size, unsigned dimCount) {
  return AffineMapAttr::get(AffineMap::get(dimCount, 0, {size}, size.getContext()));
}

AffineMap sizeMap(ArrayRef<AffineExpr> sizes, unsigned dimCount, MLIRContext *context) {
  SmallVector<AffineExpr> simplified;
  for (AffineExpr size : sizes)
    simplified.push_back(simplifyAffineExpr(size, dimCount, 0));
  return AffineMap::get(dimCount, 0, simplified, context);
}

RankedTensorType tensorType(ArrayRef<AffineExpr> sizes, Type element, unsigned dimCount) {
  SmallVector<int64_t> shape;
  bool isStatic = true;
  for (AffineExpr size : sizes) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    isStatic &= bool(constant);
    shape.push_back(constant ? constant.getValue() : ShapedType::kDynamic);
  }
  if (isStatic)
    return RankedTensorType::get(shape, element);
  return RankedTensorType::get(shape, element, AffineMapAttr::get(sizeMap(sizes, dimCount, element.getContext())));
}

bool hasSizes(RankedTensorType type) {
  AffineMap map = mapOf(type);
  if (!map)
    return !type.getEncoding() && type.hasStaticShape();
  if (map.getNumResults() != type.getRank() || map.getNumSymbols() != 0 || type.hasStaticShape())
    return false;
  for (auto [size, known] : llvm::zip(map.getResults(), type.getShape())) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    if (known != (constant ? constant.getValue() : ShapedType::kDynamic))
      return false;
  }
  return true;
}

std::string textOf(AffineExpr size) {
  std::string text;
  llvm::raw_string_ostream(text) << size;
  return text;
}

AffineExpr product(ArrayRef<AffineExpr> sizes, MLIRContext *context) {
  AffineExpr result = getAffineConstantExpr(1, context);
  for (AffineExpr size : sizes)
    result = result * size;
  return result;
}

AffineExpr toAffine(const Size &size, MLIRContext *context) {
  AffineExpr result = getAffineConstantExpr(size.constant(), context);
  for (auto [dim, coefficient] : size.coefficients())
    result = result + getAffineDimExpr(dim, context) * coefficient;
  return result;
}

int64_t nominalSize(AffineExpr expression, int64_t nominalDim) {
  return valueOf<int64_t>(expression, [nominalDim](unsigned) { return nominalDim; });
}

} // namespace tenon
