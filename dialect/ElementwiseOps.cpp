// Elementwise ops: element code and gradient rules, side by side per op; verifiers at the end.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Refusal.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <numbers>

using namespace mlir;
using namespace tenon;

namespace {

/// Scalar arithmetic for reals and integers alike.
struct Scalar {
  OpBuilder &builder;
  Location location;
  bool real(Value v) { return isa<FloatType>(v.getType()); }
  Value number(Type type, double value) {
    if (auto floating = dyn_cast<FloatType>(type))
      return arith::ConstantOp::create(builder, location, builder.getFloatAttr(floating, value));
    return arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, int64_t(value)));
  }
  Value add(Value a, Value b) {
    return real(a) ? Value(arith::AddFOp::create(builder, location, a, b))
                   : Value(arith::AddIOp::create(builder, location, a, b));
  }
  Value sub(Value a, Value b) {
    return real(a) ? Value(arith::SubFOp::create(builder, location, a, b))
                   : Value(arith::SubIOp::create(builder, location, a, b));
  }
  Value mul(Value a, Value b) {
    return real(a) ? Value(arith::MulFOp::create(builder, location, a, b))
                   : Value(arith::MulIOp::create(builder, location, a, b));
  }
  Value div(Value a, Value b) { return arith::DivFOp::create(builder, location, a, b); }
  Value less(Value a, Value b) {
    return real(a) ? Value(arith::CmpFOp::create(builder, location, arith::CmpFPredicate::OLT, a, b))
                   : Value(arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, a, b));
  }
  Value select(Value c, Value a, Value b) { return arith::SelectOp::create(builder, location, c, a, b); }
};

} // namespace

// One element: read the operands at the same indices, combine. The combination is written once per op below.
#define TENON_UNARY_ELEMENT(OP, EXPRESSION)                                                                                      \
  Value OP::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {                                 \
    [[maybe_unused]] Scalar s{builder, getLoc()};                                                                                \
    Value x = read(getX(), indices);                                                                                             \
    return EXPRESSION;                                                                                                           \
  }
#define TENON_BINARY_ELEMENT(OP, EXPRESSION)                                                                                     \
  Value OP::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {                                 \
    [[maybe_unused]] Scalar s{builder, getLoc()};                                                                                \
    Value a = read(getA(), indices), b = read(getB(), indices);                                                                  \
    return EXPRESSION;                                                                                                           \
  }
// Gradient rules: dy is the gradient of the result, g builds ops.
#define TENON_UNARY_VJP(OP, EXPRESSION)                                                                                          \
  SmallVector<Value> OP::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {                                         \
    Build g(builder, getLoc());                                                                                                  \
    Value x = getX(), y = getY(), dy = resultGradients[0];                                                                       \
    (void)x, (void)y;                                                                                                            \
    return {EXPRESSION};                                                                                                         \
  }
#define TENON_BINARY_VJP(OP, DA, DB)                                                                                             \
  SmallVector<Value> OP::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {                                         \
    if (!isa<FloatType>(tensorOf(getY()).getElementType()))                                                                      \
      return {Value(), Value()};                                                                                                 \
    Build g(builder, getLoc());                                                                                                  \
    Value a = getA(), b = getB(), y = getY(), dy = resultGradients[0];                                                           \
    (void)a, (void)b, (void)y;                                                                                                   \
    Value da = DA, db = DB;                                                                                                      \
    return {da, db};                                                                                                             \
  }
#define TENON_NO_GRADIENT(OP)                                                                                                    \
  SmallVector<Value> OP::buildVjp(OpBuilder &, ArrayRef<Value>) { return SmallVector<Value>(getOperation()->getNumOperands()); }

static Value createMath(Scalar &s, StringRef name, Value x) {
  OpBuilder &b = s.builder;
  if (name == "exp")
    return math::ExpOp::create(b, s.location, x);
  if (name == "log")
    return math::LogOp::create(b, s.location, x);
  if (name == "tanh")
    return math::TanhOp::create(b, s.location, x);
  if (name == "erf")
    return math::ErfOp::create(b, s.location, x);
  if (name == "sin")
    return math::SinOp::create(b, s.location, x);
  if (name == "cos")
    return math::CosOp::create(b, s.location, x);
  if (name == "atan")
    return math::AtanOp::create(b, s.location, x);
  assert(name == "sqrt");
  return math::SqrtOp::create(b, s.location, x);
}

TENON_UNARY_ELEMENT(NegOp, s.real(x) ? Value(arith::NegFOp::create(builder, getLoc(), x)) : s.sub(s.number(x.getType(), 0), x))
TENON_UNARY_VJP(NegOp, g.neg(dy))
TENON_UNARY_ELEMENT(ExpOp, createMath(s, "exp", x))
TENON_UNARY_VJP(ExpOp, g.mul(dy, y))
TENON_UNARY_ELEMENT(LogOp, createMath(s, "log", x))
TENON_UNARY_VJP(LogOp, g.div(dy, x))
TENON_UNARY_ELEMENT(SqrtOp, createMath(s, "sqrt", x))
TENON_UNARY_VJP(SqrtOp, g.div(g.scale(dy, 0.5), y))
TENON_UNARY_ELEMENT(AbsOp, s.select(s.less(x, s.number(x.getType(), 0)), s.sub(s.number(x.getType(), 0), x), x))
TENON_UNARY_ELEMENT(SinOp, createMath(s, "sin", x))
TENON_UNARY_VJP(SinOp, g.mul(dy, g.unary<CosOp>(x)))
TENON_UNARY_ELEMENT(CosOp, createMath(s, "cos", x))
TENON_UNARY_VJP(CosOp, g.neg(g.mul(dy, g.unary<SinOp>(x))))
TENON_UNARY_ELEMENT(AtanOp, createMath(s, "atan", x))
TENON_UNARY_VJP(AtanOp, g.div(dy, g.add(g.constant(x.getType(), 1), g.mul(x, x))))
TENON_UNARY_ELEMENT(ErfOp, createMath(s, "erf", x))
TENON_UNARY_VJP(ErfOp, g.mul(dy, g.scale(g.unary<ExpOp>(g.neg(g.mul(x, x))), 2 * std::numbers::inv_sqrtpi)))
TENON_UNARY_ELEMENT(TanhOp, createMath(s, "tanh", x))
TENON_UNARY_VJP(TanhOp, g.mul(dy, g.sub(g.constant(y.getType(), 1), g.mul(y, y))))
TENON_UNARY_ELEMENT(SigmoidOp,
                    s.div(s.number(x.getType(), 1),
                          s.add(s.number(x.getType(), 1), createMath(s, "exp", arith::NegFOp::create(builder, getLoc(), x)))))
TENON_UNARY_VJP(SigmoidOp, g.mul(dy, g.mul(y, g.sub(g.constant(y.getType(), 1), y))))
TENON_UNARY_ELEMENT(ReluOp, s.select(s.less(x, s.number(x.getType(), 0)), s.number(x.getType(), 0), x)) // a NaN stays
TENON_UNARY_VJP(ReluOp, g.select(g.compare(Comparison::lt, g.zerosLike(x), x), dy, g.zerosLike(x)))
TENON_UNARY_ELEMENT(NotOp, arith::XOrIOp::create(builder, getLoc(), x, s.number(x.getType(), 1)))
TENON_NO_GRADIENT(NotOp)
TENON_UNARY_ELEMENT(StopGradientOp, x)
TENON_NO_GRADIENT(StopGradientOp)

SmallVector<Value> AbsOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  if (!isa<FloatType>(tensorOf(getX()).getElementType()))
    return {Value()};
  Build g(builder, getLoc());
  Value x = getX(), dy = resultGradients[0], zero = g.zerosLike(x);
  return {g.select(g.compare(Comparison::lt, zero, x), dy, g.select(g.compare(Comparison::lt, x, zero), g.neg(dy), zero))};
}

/// x (1 + erf(x / sqrt 2)) / 2. Source: Hendrycks & Gimpel 2016.
Value GeluOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Scalar s{builder, getLoc()};
  Value x = read(getX(), indices);
  Value erf = createMath(s, "erf", s.mul(x, s.number(x.getType(), std::numbers::sqrt2 / 2)));
  return s.mul(s.mul(x, s.number(x.getType(), 0.5)), s.add(s.number(x.getType(), 1), erf));
}
/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. Source: the same, tanh form of OpenAI's GPT code.
static Value geluTanhArgument(Scalar &s, Value x) {
  Value cube = s.mul(s.mul(x, x), s.number(x.getType(), 0.044715));
  return s.mul(s.mul(x, s.number(x.getType(), std::sqrt(2 / std::numbers::pi))), s.add(s.number(x.getType(), 1), cube));
}
Value GeluTanhOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Scalar s{builder, getLoc()};
  Value x = read(getX(), indices);
  Value tanh = createMath(s, "tanh", geluTanhArgument(s, x));
  return s.mul(s.mul(x, s.number(x.getType(), 0.5)), s.add(s.number(x.getType(), 1), tanh));
}
static SmallVector<Value> activationVjp(Operation *op, StringRef name, Value x, Value dy, OpBuilder &builder) {
  return {ActivationGradOp::create(builder, op->getLoc(), x.getType(), builder.getStringAttr(name), x, dy)};
}
SmallVector<Value> GeluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  return activationVjp(*this, "gelu", getX(), dy[0], builder);
}
SmallVector<Value> GeluTanhOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  return activationVjp(*this, "gelu_tanh", getX(), dy[0], builder);
}

Value ActivationGradOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Scalar s{builder, getLoc()};
  Value x = read(getX(), indices), dy = read(getDy(), indices);
  auto number = [&](double value) { return s.number(x.getType(), value); };
  if (getOf() == "gelu") { // Phi(x) + x phi(x)
    Value phi = s.mul(createMath(s, "exp", s.mul(s.mul(x, x), number(-0.5))), number(1 / std::sqrt(2 * std::numbers::pi)));
    Value cdf = s.mul(number(0.5), s.add(number(1), createMath(s, "erf", s.mul(x, number(std::numbers::sqrt2 / 2)))));
    return s.mul(dy, s.add(cdf, s.mul(x, phi)));
  }
  Value tanh = createMath(s, "tanh", geluTanhArgument(s, x));
  Value slope = s.mul(number(std::sqrt(2 / std::numbers::pi)), s.add(number(1), s.mul(s.mul(x, x), number(3 * 0.044715))));
  Value inner = s.mul(s.sub(number(1), s.mul(tanh, tanh)), s.mul(x, slope));
  return s.mul(dy, s.mul(number(0.5), s.add(s.add(number(1), tanh), inner)));
}
SmallVector<Value> ActivationGradOp::buildVjp(OpBuilder &, ArrayRef<Value>) {
  notSupported(*this) << "a second derivative";
  return {};
}

TENON_BINARY_ELEMENT(AddOp, s.add(a, b))
TENON_BINARY_VJP(AddOp, dy, dy)
TENON_BINARY_ELEMENT(SubOp, s.sub(a, b))
TENON_BINARY_VJP(SubOp, dy, g.neg(dy))
TENON_BINARY_ELEMENT(MulOp, s.mul(a, b))
TENON_BINARY_VJP(MulOp, g.mul(dy, b), g.mul(dy, a))
TENON_BINARY_ELEMENT(DivOp, s.div(a, b))
TENON_BINARY_VJP(DivOp, g.div(dy, b), g.neg(g.div(g.mul(dy, y), b)))
TENON_BINARY_ELEMENT(PowOp, math::PowFOp::create(builder, getLoc(), a, b))
TENON_BINARY_ELEMENT(MaxOp, s.real(a) ? Value(arith::MaximumFOp::create(builder, getLoc(), a, b)) : s.select(s.less(a, b), b, a))
TENON_BINARY_ELEMENT(MinOp, s.real(a) ? Value(arith::MinimumFOp::create(builder, getLoc(), a, b)) : s.select(s.less(b, a), b, a))
/// Instructions trap on a division by 0 and on the quotient that does not fit, the smallest number by -1.
static Value floorQuotient(Scalar s, Value a, Value b) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(s.builder, s.location, s.builder.getIntegerAttr(b.getType(), value));
  };
  APInt known;
  if (matchPattern(b, m_ConstantInt(&known)) && !known.isZero() && !known.isAllOnes())
    return arith::FloorDivSIOp::create(s.builder, s.location, a, b);
  Value isUsual = arith::CmpIOp::create(s.builder, s.location, arith::CmpIPredicate::ugt, s.add(b, number(1)), number(1));
  Value quotient = arith::FloorDivSIOp::create(s.builder, s.location, a, s.select(isUsual, b, number(1)));
  return s.select(isUsual, quotient, s.mul(a, b));
}
TENON_BINARY_ELEMENT(FloorDivOp, floorQuotient(s, a, b))
TENON_NO_GRADIENT(FloorDivOp)
TENON_BINARY_ELEMENT(ModOp, s.sub(a, s.mul(b, floorQuotient(s, a, b))))
TENON_NO_GRADIENT(ModOp)
TENON_BINARY_ELEMENT(AndOp, arith::AndIOp::create(builder, getLoc(), a, b))
TENON_NO_GRADIENT(AndOp)
TENON_BINARY_ELEMENT(OrOp, arith::OrIOp::create(builder, getLoc(), a, b))
TENON_NO_GRADIENT(OrOp)

SmallVector<Value> PowOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  Build g(builder, getLoc());
  Value a = getA(), b = getB(), dy = resultGradients[0];
  Value lowered = PowOp::create(builder, getLoc(), a.getType(), a, g.sub(b, g.constant(b.getType(), 1)));
  Value da = g.mul(dy, g.mul(b, lowered));
  // A constant exponent has no gradient, and ln(a) would be NaN for the negative bases that x ^ 2 allows.
  Operation *exponent = b.getDefiningOp();
  while (exponent && isa<BroadcastOp>(exponent))
    exponent = exponent->getOperand(0).getDefiningOp();
  if (isa_and_nonnull<ConstantOp>(exponent))
    return {da, Value()};
  return {da, g.mul(dy, g.mul(getY(), g.unary<LogOp>(a)))};
}

/// dy goes to the operand that won, half to each where they are equal (the convention of PyTorch's maximum).
static SmallVector<Value> extremumVjp(Operation *op, Value winner, Value loser, Value dy, bool isReal, OpBuilder &builder) {
  if (!isReal)
    return {Value(), Value()};
  Build g(builder, op->getLoc());
  Value zero = g.zerosLike(dy), equal = g.compare(Comparison::eq, winner, loser), half = g.scale(dy, 0.5);
  Value forWinner = g.select(equal, half, g.select(g.compare(Comparison::lt, loser, winner), dy, zero));
  Value forLoser = g.select(equal, half, g.select(g.compare(Comparison::lt, winner, loser), dy, zero));
  return {forWinner, forLoser};
}
static bool isRealTensor(Value value) { return isa<FloatType>(tensorOf(value).getElementType()); }
SmallVector<Value> MaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  return extremumVjp(*this, getA(), getB(), dy[0], isRealTensor(getY()), builder);
}
SmallVector<Value> MinOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  // a takes what the larger one of a maximum would take where b is the larger one, and the other way round.
  return extremumVjp(*this, getB(), getA(), dy[0], isRealTensor(getY()), builder);
}

Value CompareOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Value a = read(getA(), indices), b = read(getB(), indices);
  if (isa<FloatType>(a.getType())) {
    constexpr arith::CmpFPredicate predicates[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
                                                   arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE};
    return arith::CmpFOp::create(builder, getLoc(), predicates[unsigned(getKind())], a, b);
  }
  constexpr arith::CmpIPredicate predicates[] = {arith::CmpIPredicate::eq, arith::CmpIPredicate::ne, arith::CmpIPredicate::slt,
                                                 arith::CmpIPredicate::sle};
  return arith::CmpIOp::create(builder, getLoc(), predicates[unsigned(getKind())], a, b);
}
TENON_NO_GRADIENT(CompareOp)

Value SelectOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  return arith::SelectOp::create(builder, getLoc(), read(getC(), indices), read(getA(), indices), read(getB(), indices));
}
SmallVector<Value> SelectOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  if (!isRealTensor(getY()))
    return {Value(), Value(), Value()};
  Build g(builder, getLoc());
  Value zero = g.zerosLike(dy[0]);
  return {Value(), g.select(getC(), dy[0], zero), g.select(getC(), zero, dy[0])};
}

std::optional<bool> ConvertOp::isMadeAgain() {
  auto from = dyn_cast<FloatType>(tensorOf(getX()).getElementType());
  return from ? std::optional(from.getWidth() < tensorOf(getY()).getElementType().getIntOrFloatBitWidth()) : std::nullopt;
}
Value ConvertOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Value x = read(getX(), indices);
  Type from = x.getType(), to = tensorOf(getY()).getElementType();
  if (from == to)
    return x;
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return convertReal(builder, getLoc(), x, to);
  if (isa<FloatType>(to))
    return from.isInteger(1) ? Value(arith::UIToFPOp::create(builder, getLoc(), to, x))
                             : Value(arith::SIToFPOp::create(builder, getLoc(), to, x));
  return from.isInteger(1) ? Value(arith::ExtUIOp::create(builder, getLoc(), to, x))
                           : Value(arith::ExtSIOp::create(builder, getLoc(), to, x));
}
SmallVector<Value> ConvertOp::buildVjp(OpBuilder &builder, ArrayRef<Value> dy) {
  if (!isRealTensor(getX()) || !isRealTensor(getY()))
    return {Value()};
  return {Build(builder, getLoc()).convert(dy[0], tensorOf(getX()).getElementType())};
}

Value JoinOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  const Type remainder = tensorOf(getRemainder()).getElementType();
  Value upper = arith::BitcastOp::create(builder, getLoc(), remainder, read(getUpper(), indices));
  return joinHalves(builder, getLoc(), upper, read(getRemainder(), indices));
}

LogicalResult ActivationGradOp::verify() {
  if (getOf() != "gelu" && getOf() != "gelu_tanh")
    return emitOpError("expects the activation gelu or gelu_tanh, got ") << getOf(); // C1
  return success();
}
LogicalResult CompareOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(withElement(tensorOf(adaptor.getA()), IntegerType::get(context, 1))); // C1
  return success();
}
MaybeReading SelectOp::readingOf(OpOperand &operand) {
  if (operand.getOperandNumber() != getAMutable().getOperandNumber())
    return std::nullopt;
  auto other = getB().getDefiningOp<ConstantOp>();
  return Reading{getC(), dimsOfTensor(getC()), other && other.getValue().isZero()};
}
LogicalResult SelectOp::verify() {
  if (tensorOf(getC()) != withElement(tensorOf(getY()), IntegerType::get(getContext(), 1)))
    return emitOpError("expects a condition of the shape of the result, got ") << getC().getType(); // C1
  return success();
}
LogicalResult JoinOp::verify() {
  const Type half = tensorOf(getUpper()).getElementType();
  if (!isUpperHalf(half) || tensorOf(getY()).getElementType() != elementModel(half).compute) // C1
    return emitOpError("expects an upper half of bf16 and a result of f32, got ")
           << getUpper().getType() << " and " << getY().getType();
  for (Value operand : {getUpper(), getRemainder()})
    if (tensorOf(operand) != withElement(tensorOf(getY()), tensorOf(operand).getElementType())) // C2
      return emitOpError("expects operands and result of one shape, got ") << operand.getType() << " and " << getY().getType();
  return success();
}
LogicalResult ConvertOp::verify() {
  if (tensorOf(getX()) != withElement(tensorOf(getY()), tensorOf(getX()).getElementType()))
    return emitOpError("expects operand and result of one shape, got ") << getX().getType() << " and " << getY().getType(); // C1
  if (isa<FloatType>(tensorOf(getX()).getElementType()) && !isa<FloatType>(tensorOf(getY()).getElementType()))
    return emitOpError("does not turn reals into integers"); // C2
  return success();
}
