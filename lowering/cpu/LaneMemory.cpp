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

/// Whether the last of `indices`, into dimensions of `sizes`, are the merged ones in order.
bool LaneCode::endsMerged(ValueRange indices, ArrayRef<AffineExpr> sizes) {
  const size_t count = merged.sources.size();
  return count > 1 && indices.size() >= count &&
         llvm::equal(indices.take_back(count), merged.sources, [](Value a, Value b) { return a == b; }) &&
         sizes.take_back(count) == ArrayRef<AffineExpr>(merged.sizes);
}

LaneValue LaneCode::linearIndex(RankedTensorType type, ValueRange indices) {
  SmallVector<AffineExpr> sizes = sizesOf(type);
  LaneValue linear = LaneValue::uniform(constant(builder, 0));
  Value stride = constant(builder, 1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (endsMerged(indices.take_front(dim + 1), ArrayRef<AffineExpr>(sizes).take_front(dim + 1))) {
      linear = addValues(linear, multiplyValues(merged.number, LaneValue::uniform(stride)));
      for (AffineExpr size : merged.sizes)
        stride = multiply(builder, stride, code.size(size));
      dim -= int64_t(merged.sizes.size()) - 1;
      continue;
    }
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

/// Of lanes, read for one choice alone: the choice loads it, where its condition holds.
bool LaneCode::isGuarded(AtOp at) {
  if (!vectorised || !at->hasOneUse() || isa<IntegerType>(at.getElement().getType()))
    return false;
  auto select = dyn_cast<arith::SelectOp>(*at->user_begin());
  return select && select.getTrueValue() == at.getElement() && select->getBlock() == at->getBlock();
}

/// The number below which, or from which on, `index` is clamped; null: it is not, in this direction.
template <typename Clamp> static Value clampedBy(Value &index) {
  auto clamp = index.getDefiningOp<Clamp>();
  if (!clamp)
    return {};
  const bool isFirst = matchPattern(clamp.getLhs(), m_Constant()) || clamp.getLhs().template getDefiningOp<SizeValueOp>();
  Value bound = isFirst ? clamp.getLhs() : clamp.getRhs();
  index = isFirst ? clamp.getRhs() : clamp.getLhs();
  return bound;
}

static AffineExpr formOf(Value value) {
  if (auto size = value.getDefiningOp<SizeValueOp>())
    return size.getForm().getResult(0);
  llvm::APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? getAffineConstantExpr(number.getSExtValue(), value.getContext())
                                                     : AffineExpr();
}

/// Whether one of `conditions` says that `index` is at least 0 (`last` null) or at most `last`.
static bool isInside(ArrayRef<arith::CmpIOp> conditions, Value index, Value last) {
  return llvm::any_of(conditions, [&](arith::CmpIOp condition) {
    if (!last)
      return condition.getPredicate() == arith::CmpIPredicate::sle && condition.getRhs() == index &&
             matchPattern(condition.getLhs(), m_Zero());
    AffineExpr size = formOf(condition.getRhs()), most = formOf(last);
    return condition.getPredicate() == arith::CmpIPredicate::slt && condition.getLhs() == index && size && most &&
           simplifyAffineExpr(size - most, 64, 0) == getAffineConstantExpr(1, index.getContext());
  });
}

/// A load of the lanes for which the condition holds, at indices without their clamps, which the condition implies: neighbours
/// stay neighbours. Nothing where that is not so.
std::optional<LaneValue> LaneCode::loadGuarded(AtOp at, arith::SelectOp select) {
  SmallVector<arith::CmpIOp> conditions;
  SmallVector<Value> work{select.getCondition()};
  while (!work.empty()) {
    Value condition = work.pop_back_val();
    if (auto both = condition.getDefiningOp<arith::AndIOp>())
      work.append({both.getLhs(), both.getRhs()});
    else if (auto compare = condition.getDefiningOp<arith::CmpIOp>())
      conditions.push_back(compare);
  }
  SmallVector<Value> indices;
  for (Value clamped : at.getIndices()) {
    Value index = clamped;
    Value low = clampedBy<arith::MaxSIOp>(index), high = clampedBy<arith::MinSIOp>(index);
    const bool isImplied = (!low || (matchPattern(low, m_Zero()) && isInside(conditions, index, {}))) &&
                           (!high || isInside(conditions, index, high));
    indices.push_back(isImplied && get(index).isAffine() ? index : clamped);
  }
  auto type = cast<RankedTensorType>(at.getTensor().getType());
  LaneValue linear = linearIndex(type, indices);
  if (!linear.isAffine())
    return std::nullopt;
  Value fill = lanesOf(get(select.getFalseValue())), wanted = lanesOf(get(select.getCondition())), all = mask;
  mask = all ? Value(arith::AndIOp::create(builder, all, wanted)) : wanted;
  LaneValue loaded = load(type.getElementType(), code.pointer(at.getTensor()), linear);
  mask = all;
  return LaneValue::lanes(arith::SelectOp::create(builder, wanted, lanesOf(loaded), fill));
}

} // namespace tenon::cpu
