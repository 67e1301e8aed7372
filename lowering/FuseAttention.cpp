// tenon.attend to tenon.attention. See Passes.td.
#include "dialect/AttentionMasks.h"
#include "dialect/Build.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_FUSEATTENTION
#include "lowering/Passes.h.inc"

namespace {

/// Labels of the index space of an attend whose result is [B, I, H, F]; the key follows.
constexpr int64_t kBatch = 0, kQuery = 1, kHead = 2, kWidth = 3, kKey = 4;

SmallVector<int64_t> labelsAt(AttendOp attend, size_t number) {
  Attribute attribute = attend.getLabels()[number];
  if (auto dense = dyn_cast<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t>(dense.asArrayRef());
  SmallVector<int64_t> labels;
  for (Attribute label : cast<ArrayAttr>(attribute))
    labels.push_back(cast<IntegerAttr>(label).getInt());
  return labels;
}

/// Reads one mask as a tree; run-time values become operands.
class MaskReader {
public:
  explicit MaskReader(unsigned dimCount) : dimCount(dimCount) {}
  /// Nothing if the mask depends on the head.
  std::optional<Mask> read(Value value, ArrayRef<int64_t> labels);

  SmallVector<Value> operands;
  SmallVector<Attribute> labels; // 0 batch, 1 query, 2 key

private:
  using Labels = SmallVector<int64_t>;
  static Labels ofSource(BroadcastOp broadcast, ArrayRef<int64_t> labels) {
    Labels inner;
    for (int64_t dim : broadcast.getDims())
      inner.push_back(labels[dim]);
    return inner;
  }
  std::optional<Mask> test(CompareOp compare, ArrayRef<int64_t> labels);
  bool addForm(MaskForm &form, Value value, ArrayRef<int64_t> labels, int64_t factor);
  std::optional<int64_t> operand(Value value, ArrayRef<int64_t> labels);
  std::optional<Mask> node(Mask::Kind kind, ArrayRef<Value> parts, ArrayRef<int64_t> labels);
  MaskForm emptyForm(MLIRContext *context) {
    MaskForm form;
    form.rest = getAffineConstantExpr(0, context);
    form.dimCount = dimCount;
    return form;
  }

  unsigned dimCount;
};

std::optional<int64_t> MaskReader::operand(Value value, ArrayRef<int64_t> ofDims) {
  SmallVector<int64_t> own;
  for (int64_t label : ofDims) {
    if (label != kBatch && label != kQuery && label != kKey)
      return std::nullopt;
    own.push_back(label == kKey ? 2 : label);
  }
  auto attribute = DenseI64ArrayAttr::get(value.getContext(), own);
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i] == value && labels[i] == attribute)
      return i;
  operands.push_back(value);
  labels.push_back(attribute);
  return operands.size() - 1;
}

std::optional<Mask> MaskReader::node(Mask::Kind kind, ArrayRef<Value> parts, ArrayRef<int64_t> ofDims) {
  Mask mask;
  mask.kind = kind;
  for (Value part : parts) {
    std::optional<Mask> inner = read(part, ofDims);
    if (!inner)
      return std::nullopt;
    if (inner->kind == kind && kind != Mask::Kind::Not)
      mask.parts.insert(mask.parts.end(), inner->parts.begin(), inner->parts.end());
    else
      mask.parts.push_back(*inner);
  }
  return mask;
}

/// Adds factor * value to the form.
bool MaskReader::addForm(MaskForm &form, Value value, ArrayRef<int64_t> ofDims, int64_t factor) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    form.rest = form.rest + factor * int64_t(constant.getValue().convertToDouble());
    return true;
  }
  if (auto size = dyn_cast_or_null<SizeOp>(op)) {
    form.rest = form.rest + size.getForm().getResult(0) * factor;
    return true;
  }
  if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
    int64_t label = ofDims[iota.getDim()];
    if (label != kQuery && label != kKey)
      return false;
    (label == kKey ? form.key : form.query) += factor;
    return true;
  }
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    return addForm(form, broadcast.getX(), ofSource(broadcast, ofDims), factor);
  if (auto sum = dyn_cast_or_null<AddOp>(op))
    return addForm(form, sum.getA(), ofDims, factor) && addForm(form, sum.getB(), ofDims, factor);
  if (auto difference = dyn_cast_or_null<SubOp>(op))
    return addForm(form, difference.getA(), ofDims, factor) && addForm(form, difference.getB(), ofDims, -factor);
  if (auto negative = dyn_cast_or_null<NegOp>(op))
    return addForm(form, negative.getX(), ofDims, -factor);
  std::optional<int64_t> number = operand(value, ofDims);
  if (!number)
    return false;
  form.terms.push_back({*number, factor});
  return true;
}

std::optional<Mask> MaskReader::test(CompareOp compare, ArrayRef<int64_t> ofDims) {
  Mask mask;
  mask.form = emptyForm(compare.getContext());
  if (!addForm(mask.form, compare.getA(), ofDims, 1) || !addForm(mask.form, compare.getB(), ofDims, -1))
    return std::nullopt;
  bool equality = compare.getKind() == Comparison::eq || compare.getKind() == Comparison::ne;
  mask.kind = equality ? Mask::Kind::IsZero : Mask::Kind::AtMostZero;
  if (compare.getKind() == Comparison::lt)
    mask.form.rest = mask.form.rest + 1;
  if (compare.getKind() != Comparison::ne)
    return mask;
  Mask negated;
  negated.kind = Mask::Kind::Not;
  negated.parts.push_back(mask);
  return negated;
}

std::optional<Mask> MaskReader::read(Value value, ArrayRef<int64_t> ofDims) {
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
    return read(broadcast.getX(), ofSource(broadcast, ofDims));
  if (isa_and_nonnull<AndOp>(op))
    return node(Mask::Kind::And, {op->getOperand(0), op->getOperand(1)}, ofDims);
  if (isa_and_nonnull<OrOp>(op))
    return node(Mask::Kind::Or, {op->getOperand(0), op->getOperand(1)}, ofDims);
  if (isa_and_nonnull<NotOp>(op))
    return node(Mask::Kind::Not, {op->getOperand(0)}, ofDims);
  if (auto compare = dyn_cast_or_null<CompareOp>(op); compare && !isa<FloatType>(tensorOf(compare.getA()).getElementType()))
    return test(compare, ofDims);
  std::optional<int64_t> number = operand(value, ofDims);
  if (!number)
    return std::nullopt;
  Mask mask;
  mask.kind = Mask::Kind::Holds;
  mask.operand = *number;
  return mask;
}

class Fuser {
public:
  explicit Fuser(AttendOp attend) : attend(attend) {}
  /// Empty if the op was replaced, else why not.
  std::string run();

private:
  bool contentTerm(Value score, ArrayRef<int64_t> labels);
  AttendOp attend;
  Value query, key;
};

/// score = query [B, I, H, E] . key [B, J, H, E].
bool Fuser::contentTerm(Value score, ArrayRef<int64_t> ofScore) {
  auto dot = score.getDefiningOp<DotOp>();
  if (!dot)
    return false;
  auto inSpace = [&](ArrayRef<int64_t> own) {
    SmallVector<int64_t> spaced;
    for (int64_t label : own)
      spaced.push_back(label < int64_t(ofScore.size()) ? ofScore[label] : -1);
    return spaced;
  };
  const SmallVector<int64_t> queryLabels{kBatch, kQuery, kHead, -1}, keyLabels{kBatch, kKey, kHead, -1};
  SmallVector<int64_t> a = inSpace(dot.getALabels()), b = inSpace(dot.getBLabels());
  bool swapped = a == keyLabels && b == queryLabels;
  if (!swapped && !(a == queryLabels && b == keyLabels))
    return false;
  query = swapped ? dot.getB() : dot.getA();
  key = swapped ? dot.getA() : dot.getB();
  return true;
}

std::string Fuser::run() {
  auto y = tensorOf(attend.getY()), value = tensorOf(attend.getValue());
  size_t scores = attend.getScores().size(), masks = attend.getMasks().size();
  if (y.getRank() != 4)
    return "the result is not [batch, query, head, width]";
  if (attend.getFactor())
    return "not supported yet: a scale that is a tensor";
  if (scores != 1)
    return "not supported yet: several score terms";
  if (!contentTerm(attend.getScores()[0], labelsAt(attend, 0)))
    return "the score is not query [batch, query, head, width] . key [batch, key, head, width]";
  if (labelsAt(attend, scores + masks) != SmallVector<int64_t>{kBatch, kKey, kHead, kWidth})
    return "the value is not [batch, key, head, width]";
  if (tensorOf(query).isDynamicDim(2) || tensorOf(query).isDynamicDim(3) || value.isDynamicDim(3))
    return "the number of heads or a width is a symbolic dim";
  if (!y.getElementType().isF32() && !y.getElementType().isF64())
    return "not supported yet: elements other than f32 and f64";
  if (attend.getRate().convertToDouble() >= 1)
    return "everything is dropped";
  unsigned dimCount = std::max({dimCountOf(y), dimCountOf(value), dimCountOf(tensorOf(query))});
  MaskReader reader(dimCount);
  SmallVector<Attribute> mask;
  MLIRContext *context = attend.getContext();
  for (size_t i = 0; i < masks; ++i) {
    std::optional<Mask> tree = reader.read(attend.getMasks()[i], labelsAt(attend, scores + i));
    if (!tree)
      return "a mask depends on the head";
    if (tree->kind == Mask::Kind::And)
      for (const Mask &part : tree->parts)
        mask.push_back(toAttribute(part, context));
    else
      mask.push_back(toAttribute(*tree, context));
  }
  OpBuilder builder(attend);
  SmallVector<AffineExpr> q = sizesOf(tensorOf(query));
  auto statistics = tensorType({q[0], q[2], q[1]}, y.getElementType(), dimCount);
  auto fused = AttentionOp::create(builder, attend.getLoc(), y, statistics, statistics, query, key, attend.getValue(), Value(), Value(), Value(), Value(), reader.operands,
                                   attend.getDepth(), attend.getScaleAttr(), builder.getArrayAttr({}), IntegerAttr(), Attribute(), builder.getArrayAttr(mask),
                                   builder.getArrayAttr(reader.labels), attend.getRateAttr(), attend.getSiteAttr());
  attend.getY().replaceAllUsesWith(fused.getY());
  attend.erase();
  return {};
}

struct FuseAttention : impl::FuseAttentionBase<FuseAttention> {
  using FuseAttentionBase::FuseAttentionBase;
  void runOnOperation() override {
    SmallVector<AttendOp> ops;
    getOperation().walk([&](AttendOp attend) { ops.push_back(attend); });
    for (AttendOp attend : ops) {
      std::string why = Fuser(attend).run();
      if (why.empty())
        continue;
      auto score = tensorOf(attend.getScores()[0]);
      AffineExpr bytes = product(sizesOf(score), &getContext()) * int64_t(score.getElementTypeBitWidth() / 8);
      emitRemark(attend.getLoc(), "attention is not fused: ") << why << "; its scores take " << textOf(bytes) << " bytes";
    }
  }
};

} // namespace
} // namespace tenon
