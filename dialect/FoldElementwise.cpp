// Folders and canonical forms of elementwise ops. Every rewrite gives the same bits as the op it replaces, for zeros of either
// sign, infinities and NaN (but for the sign and payload of a NaN). What is not exact is not here: x + 0 turns -0 into 0, x - x
// is NaN for infinities, x * 0 for NaN, -(a - b) has the other zero than b - a, and exp, tanh and their kind have the bits of the
// kernels' own polynomials. Terminates: each rewrite removes an op, or replaces it by one that no rewrite makes into it again
// (div to mul, add of neg to sub).
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Fold.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tenon {

bool isNumber(Attribute attribute, double value) {
  FloatAttr number = constantOf(attribute);
  return number && number.getValue().bitwiseIsEqual(APFloat(value));
}
bool isZero(Attribute attribute) {
  FloatAttr number = constantOf(attribute);
  return number && number.getValue().isZero();
}
FloatAttr numberAttr(double value, MLIRContext *context) { return FloatAttr::get(scalarReal(context), value); }
Type elementOf(Value tensor) { return tensorOf(tensor).getElementType(); }

static Attribute fromReal(const APFloat &value, MLIRContext *context) {
  return value.isNaN() ? Attribute() : numberAttr(value.convertToDouble(), context);
}
static Attribute fromInteger(const APInt &value, MLIRContext *context) {
  int64_t number = value.getBitWidth() == 1 ? int64_t(value.getZExtValue()) : value.getSExtValue();
  constexpr int64_t limit = int64_t(1) << 53; // beyond it f64 does not hold every integer
  return number < -limit || number > limit ? Attribute() : numberAttr(double(number), context);
}
static APFloat toReal(FloatAttr constant, FloatType element) {
  APFloat value = constant.getValue();
  bool losesInfo = false;
  value.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}
static APInt toInteger(FloatAttr constant, Type element) {
  return APInt(64, uint64_t(int64_t(constant.getValueAsDouble()))).trunc(element.getIntOrFloatBitWidth());
}

Attribute foldConstants(ArrayRef<Attribute> operands, Type element, FoldReals reals, FoldIntegers integers) {
  for (Attribute operand : operands)
    if (!constantOf(operand))
      return {};
  MLIRContext *context = element.getContext();
  if (isa<IntegerType>(element)) {
    SmallVector<APInt> values = llvm::map_to_vector(operands, [&](Attribute a) { return toInteger(constantOf(a), element); });
    std::optional<APInt> result = integers(values);
    return result ? fromInteger(*result, context) : Attribute();
  }
  if (!isComputed(element))
    return {};
  SmallVector<APFloat> values =
      llvm::map_to_vector(operands, [&](Attribute a) { return toReal(constantOf(a), cast<FloatType>(element)); });
  std::optional<APFloat> result = reals(values);
  return result ? fromReal(*result, context) : Attribute();
}

} // namespace tenon

using namespace tenon;

static bool isReal(Value tensor) { return isa<FloatType>(elementOf(tensor)); }
static std::nullopt_t noReal(ArrayRef<APFloat>) { return std::nullopt; }
static std::nullopt_t noInteger(ArrayRef<APInt>) { return std::nullopt; }
/// The operand of the op that gives `value` if that op is an OpTy.
template <typename OpTy> static Value operandOf(Value value) {
  auto op = value.getDefiningOp<OpTy>();
  return op ? Value(op.getX()) : Value();
}
/// A binary op with other operands, types kept.
template <typename OpTy> static LogicalResult replaceBy(PatternRewriter &rewriter, Operation *op, Value a, Value b) {
  rewriter.replaceOpWithNewOp<OpTy>(op, op->getResult(0).getType(), a, b);
  return success();
}

// ---- one operand

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (Value x = operandOf<NegOp>(getX()))
    return x;
  return foldConstants(
      adaptor.getOperands(), elementOf(getX()), [](ArrayRef<APFloat> v) { return neg(v[0]); },
      [](ArrayRef<APInt> v) { return -v[0]; });
}
/// |x| is written `x < 0 ? 0 - x : x`: -0 stays -0, so that |-x| is not |x|.
OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (operandOf<AbsOp>(getX()))
    return getX();
  return foldConstants(
      adaptor.getOperands(), elementOf(getX()), [](ArrayRef<APFloat> v) { return v[0].isZero() ? v[0] : abs(v[0]); },
      [](ArrayRef<APInt> v) { return v[0].abs(); });
}
OpFoldResult SqrtOp::fold(FoldAdaptor adaptor) {
  // The machine's square root is rounded correctly, and rounding that of f64 once more to f32 gives the correctly rounded one: 53
  // >= 2 * 24 + 2.
  return foldConstants(
      adaptor.getOperands(), elementOf(getX()),
      [](ArrayRef<APFloat> v) -> std::optional<APFloat> {
        if (v[0].isNegative())
          return std::nullopt;
        APFloat root(std::sqrt(v[0].convertToDouble()));
        bool losesInfo = false;
        root.convert(v[0].getSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
        return root;
      },
      noInteger);
}
OpFoldResult ReluOp::fold(FoldAdaptor adaptor) {
  if (operandOf<ReluOp>(getX()))
    return getX();
  return foldConstants(
      adaptor.getOperands(), elementOf(getX()),
      [](ArrayRef<APFloat> v) { return v[0].isNegative() && !v[0].isZero() ? APFloat::getZero(v[0].getSemantics()) : v[0]; },
      noInteger);
}
OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (Value x = operandOf<NotOp>(getX()))
    return x;
  return foldConstants(adaptor.getOperands(), elementOf(getX()), noReal, [](ArrayRef<APInt> v) { return ~v[0]; });
}
/// not (a = b) is a != b, for NaN too; not (a < b) is b <= a for integers only: with NaN both are false.
LogicalResult NotOp::canonicalize(NotOp op, PatternRewriter &rewriter) {
  auto compare = op.getX().getDefiningOp<CompareOp>();
  if (!compare)
    return rewriter.notifyMatchFailure(op, "not of no comparison");
  Value a = compare.getA(), b = compare.getB();
  Comparison kind = compare.getKind();
  if (kind == Comparison::eq || kind == Comparison::ne)
    kind = kind == Comparison::eq ? Comparison::ne : Comparison::eq;
  else if (isReal(a))
    return rewriter.notifyMatchFailure(op, "a comparison of reals: with NaN both are false");
  else
    kind = kind == Comparison::lt ? Comparison::le : Comparison::lt, std::swap(a, b);
  rewriter.replaceOpWithNewOp<CompareOp>(op, op.getType(), kind, a, b);
  return success();
}
/// A constant has no gradient anyway.
OpFoldResult StopGradientOp::fold(FoldAdaptor adaptor) {
  if (operandOf<StopGradientOp>(getX()))
    return getX();
  return constantOf(adaptor.getX());
}

// ---- two operands

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  auto neutral = [&](Attribute v) { return isReal(getY()) ? isNumber(v, -0.0) : isZero(v); };
  if (neutral(adaptor.getB()))
    return getA();
  if (neutral(adaptor.getA()))
    return getB();
  return foldConstants(
      adaptor.getOperands(), elementOf(getY()), [](ArrayRef<APFloat> v) { return v[0] + v[1]; },
      [](ArrayRef<APInt> v) { return v[0] + v[1]; });
}
LogicalResult AddOp::canonicalize(AddOp op, PatternRewriter &rewriter) {
  if (Value b = operandOf<NegOp>(op.getB()))
    return replaceBy<SubOp>(rewriter, op, op.getA(), b);
  if (Value a = operandOf<NegOp>(op.getA()))
    return replaceBy<SubOp>(rewriter, op, op.getB(), a);
  return rewriter.notifyMatchFailure(op, "no negated operand");
}
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isReal(getY()) ? isNumber(adaptor.getB(), 0.0) : isZero(adaptor.getB()))
    return getA();
  if (!isReal(getY()) && getA() == getB())
    return numberAttr(0, getContext());
  return foldConstants(
      adaptor.getOperands(), elementOf(getY()), [](ArrayRef<APFloat> v) { return v[0] - v[1]; },
      [](ArrayRef<APInt> v) { return v[0] - v[1]; });
}
LogicalResult SubOp::canonicalize(SubOp op, PatternRewriter &rewriter) {
  if (Value b = operandOf<NegOp>(op.getB()))
    return replaceBy<AddOp>(rewriter, op, op.getA(), b);
  return rewriter.notifyMatchFailure(op, "no negated subtrahend");
}
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getB(), 1))
    return getA();
  if (isNumber(adaptor.getA(), 1))
    return getB();
  if (!isReal(getY()) && (isZero(adaptor.getA()) || isZero(adaptor.getB())))
    return numberAttr(0, getContext());
  return foldConstants(
      adaptor.getOperands(), elementOf(getY()), [](ArrayRef<APFloat> v) { return v[0] * v[1]; },
      [](ArrayRef<APInt> v) { return v[0] * v[1]; });
}
LogicalResult MulOp::canonicalize(MulOp op, PatternRewriter &rewriter) {
  Value a = operandOf<NegOp>(op.getA()), b = operandOf<NegOp>(op.getB());
  return a && b ? replaceBy<MulOp>(rewriter, op, a, b) : rewriter.notifyMatchFailure(op, "not of two negations");
}
OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getB(), 1))
    return getA();
  return foldConstants(adaptor.getOperands(), elementOf(getY()), [](ArrayRef<APFloat> v) { return v[0] / v[1]; }, noInteger);
}
/// A power of two whose inverse is a normal number: quotient and product are the same real number, rounded once.
LogicalResult DivOp::canonicalize(DivOp op, PatternRewriter &rewriter) {
  Value a = operandOf<NegOp>(op.getA()), b = operandOf<NegOp>(op.getB());
  if (a && b)
    return replaceBy<DivOp>(rewriter, op, a, b);
  auto divisor = op.getB().getDefiningOp<ConstantOp>();
  if (!divisor || !isComputed(elementOf(op.getY())))
    return rewriter.notifyMatchFailure(op, "no number as divisor that is computed as it is stored");
  APFloat value = toReal(divisor.getValueAttr(), cast<FloatType>(elementOf(op.getY()))), inverse = value;
  if (!value.getExactInverse(&inverse))
    return rewriter.notifyMatchFailure(op, "the divisor is no power of two with a normal inverse");
  Value factor = ConstantOp::create(rewriter, op.getLoc(), op.getType(), rewriter.getF64FloatAttr(inverse.convertToDouble()));
  return replaceBy<MulOp>(rewriter, op, op.getA(), factor);
}
/// NaN where one is, the first operand of two zeros.
static APFloat extremum(const APFloat &a, const APFloat &b, APFloat::cmpResult second) {
  return a.isNaN() ? a : b.isNaN() || a.compare(b) == second ? b : a;
}
OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  if (getA() == getB())
    return getA();
  return foldConstants(
      adaptor.getOperands(), elementOf(getY()), [](ArrayRef<APFloat> v) { return extremum(v[0], v[1], APFloat::cmpLessThan); },
      [](ArrayRef<APInt> v) { return v[0].slt(v[1]) ? v[1] : v[0]; });
}
OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  if (getA() == getB())
    return getA();
  return foldConstants(
      adaptor.getOperands(), elementOf(getY()), [](ArrayRef<APFloat> v) { return extremum(v[0], v[1], APFloat::cmpGreaterThan); },
      [](ArrayRef<APInt> v) { return v[1].slt(v[0]) ? v[1] : v[0]; });
}
/// The quotient rounded down; nothing for a division by 0 and for the one quotient that does not fit.
static std::optional<APInt> floorQuotient(const APInt &a, const APInt &b) {
  if (b.isZero() || (a.isMinSignedValue() && b.isAllOnes()))
    return std::nullopt;
  APInt quotient = a.sdiv(b);
  return !a.srem(b).isZero() && a.isNegative() != b.isNegative() ? quotient - 1 : quotient;
}
OpFoldResult FloorDivOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getB(), 1))
    return getA();
  return foldConstants(adaptor.getOperands(), elementOf(getY()), noReal,
                       [](ArrayRef<APInt> v) { return floorQuotient(v[0], v[1]); });
}
OpFoldResult ModOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getB(), 1))
    return numberAttr(0, getContext());
  return foldConstants(adaptor.getOperands(), elementOf(getY()), noReal, [](ArrayRef<APInt> v) -> std::optional<APInt> {
    std::optional<APInt> quotient = floorQuotient(v[0], v[1]);
    return quotient ? std::optional<APInt>(v[0] - v[1] * *quotient) : std::nullopt;
  });
}
/// `neutral` leaves the other operand as it is, its opposite decides alone.
template <typename OpTy> static OpFoldResult foldLogic(OpTy op, typename OpTy::FoldAdaptor adaptor, bool neutral) {
  if (op.getA() == op.getB())
    return op.getA();
  for (auto [constant, other] : {std::pair(adaptor.getA(), Value(op.getB())), std::pair(adaptor.getB(), Value(op.getA()))})
    if (FloatAttr value = constantOf(constant))
      return (value.getValueAsDouble() != 0) == neutral ? OpFoldResult(other)
                                                        : OpFoldResult(numberAttr(!neutral, op.getContext()));
  return {};
}
OpFoldResult AndOp::fold(FoldAdaptor adaptor) { return foldLogic(*this, adaptor, true); }
OpFoldResult OrOp::fold(FoldAdaptor adaptor) { return foldLogic(*this, adaptor, false); }

// ---- compare, select, convert

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  Comparison kind = getKind();
  if (getA() == getB()) {
    if (kind == Comparison::lt) // false for NaN too
      return numberAttr(0, getContext());
    if (!isReal(getA()))
      return numberAttr(kind != Comparison::ne, getContext());
  }
  FloatAttr a = constantOf(adaptor.getA()), b = constantOf(adaptor.getB());
  Type element = elementOf(getA());
  if (!a || !b || !(isa<IntegerType>(element) || isComputed(element)))
    return {};
  // f64 holds either exactly once they are rounded to the element type; a constant that is NaN compares as the machine does.
  double left = isReal(getA()) ? toReal(a, cast<FloatType>(element)).convertToDouble() : a.getValueAsDouble();
  double right = isReal(getA()) ? toReal(b, cast<FloatType>(element)).convertToDouble() : b.getValueAsDouble();
  bool holds = kind == Comparison::eq   ? left == right
               : kind == Comparison::ne ? left != right
               : kind == Comparison::lt ? left < right
                                        : left <= right;
  return numberAttr(holds, getContext());
}
OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getA() == getB())
    return getA();
  if (FloatAttr condition = constantOf(adaptor.getC()))
    return condition.getValueAsDouble() != 0 ? getA() : getB();
  return {};
}
LogicalResult SelectOp::canonicalize(SelectOp op, PatternRewriter &rewriter) {
  Value c = operandOf<NotOp>(op.getC());
  if (!c)
    return rewriter.notifyMatchFailure(op, "no negated condition");
  rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), c, op.getB(), op.getA());
  return success();
}

/// Whether every number of `from` is one of `to`.
static bool isLossless(Type from, Type to) {
  auto digits = [](Type type) { return cast<FloatType>(type).getFPMantissaWidth(); };
  if (from == to || from.isInteger(1))
    return true;
  if (isa<IntegerType>(from))
    return isa<IntegerType>(to) ? from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth()
                                : from.getIntOrFloatBitWidth() - 1 <= digits(to);
  // bf16 has the exponents of f32, f16 fewer: neither is in the other, both are in f32.
  return isa<FloatType>(to) && from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
}
OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  Type from = elementOf(getX()), to = elementOf(getY());
  if (auto inner = getX().getDefiningOp<ConvertOp>(); inner && inner.getX().getType() == getType() && isLossless(to, from))
    return inner.getX();
  FloatAttr constant = constantOf(adaptor.getX());
  if (!constant || !(isa<IntegerType>(from) || isComputed(from)) || !(isa<IntegerType>(to) || isComputed(to)))
    return {};
  if (isa<IntegerType>(from))
    return isa<IntegerType>(to) ? Attribute(constant) : fromReal(toReal(constant, cast<FloatType>(to)), getContext());
  bool losesInfo = false;
  APFloat value = toReal(constant, cast<FloatType>(from));
  value.convert(cast<FloatType>(to).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return fromReal(value, getContext());
}
/// Two conversions are one where the first loses nothing; rounding twice is not rounding once. 16 bits are computed in f32, and
/// become f64 from there.
LogicalResult ConvertOp::canonicalize(ConvertOp op, PatternRewriter &rewriter) {
  auto inner = op.getX().getDefiningOp<ConvertOp>();
  if (!inner || !isLossless(elementOf(inner.getX()), elementOf(op.getX())) || elementOf(inner.getX()) == elementOf(op.getY()))
    return rewriter.notifyMatchFailure(op, "no conversion before it that loses nothing");
  const Type from = elementOf(inner.getX()), computed = elementModel(from).compute;
  if (from != computed && elementBytes(elementOf(op.getY())) > elementBytes(computed))
    return rewriter.notifyMatchFailure(op, "from 16 bits to f64, which goes by way of f32");
  rewriter.replaceOpWithNewOp<ConvertOp>(op, op.getType(), inner.getX());
  return success();
}
