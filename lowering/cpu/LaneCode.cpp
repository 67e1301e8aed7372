#include "lowering/cpu/LaneCode.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Math.h"
#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;

namespace tenon::cpu {

Type machineType(Type source) { return source.isIndex() ? IntegerType::get(source.getContext(), 64) : memoryType(source); }

LaneValue LaneCode::get(Value source) {
  auto found = values.find(source);
  if (found != values.end())
    return found->second;
  if (Value scalar = code.scalar(source))
    return values[source] = LaneValue::uniform(scalar);
  // Scalar code outside the kernel (constants, forms of the dims) is repeated here.
  Operation *definition = source.getDefiningOp();
  assert(definition && "a scalar of the kernel form is a dim, a depth, or computed by an op");
  OpBuilder::InsertionGuard guard(builder);
  emitOp(*definition);
  return values.lookup(source);
}

Value LaneCode::lanesOf(LaneValue value) {
  if (value.kind == LaneValue::Kind::Lanes)
    return value.base;
  VectorType type = vectorOf(value.base.getType());
  Value all = vector::BroadcastOp::create(builder, type, value.base);
  if (value.isUniform())
    return all;
  SmallVector<Attribute> numbers;
  for (int64_t lane = 0; lane < laneCount; ++lane)
    numbers.push_back(builder.getIntegerAttr(type.getElementType(), lane));
  Value ramp = arith::ConstantOp::create(builder, DenseElementsAttr::get(type, numbers));
  if (asConstant(value.stride) != 1)
    ramp = arith::MulIOp::create(builder, ramp, vector::BroadcastOp::create(builder, type, value.stride));
  return arith::AddIOp::create(builder, all, ramp);
}

LaneValue LaneCode::addValues(LaneValue a, LaneValue b) {
  if (a.kind == LaneValue::Kind::Lanes || b.kind == LaneValue::Kind::Lanes)
    return LaneValue::lanes(arith::AddIOp::create(builder, lanesOf(a), lanesOf(b)));
  const int64_t modulus = std::gcd(a.modulus, b.modulus), offset = a.offset + b.offset;
  Value base = add(builder, a.base, b.base);
  if (a.isUniform() && b.isUniform())
    return LaneValue::uniform(base).knowing(modulus, offset);
  Value stride = a.isUniform() ? b.stride : b.isUniform() ? a.stride : add(builder, a.stride, b.stride);
  return LaneValue::affine(base, stride).knowing(modulus, offset);
}

LaneValue LaneCode::multiplyValues(LaneValue a, LaneValue b) {
  if (b.kind != LaneValue::Kind::Lanes && !b.isUniform())
    std::swap(a, b);
  if (a.kind == LaneValue::Kind::Lanes || !b.isUniform())
    return LaneValue::lanes(arith::MulIOp::create(builder, lanesOf(a), lanesOf(b)));
  // (m x + o)(n y + p) with p = 0 or n = 0: multiples of m n, or of m p with the rest o p.
  int64_t modulus = 1, offset = 0;
  if (b.modulus == 0)
    modulus = a.modulus * b.offset, offset = a.offset * b.offset;
  else if (a.modulus == 0)
    modulus = b.modulus * a.offset, offset = b.offset * a.offset;
  else if (a.offset == 0 || b.offset == 0)
    modulus = a.offset == 0 && b.offset == 0 ? a.modulus * b.modulus : a.offset == 0 ? a.modulus : b.modulus;
  if (modulus < 0 || modulus > (int64_t(1) << 40) || offset < 0)
    modulus = 1, offset = 0;
  Value base = multiply(builder, a.base, b.base);
  if (a.isUniform())
    return LaneValue::uniform(base).knowing(modulus, offset);
  return LaneValue::affine(base, multiply(builder, a.stride, b.base)).knowing(modulus, offset);
}

/// Sixteen neighbours that begin at a multiple of 16 have one quotient by a multiple of 16. A division by lanes that do not exist
/// must not trap.
LaneValue LaneCode::divide(LaneValue a, LaneValue b, bool wantRemainder) {
  auto operation = [&](Value x, Value y) {
    return wantRemainder ? builder.createOrFold<arith::RemSIOp>(x, y) : builder.createOrFold<arith::DivSIOp>(x, y);
  };
  if (a.isUniform() && b.isUniform())
    return LaneValue::uniform(operation(a.base, b.base));
  auto divisor = b.isUniform() ? asConstant(b.base) : std::nullopt;
  if (divisor == 1) // of a dimension of one element: neighbours stay neighbours
    return wantRemainder ? LaneValue::uniform(constant(builder, 0)) : a;
  if (a.isAligned(laneCount) && divisor && *divisor > 0 && *divisor % laneCount == 0) {
    Value quotient = builder.createOrFold<arith::DivSIOp>(a.base, b.base);
    if (!wantRemainder)
      return LaneValue::uniform(quotient);
    return LaneValue::affine(subtract(builder, a.base, multiply(builder, quotient, b.base)), a.stride)
        .knowing(std::gcd(a.modulus, *divisor), a.offset);
  }
  Value dividend = lanesOf(a), by = lanesOf(b);
  if (mask && !divisor) {
    Value one = arith::ConstantOp::create(builder, builder.getOneAttr(by.getType()));
    by = arith::SelectOp::create(builder, mask, by, one);
  }
  return LaneValue::lanes(operation(dividend, by));
}

LaneValue LaneCode::castValue(LaneValue a, Type to, bool isSigned) {
  auto cast = [&](Value value, Type type) -> Value {
    unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(),
             width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    if (from == width)
      return value;
    if (from > width)
      return builder.createOrFold<arith::TruncIOp>(type, value);
    if (isSigned)
      return builder.createOrFold<arith::ExtSIOp>(type, value);
    return builder.createOrFold<arith::ExtUIOp>(type, value);
  };
  LaneValue result = a;
  result.base = cast(a.base, a.kind == LaneValue::Kind::Lanes ? Type(vectorOf(to)) : to);
  if (a.isAffine())
    result.stride = cast(a.stride, to);
  return result;
}

/// (x div a) div b, as x div (a b) where that is one number for all lanes.
std::optional<LaneValue> LaneCode::quotientOfQuotients(Operation &op) {
  llvm::APInt number;
  int64_t divisor = 1;
  Value dividend = op.getResult(0);
  for (Operation *step = &op; step && isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(step) &&
                              matchPattern(step->getOperand(1), m_ConstantInt(&number)) && number.getSExtValue() > 0 &&
                              number.getSExtValue() < (int64_t(1) << 40) / divisor;
       step = dividend.getDefiningOp()) {
    divisor *= number.getSExtValue();
    dividend = step->getOperand(0);
  }
  if (dividend == op.getResult(0) || divisor % laneCount != 0 || !get(dividend).isAligned(laneCount))
    return std::nullopt;
  return divide(get(dividend), LaneValue::uniform(constant(builder, divisor)), /*wantRemainder=*/false);
}

/// add, sub, mul, division and index_cast keep the affine form where they can. False: not one of these.
bool LaneCode::emitInteger(Operation &op) {
  if (op.getNumOperands() == 0 || !isa<IndexType, IntegerType>(op.getOperand(0).getType()) ||
      !isa<IndexType, IntegerType>(op.getResult(0).getType()))
    return false;
  LaneValue a = get(op.getOperand(0)), b = op.getNumOperands() > 1 ? get(op.getOperand(1)) : LaneValue();
  LaneValue result;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    result = castValue(a, machineType(op.getResult(0).getType()), isa<arith::IndexCastOp>(op));
  } else if (a.isUniform() && (op.getNumOperands() < 2 || b.isUniform()) && !isa<arith::AddIOp, arith::MulIOp>(op)) {
    return false;
  } else if (isa<arith::AddIOp>(op)) {
    result = addValues(a, b);
  } else if (isa<arith::MulIOp>(op)) {
    result = multiplyValues(a, b);
  } else if (isa<arith::SubIOp>(op)) {
    if (a.kind == LaneValue::Kind::Lanes || b.kind == LaneValue::Kind::Lanes)
      return false;
    LaneValue negative = b;
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(b.base.getType()));
    negative.base = subtract(builder, zero, b.base);
    if (b.isAffine())
      negative.stride = subtract(builder, zero, b.stride);
    negative.modulus = 1; // differences may be negative: nothing is known of them
    negative.offset = 0;
    result = addValues(a, negative);
  } else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp>(op)) {
    const bool wantRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
    if (!wantRemainder && op.getResult(0).getType().isIndex())
      if (std::optional<LaneValue> quotient = quotientOfQuotients(op)) {
        values[op.getResult(0)] = *quotient;
        return true;
      }
    if (op.getResult(0).getType().isIndex() && a.isAligned(laneCount)) {
      result = divide(a, b, wantRemainder); // aligned values are indices of a loop, never negative: all divisions agree
    } else {
      Value by = lanesOf(b);
      if (mask && !(b.isUniform() && asConstant(b.base)))
        by = arith::SelectOp::create(builder, mask, by, arith::ConstantOp::create(builder, builder.getOneAttr(by.getType())));
      Value dividend = lanesOf(a);
      OperationState state(op.getLoc(), op.getName().getStringRef(), ValueRange{dividend, by}, {dividend.getType()},
                           op.getAttrs());
      result = LaneValue::lanes(builder.create(state)->getResult(0));
    }
  } else {
    return false;
  }
  values[op.getResult(0)] = result;
  return true;
}

static bool isNumber(Value value) {
  llvm::APFloat number(0.0);
  return matchPattern(value, m_ConstantFloat(&number)) ? !number.isNaN()
                                                       : isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(value.getDefiningOp());
}

/// The larger or smaller one; NaN where a or b is; of two zeros that of the first. The instruction gives the first where either
/// is NaN: where one of them is a number the other stands there, else NaN in the second is looked for.
static Value extremum(OpBuilder &builder, Operation &op, Value a, Value b) {
  const bool swaps = isNumber(op.getOperand(0)) && !isNumber(op.getOperand(1)), isMax = isa<arith::MaximumFOp>(op);
  if (swaps)
    std::swap(a, b);
  Value second = arith::CmpFOp::create(builder, op.getLoc(), arith::CmpFPredicate::OLT, isMax ? a : b, isMax ? b : a);
  Value chosen = arith::SelectOp::create(builder, op.getLoc(), second, b, a);
  if (isNumber(op.getOperand(swaps ? 0 : 1)))
    return chosen;
  Value isNan = arith::CmpFOp::create(builder, op.getLoc(), arith::CmpFPredicate::UNO, b, b);
  return arith::SelectOp::create(builder, op.getLoc(), isNan, b, chosen);
}

/// Any elementwise op of arith: the same op on scalars or on vectors.
void LaneCode::emitElementwise(Operation &op) {
  SmallVector<LaneValue> operands;
  bool uniform = true;
  for (Value operand : op.getOperands()) {
    operands.push_back(get(operand));
    uniform &= operands.back().isUniform();
  }
  SmallVector<Value> machine;
  for (LaneValue &operand : operands)
    machine.push_back(uniform ? operand.base : lanesOf(operand));
  Type element = machineType(op.getResult(0).getType());
  Type type = uniform ? element : Type(vectorOf(element));
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(op)) {
    Value result = extremum(builder, op, machine[0], machine[1]);
    values[op.getResult(0)] = uniform ? LaneValue::uniform(result) : LaneValue::lanes(result);
    return;
  }
  OperationState state(op.getLoc(), op.getName().getStringRef(), machine, {type}, op.getAttrs());
  SmallVector<Value> folded;
  Operation *created = builder.create(state);
  Value result = created->getResult(0);
  if (uniform && succeeded(builder.tryFold(created, folded)) && folded.size() == 1) {
    created->erase();
    result = folded[0];
  }
  values[op.getResult(0)] = uniform ? LaneValue::uniform(result) : LaneValue::lanes(result);
}

bool isShortConversion(Operation &op) {
  if (isa<arith::BitcastOp>(op))
    return isShortReal(op.getOperand(0).getType()) && op.getResult(0).getType().isInteger(16);
  if (isa<arith::ExtFOp>(op))
    return isShortReal(op.getOperand(0).getType()) && op.getResult(0).getType().isF32();
  return isa<arith::TruncFOp>(op) && op.getOperand(0).getType().isF32() && isShortReal(op.getResult(0).getType());
}

void LaneCode::emitShortConversion(Operation &op) {
  if (isa<arith::BitcastOp>(op)) {
    values[op.getResult(0)] = LaneValue(get(op.getOperand(0)));
    return;
  }
  const bool widens = isa<arith::ExtFOp>(op);
  LaneValue operand = get(op.getOperand(0));
  Value machine = operand.isUniform() ? operand.base : lanesOf(operand);
  Value result = widens ? widenBits(builder, op.getLoc(), code.tier, op.getOperand(0).getType(), machine)
                        : narrowToBits(builder, op.getLoc(), code.tier, op.getResult(0).getType(), machine);
  values[op.getResult(0)] = operand.isUniform() ? LaneValue::uniform(result) : LaneValue::lanes(result);
}

void LaneCode::emitMath(Operation &op) {
  SmallVector<Value> operands;
  bool uniform = true;
  for (Value operand : op.getOperands())
    uniform &= get(operand).isUniform();
  for (Value operand : op.getOperands())
    operands.push_back(uniform ? get(operand).base : lanesOf(get(operand)));
  Value result = emitMathFunction(code, op, operands);
  values[op.getResult(0)] = uniform ? LaneValue::uniform(result) : LaneValue::lanes(result);
}

void LaneCode::emitOp(Operation &op) {
  if (auto number = dyn_cast<arith::ConstantOp>(op)) {
    auto attribute = cast<TypedAttr>(number.getValue());
    if (attribute.getType().isIndex())
      attribute = builder.getI64IntegerAttr(cast<IntegerAttr>(attribute).getInt());
    else if (isShortReal(attribute.getType()))
      attribute = IntegerAttr::get(machineType(attribute.getType()), cast<FloatAttr>(attribute).getValue().bitcastToAPInt());
    values[number] = LaneValue::uniform(arith::ConstantOp::create(builder, attribute));
    return;
  }
  if (auto size = dyn_cast<SizeValueOp>(op)) {
    values[size] = LaneValue::uniform(code.size(size.getForm().getResult(0)));
    return;
  }
  if (auto at = dyn_cast<AtOp>(op)) {
    if (isGuarded(at))
      return;
    if (Value condition = laterCondition(at))
      if (std::optional<LaneValue> loaded = loadGuarded(at, condition, {})) {
        values[at] = *loaded;
        return;
      }
    auto type = cast<RankedTensorType>(at.getTensor().getType());
    values[at] = load(type.getElementType(), code.pointer(at.getTensor()), linearIndex(type, at.getIndices()));
    return;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (auto at = select.getTrueValue().getDefiningOp<AtOp>(); at && isGuarded(at)) {
      auto type = cast<RankedTensorType>(at.getTensor().getType());
      if (std::optional<LaneValue> loaded = loadGuarded(at, select.getCondition(), select.getFalseValue())) {
        values[select] = *loaded;
        return;
      }
      values[at] = load(type.getElementType(), code.pointer(at.getTensor()), linearIndex(type, at.getIndices()));
    }
  if (auto put = dyn_cast<PutOp>(op)) {
    auto [base, type] = results[put.getResult()];
    store(type.getElementType(), base, linearIndex(type, put.getIndices()), get(put.getElement()));
    return;
  }
  if (auto each = dyn_cast<EachOp>(op))
    return emitEach(each);
  if (auto fold = dyn_cast<FoldOp>(op))
    return emitFold(fold);
  if (auto keep = dyn_cast<RandomKeepOp>(op))
    return emitRandomKeep(keep);
  if (auto bits = dyn_cast<RandomBitsOp>(op))
    return emitRandomBits(bits);
  if (op.getNumResults() == 1 && isa<math::MathDialect>(op.getDialect()))
    return emitMath(op);
  if (isShortConversion(op))
    return emitShortConversion(op);
  if (emitInteger(op))
    return;
  assert(isa<arith::ArithDialect>(op.getDialect()) && "what there is no code for is refused before");
  emitElementwise(op);
}

void LaneCode::emitOps(Block &block) {
  for (Operation &op : block)
    if (!isa<YieldOp>(op))
      emitOp(op);
}

} // namespace tenon::cpu
