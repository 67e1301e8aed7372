// Element numbers of lane code. Indices that are quotients and rests of one number, as in merged dimensions, are that number
// again where they lie beside each other: neighbours stay neighbours.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/LaneCode.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

bool isQuotient(Operation *op) { return isa_and_nonnull<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(op); }
bool isRest(Operation *op) { return isa_and_nonnull<arith::RemSIOp, arith::RemUIOp>(op); }

/// A sum of indices times numbers as a form over values.
class IndexForm {
public:
  explicit IndexForm(MLIRContext *context) : context(context) {}

  void add(Value index, int64_t stride) { form = form ? form + of(index) * stride : of(index) * stride; }
  /// Whether any quotient or rest is a part of it.
  bool isDivided() const { return divided; }
  /// Without quotients and rests, which are exact where they complete each other: q c + r = x in all kinds of division.
  AffineExpr whole() const {
    AffineExpr simple = simplifyAffineExpr(form, values.size(), 0);
    bool isLinear = true;
    simple.walk([&](AffineExpr part) {
      const AffineExprKind kind = part.getKind();
      isLinear &= kind != AffineExprKind::Mod && kind != AffineExprKind::FloorDiv && kind != AffineExprKind::CeilDiv;
    });
    return isLinear ? simple : AffineExpr();
  }
  Value value(unsigned position) const { return values[position]; }

private:
  AffineExpr of(Value index) {
    llvm::APInt number;
    if (matchPattern(index, m_ConstantInt(&number)))
      return getAffineConstantExpr(number.getSExtValue(), context);
    Operation *op = index.getDefiningOp();
    if (isa_and_nonnull<arith::AddIOp>(op))
      return of(op->getOperand(0)) + of(op->getOperand(1));
    if (isa_and_nonnull<arith::SubIOp>(op))
      return of(op->getOperand(0)) - of(op->getOperand(1));
    const bool hasNumber = op && op->getNumOperands() == 2 && matchPattern(op->getOperand(1), m_ConstantInt(&number));
    if (hasNumber && isa<arith::MulIOp>(op))
      return of(op->getOperand(0)) * number.getSExtValue();
    if (hasNumber && number.getSExtValue() > 0 && (isQuotient(op) || isRest(op))) {
      divided = true;
      AffineExpr dividend = of(op->getOperand(0));
      return isRest(op) ? dividend % number.getSExtValue() : dividend.floorDiv(number.getSExtValue());
    }
    const auto *found = llvm::find(values, index);
    if (found == values.end())
      values.push_back(index);
    return getAffineDimExpr(llvm::find(values, index) - values.begin(), context);
  }

  MLIRContext *context;
  SmallVector<Value> values;
  AffineExpr form;
  bool divided = false;
};

std::optional<int64_t> numberOf(AffineExpr size) {
  auto number = dyn_cast<AffineConstantExpr>(size);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

} // namespace

/// Whether the last of `indices`, into dimensions of `sizes`, are the merged ones in order.
bool LaneCode::endsMerged(ValueRange indices, ArrayRef<AffineExpr> sizes) {
  const size_t count = merged.sources.size();
  return count > 1 && indices.size() >= count &&
         llvm::equal(indices.take_back(count), merged.sources, [](Value a, Value b) { return a == b; }) &&
         sizes.take_back(count) == ArrayRef<AffineExpr>(merged.sizes);
}

/// The element of neighbouring dimensions, of `sizes` but for the first one all numbers, where quotients and rests vanish.
std::optional<LaneValue> LaneCode::undividedIndex(ValueRange indices, ArrayRef<AffineExpr> sizes) {
  IndexForm form(builder.getContext());
  int64_t stride = 1;
  for (size_t dim = indices.size(); dim-- > 0; stride *= dim > 0 ? *numberOf(sizes[dim]) : 1)
    form.add(indices[dim], stride);
  AffineExpr whole = form.isDivided() ? form.whole() : AffineExpr();
  if (!whole)
    return std::nullopt;
  auto emit = [&](auto &self, AffineExpr part) -> LaneValue {
    if (auto number = dyn_cast<AffineConstantExpr>(part))
      return LaneValue::uniform(constant(builder, number.getValue()));
    if (auto value = dyn_cast<AffineDimExpr>(part))
      return get(form.value(value.getPosition()));
    auto both = cast<AffineBinaryOpExpr>(part);
    LaneValue left = self(self, both.getLHS()), right = self(self, both.getRHS());
    return both.getKind() == AffineExprKind::Add ? addValues(left, right) : multiplyValues(left, right);
  };
  return emit(emit, whole);
}

LaneValue LaneCode::linearIndex(RankedTensorType type, ValueRange indices) {
  SmallVector<AffineExpr> sizes = sizesOf(type);
  LaneValue linear = LaneValue::uniform(constant(builder, 0));
  Value stride = constant(builder, 1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    LaneValue index;
    int64_t first = dim; // of the dimensions that are one number
    if (endsMerged(indices.take_front(dim + 1), ArrayRef<AffineExpr>(sizes).take_front(dim + 1))) {
      first -= int64_t(merged.sizes.size()) - 1;
      index = merged.number;
    } else {
      while (first > 0 && numberOf(sizes[first]))
        --first;
      std::optional<LaneValue> undivided;
      for (; !undivided && first < dim; first += !undivided)
        undivided =
            undividedIndex(indices.slice(first, dim + 1 - first), ArrayRef<AffineExpr>(sizes).slice(first, dim + 1 - first));
      index = undivided ? *undivided : get(indices[dim]);
    }
    linear = addValues(linear, multiplyValues(index, LaneValue::uniform(stride)));
    for (; dim > first; --dim)
      stride = multiply(builder, stride, code.size(sizes[dim]));
    stride = multiply(builder, stride, code.size(sizes[dim]));
  }
  return linear;
}

} // namespace tenon::cpu
