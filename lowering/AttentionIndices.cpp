#include "lowering/AttentionIndices.h"
#include "dialect/Build.h"

using namespace mlir;

namespace tenon {

Labels labelsAt(AttendOp attend, size_t number) { return labelsOf(attend.getLabels()[number]); }

Labelled sourceOf(BroadcastOp broadcast, ArrayRef<int64_t> labels) {
  Labelled source{broadcast.getX(), {}};
  for (int64_t dim : broadcast.getDims())
    source.labels.push_back(labels[dim]);
  return source;
}

Labelled withoutBroadcasts(Labelled tensor) {
  while (auto broadcast = tensor.value.getDefiningOp<BroadcastOp>())
    tensor = sourceOf(broadcast, tensor.labels);
  return tensor;
}

std::pair<Labelled, Labelled> partsOf(GatherOp gather, ArrayRef<int64_t> labels) {
  Labelled x{gather.getX(), {}}, index{gather.getIndex(), {}};
  for (int64_t dim : gather.getXDims())
    x.labels.push_back(dim < 0 ? kPlace : labels[dim]);
  for (int64_t dim : gather.getIndexDims())
    index.labels.push_back(labels[dim]);
  Labelled bare = withoutBroadcasts(x);
  return {bare.has(kPlace) ? bare : x, withoutBroadcasts(index)};
}

std::optional<double> constantOf(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getX();
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? std::optional<double>(constant.getValue().convertToDouble()) : std::nullopt;
}

MaskForm IndexReader::emptyForm(MLIRContext *context) const {
  MaskForm form;
  form.rest = getAffineConstantExpr(0, context);
  form.dimCount = dimCount;
  return form;
}

std::optional<int64_t> IndexReader::operand(Value value, ArrayRef<int64_t> ofDims) {
  SmallVector<int64_t> own;
  for (int64_t label : ofDims) {
    if (label != kBatch && label != kQuery && label != kKey)
      return std::nullopt;
    own.push_back(label == kKey ? kKeyLabel : label == kQuery ? kQueryLabel : kBatchLabel);
  }
  auto attribute = DenseI64ArrayAttr::get(value.getContext(), own);
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i] == value && labels[i] == attribute)
      return i;
  operands.push_back(value);
  labels.push_back(attribute);
  return operands.size() - 1;
}

// ---- linear forms

bool forEachTerm(Labelled sum, int64_t factor, llvm::function_ref<bool(const Labelled &, int64_t)> visit) {
  sum = withoutBroadcasts(sum);
  Operation *op = sum.value.getDefiningOp();
  auto part = [&](Value value, int64_t by) { return forEachTerm({value, sum.labels}, factor * by, visit); };
  if (auto add = dyn_cast_or_null<AddOp>(op))
    return part(add.getA(), 1) && part(add.getB(), 1);
  if (auto difference = dyn_cast_or_null<SubOp>(op))
    return part(difference.getA(), 1) && part(difference.getB(), -1);
  if (auto negative = dyn_cast_or_null<NegOp>(op))
    return part(negative.getX(), -1);
  if (auto product = dyn_cast_or_null<MulOp>(op)) {
    if (std::optional<double> constant = constantOf(product.getA()))
      return part(product.getB(), int64_t(*constant));
    if (std::optional<double> constant = constantOf(product.getB()))
      return part(product.getA(), int64_t(*constant));
  }
  return visit(sum, factor);
}

bool IndexReader::addLeaf(MaskForm &form, const Labelled &leaf, int64_t factor) {
  Operation *op = leaf.value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    form.rest = form.rest + factor * int64_t(constant.getValue().convertToDouble());
    return true;
  }
  if (auto size = dyn_cast_or_null<SizeOp>(op)) {
    form.rest = form.rest + size.getForm().getResult(0) * factor;
    return true;
  }
  if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
    int64_t label = leaf.labels[iota.getDim()];
    if (label != kQuery && label != kKey)
      return false;
    (label == kKey ? form.key : form.query) += factor;
    return true;
  }
  std::optional<int64_t> number = operand(leaf.value, leaf.labels);
  if (!number)
    return false;
  form.terms.push_back({*number, factor});
  return true;
}

bool IndexReader::addForm(MaskForm &form, Labelled value, int64_t factor) {
  return forEachTerm(value, factor, [&](const Labelled &leaf, int64_t by) { return addLeaf(form, leaf, by); });
}

// ---- places in tables

/// Adds factor * index to the forms named by the bits of `branches`.
bool IndexReader::addPlace(TablePlace &place, Labelled index, int64_t factor, unsigned branches, std::string &why) {
  return forEachTerm(index, factor, [&](const Labelled &leaf, int64_t by) {
    if (auto select = leaf.value.getDefiningOp<SelectOp>()) {
      Labelled condition = withoutBroadcasts({select.getC(), leaf.labels});
      Value yes = select.getA(), no = select.getB();
      while (auto negation = condition.value.getDefiningOp<NotOp>()) {
        condition = withoutBroadcasts({negation.getX(), condition.labels});
        std::swap(yes, no);
      }
      if (condition.labels == Labels{kBatch}) {
        if (place.back && place.back != condition.value)
          return why = "the place in its table is chosen by two different conditions", false;
        place.back = condition.value;
        return (!(branches & 2) || addPlace(place, {yes, leaf.labels}, by, 2, why)) && (!(branches & 1) || addPlace(place, {no, leaf.labels}, by, 1, why));
      }
    }
    if (leaf.has(kKey) && !isa_and_nonnull<IotaOp, ConstantOp, SizeOp>(leaf.value.getDefiningOp()))
      return why = "the place in its table is not linear in the key, nor a function of its distance from the query", false;
    for (unsigned branch : {0u, 1u})
      if ((branches >> branch & 1) && !addLeaf(place.forms[branch], leaf, by))
        return why = "the place in its table depends on the head", false;
    return true;
  });
}

std::optional<TablePlace> IndexReader::place(Labelled index, std::string &why) {
  TablePlace place;
  place.forms.assign(2, emptyForm(index.value.getContext()));
  if (!addPlace(place, index, 1, 3, why))
    return std::nullopt;
  if (!place.back)
    place.forms.pop_back();
  for (MaskForm &form : place.forms) {
    form.rest = simplifyAffineExpr(form.rest, dimCount, 0);
    if (form.key != 1 && form.key != -1)
      return why = "the place in its table does not change by one from key to key", std::nullopt;
  }
  return place;
}

TablePlace IndexReader::keyPlace(MLIRContext *context) const {
  TablePlace place;
  place.forms.push_back(emptyForm(context));
  place.forms[0].key = 1;
  return place;
}

// ---- masks

std::optional<Mask> IndexReader::node(Mask::Kind kind, ArrayRef<Value> parts, ArrayRef<int64_t> ofDims) {
  Mask mask;
  mask.kind = kind;
  for (Value part : parts) {
    std::optional<Mask> inner = this->mask(part, ofDims);
    if (!inner)
      return std::nullopt;
    if (inner->kind == kind && kind != Mask::Kind::Not)
      mask.parts.insert(mask.parts.end(), inner->parts.begin(), inner->parts.end());
    else
      mask.parts.push_back(*inner);
  }
  return mask;
}

std::optional<Mask> IndexReader::test(CompareOp compare, ArrayRef<int64_t> ofDims) {
  Mask mask;
  mask.form = emptyForm(compare.getContext());
  if (!addForm(mask.form, {compare.getA(), Labels(ofDims)}, 1) || !addForm(mask.form, {compare.getB(), Labels(ofDims)}, -1))
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

std::optional<Mask> IndexReader::mask(Value value, ArrayRef<int64_t> ofDims) {
  Labelled truth = withoutBroadcasts({value, Labels(ofDims)});
  Operation *op = truth.value.getDefiningOp();
  if (isa_and_nonnull<AndOp>(op))
    return node(Mask::Kind::And, {op->getOperand(0), op->getOperand(1)}, truth.labels);
  if (isa_and_nonnull<OrOp>(op))
    return node(Mask::Kind::Or, {op->getOperand(0), op->getOperand(1)}, truth.labels);
  if (isa_and_nonnull<NotOp>(op))
    return node(Mask::Kind::Not, {op->getOperand(0)}, truth.labels);
  if (auto compare = dyn_cast_or_null<CompareOp>(op); compare && !isa<FloatType>(tensorOf(compare.getA()).getElementType()))
    return test(compare, truth.labels);
  std::optional<int64_t> number = operand(truth.value, truth.labels);
  if (!number)
    return std::nullopt;
  Mask mask;
  mask.kind = Mask::Kind::Holds;
  mask.operand = *number;
  return mask;
}

} // namespace tenon
