// Loads and stores of lane code.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

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

/// The choice that a read goes into, through code of one user each; null: there is none near.
static arith::SelectOp choiceBehind(AtOp at) {
  constexpr int kLongest = 4;
  Value value = at.getElement();
  for (int step = 0; step < kLongest && value.hasOneUse(); ++step) {
    Operation *user = *value.user_begin();
    if (user->getBlock() != at->getBlock() || !isa<arith::ArithDialect>(user->getDialect()))
      return {};
    if (auto select = dyn_cast<arith::SelectOp>(user); select && select.getTrueValue() == value)
      return select;
    value = user->getResult(0);
  }
  return {};
}

/// Of lanes, the condition of a choice further on that leaves out what is computed of a read where it fails, emitted; null: there
/// is none, or it takes more than indices.
Value LaneCode::laterCondition(AtOp at) {
  arith::SelectOp select = vectorised && !isa<IntegerType>(at.getElement().getType()) ? choiceBehind(at) : arith::SelectOp();
  llvm::SetVector<Value> work;
  if (select)
    work.insert(select.getCondition());
  for (size_t next = 0; next < work.size(); ++next)
    if (Operation *op = work[next].getDefiningOp(); op && op->getBlock() == at->getBlock()) {
      if (!isa<arith::ArithDialect>(op->getDialect()) && !isa<SizeValueOp>(op))
        return {};
      work.insert_range(op->getOperands());
    }
  for (Operation *op = at; select && op != select; op = op->getNextNode()) // what stands behind the read
    if (op->getNumResults() == 1 && work.contains(op->getResult(0)))
      emitOp(*op);
  return select ? select.getCondition() : Value();
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

/// Binds `index`, and what it is computed from, without the clamps that the conditions make superfluous. Whether there are any.
bool LaneCode::unclamp(Value index, ArrayRef<arith::CmpIOp> conditions) {
  Value whole = index;
  Value low = clampedBy<arith::MaxSIOp>(whole), high = clampedBy<arith::MinSIOp>(whole);
  if (whole != index) {
    const bool isImplied = (!low || (matchPattern(low, m_Zero()) && isInside(conditions, whole, {}))) &&
                           (!high || isInside(conditions, whole, high));
    if (!isImplied || !get(whole).isAffine())
      return false;
    values[index] = LaneValue(get(whole));
    return true;
  }
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return false;
  const bool left = unclamp(op->getOperand(0), conditions), right = unclamp(op->getOperand(1), conditions);
  if (left || right)
    emitOp(*op);
  return left || right;
}

/// A load of the lanes for which the condition holds, `fill` (null: 0) in the others, at indices without their clamps, which the
/// condition implies: neighbours stay neighbours. Nothing where that is not so.
std::optional<LaneValue> LaneCode::loadGuarded(AtOp at, Value condition, Value fill) {
  SmallVector<arith::CmpIOp> conditions;
  SmallVector<Value> work{condition};
  while (!work.empty()) {
    Value part = work.pop_back_val();
    if (auto both = part.getDefiningOp<arith::AndIOp>())
      work.append({both.getLhs(), both.getRhs()});
    else if (auto compare = part.getDefiningOp<arith::CmpIOp>())
      conditions.push_back(compare);
  }
  Value wanted = lanesOf(get(condition)), otherwise = fill ? lanesOf(get(fill)) : Value();
  const auto clamped = values;
  for (Value index : at.getIndices())
    unclamp(index, conditions);
  auto type = cast<RankedTensorType>(at.getTensor().getType());
  LaneValue linear = linearIndex(type, at.getIndices());
  values = clamped;
  if (!linear.isAffine())
    return std::nullopt;
  Value all = mask;
  mask = all ? Value(arith::AndIOp::create(builder, all, wanted)) : wanted;
  LaneValue loaded = load(type.getElementType(), code.pointer(at.getTensor()), linear);
  mask = all;
  return fill ? LaneValue::lanes(arith::SelectOp::create(builder, wanted, lanesOf(loaded), otherwise)) : loaded;
}

} // namespace tenon::cpu
