// Element addresses, loads and stores of lane code.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

/// Indices (x div c, x mod c) into neighbouring dimensions, c the size of the second, are x in the merged dimension.
bool LaneCode::isQuotientPair(Value quotient, Value rest, AffineExpr size, Value &whole) {
  auto number = dyn_cast<AffineConstantExpr>(size);
  Operation *division = quotient.getDefiningOp(), *modulo = rest.getDefiningOp();
  if (!number || !division || !modulo || !isa<arith::DivSIOp, arith::FloorDivSIOp, arith::DivUIOp>(division) ||
      !isa<arith::RemSIOp, arith::RemUIOp>(modulo) || division->getOperand(0) != modulo->getOperand(0))
    return false;
  llvm::APInt first, second;
  if (!matchPattern(division->getOperand(1), m_ConstantInt(&first)) ||
      !matchPattern(modulo->getOperand(1), m_ConstantInt(&second)))
    return false;
  whole = division->getOperand(0);
  return first.getSExtValue() == number.getValue() && second.getSExtValue() == number.getValue();
}

LaneValue LaneCode::linearIndex(RankedTensorType type, ValueRange indices) {
  SmallVector<AffineExpr> sizes = sizesOf(type);
  LaneValue linear = LaneValue::uniform(constant(builder, 0));
  Value stride = constant(builder, 1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    Value whole;
    if (dim > 0 && isQuotientPair(indices[dim - 1], indices[dim], sizes[dim], whole)) {
      linear = addValues(linear, multiplyValues(get(whole), LaneValue::uniform(stride)));
      stride = multiply(builder, stride, multiply(builder, code.size(sizes[dim]), code.size(sizes[dim - 1])));
      --dim;
      continue;
    }
    linear = addValues(linear, multiplyValues(get(indices[dim]), LaneValue::uniform(stride)));
    stride = multiply(builder, stride, code.size(sizes[dim]));
  }
  return linear;
}

static unsigned alignmentOf(Type element) { return unsigned(elementBytes(element)); }

static Value fullMask(ImplicitLocOpBuilder &builder, int64_t lanes) {
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return arith::ConstantOp::create(builder, DenseElementsAttr::get(type, true));
}

LaneValue LaneCode::load(Type element, Value base, LaneValue index) {
  const bool isTruth = element.isInteger(1);
  Type stored = isTruth ? Type(builder.getI8Type()) : machineType(element);
  auto toTruth = [&](Value value) -> Value {
    if (!isTruth)
      return value;
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, value, zero);
  };
  if (index.isUniform())
    return LaneValue::uniform(
        toTruth(LLVM::LoadOp::create(builder, stored, elementAddress(builder, base, stored, index.base), alignmentOf(element))));
  VectorType type = vectorOf(stored);
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  Value loaded;
  if (index.isAffine() && asConstant(index.stride) == 1) {
    Value address = elementAddress(builder, base, stored, index.base);
    loaded = mask ? Value(LLVM::MaskedLoadOp::create(builder, type, address, mask, zero,
                                                     builder.getI32IntegerAttr(alignmentOf(element)), UnitAttr()))
                  : Value(LLVM::LoadOp::create(builder, type, address, alignmentOf(element)));
  } else {
    Type addresses = VectorType::get({laneCount}, pointer(builder));
    Value all = LLVM::GEPOp::create(builder, addresses, stored, base, ValueRange{lanesOf(index)});
    loaded = LLVM::masked_gather::create(builder, type, all, mask ? mask : fullMask(builder, laneCount), ValueRange{zero},
                                         alignmentOf(element));
  }
  return LaneValue::lanes(toTruth(loaded));
}

void LaneCode::store(Type element, Value base, LaneValue index, LaneValue value) {
  const bool isTruth = element.isInteger(1);
  Type stored = isTruth ? Type(builder.getI8Type()) : machineType(element);
  if (!vectorised) {
    Value scalar = isTruth ? Value(arith::ExtUIOp::create(builder, stored, value.base)) : value.base;
    LLVM::StoreOp::create(builder, scalar, elementAddress(builder, base, stored, index.base), alignmentOf(element));
    return;
  }
  Value vector = lanesOf(value);
  if (isTruth)
    vector = arith::ExtUIOp::create(builder, vectorOf(stored), vector);
  if (index.isAffine() && asConstant(index.stride) == 1) {
    Value address = elementAddress(builder, base, stored, index.base);
    if (mask)
      LLVM::MaskedStoreOp::create(builder, vector, address, mask, builder.getI32IntegerAttr(alignmentOf(element)));
    else
      LLVM::StoreOp::create(builder, vector, address, alignmentOf(element));
    return;
  }
  Type addresses = VectorType::get({laneCount}, pointer(builder));
  Value all = LLVM::GEPOp::create(builder, addresses, stored, base, ValueRange{lanesOf(index)});
  LLVM::masked_scatter::create(builder, vector, all, mask ? mask : fullMask(builder, laneCount), alignmentOf(element));
}

} // namespace tenon::cpu
