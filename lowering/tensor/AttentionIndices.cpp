#include "lowering/tensor/AttentionIndices.h"
#include "dialect/Build.h"

using namespace mlir;

namespace tenon {

Labels labelsAt(AttendOp attend, size_t number) { return labelsOf(attend.getLabels()[number]); }

std::optional<SmallVector<int64_t>> dimsShown(Operation *op) {
  auto view = dyn_cast_or_null<ElementOpInterface>(op);
  const bool shows = view && op->hasTrait<View>() && !op->hasTrait<StopsGradient>() && op->getNumOperands() == 1;
  return shows ? view.dimsOf(op->getOpOperand(0)) : std::nullopt;
}

std::optional<Labelled> sourceOf(const Labelled &tensor) {
  Operation *view = tensor.value.getDefiningOp();
  std::optional<SmallVector<int64_t>> dims = dimsShown(view);
  if (!dims)
    return std::nullopt;
  Labelled source{view->getOperand(0), {}};
  for (int64_t dim : *dims)
    source.labels.push_back(tensor.labels[dim]);
  return source;
}

Labelled withoutBroadcasts(Labelled tensor) {
  while (std::optional<Labelled> source = sourceOf(tensor))
    tensor = *source;
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

Value splitBeforeGather(OpBuilder &builder, Value value) {
  auto split = value.getDefiningOp<ReshapeOp>();
  auto gather = split ? split.getX().getDefiningOp<GatherOp>() : GatherOp();
  if (!gather || llvm::any_of(split.getGroups(), [](int64_t group) { return group < 1; }))
    return value;
  ArrayRef<int64_t> groups = split.getGroups();
  SmallVector<int64_t> first, xGroups, xDims, indexDims; // first: of the parts of each dimension of the gather's result
  for (int64_t next = 0; int64_t group : groups) {
    first.push_back(next);
    next += group;
  }
  auto x = tensorOf(gather.getX()), y = tensorOf(value);
  SmallVector<AffineExpr> sizes, old = sizesOf(x), whole = sizesOf(y);
  int64_t gathered = -1;
  for (auto [k, dim] : llvm::enumerate(gather.getXDims())) {
    if (dim < 0) {
      gathered = xDims.size();
      xGroups.push_back(1);
      xDims.push_back(-1);
      sizes.push_back(old[k]);
      continue;
    }
    xGroups.push_back(groups[dim]);
    for (int64_t part = first[dim]; part < first[dim] + groups[dim]; ++part) {
      xDims.push_back(part);
      sizes.push_back(whole[part]);
    }
  }
  for (int64_t dim : gather.getIndexDims()) {
    if (groups[dim] != 1)
      return value;
    indexDims.push_back(first[dim]);
  }
  auto type = tensorType(sizes, x.getElementType(), std::max(dimCountOf(x), dimCountOf(y)));
  Value source = ReshapeOp::create(builder, value.getLoc(), type, gather.getX(), xGroups);
  return GatherOp::create(builder, value.getLoc(), y, source, gather.getIndex(), gathered, xDims, indexDims, gather.getClamp());
}

std::optional<double> constantOf(Value value) {
  Labels any(tensorOf(value).getRank(), 0);
  auto constant = withoutBroadcasts({value, any}).value.getDefiningOp<ConstantOp>();
  return constant ? std::optional<double>(constant.getValue().convertToDouble()) : std::nullopt;
}

MaskForm IndexReader::emptyForm(MLIRContext *context) const {
  MaskForm form;
  form.rest = getAffineConstantExpr(0, context);
  form.dimCount = dimCount;
  return form;
}

std::optional<int64_t> IndexReader::operand(Value value, ArrayRef<int64_t> ofDims) {
  Labelled tensor{value, Labels(ofDims)};
  for (const Read &read : reads)
    if (read.tensor == tensor)
      return read.number;
  bool lacksBatch = tensor.has(kBatch) &&
                    !llvm::all_of(space.axes(kBatch), [&](int64_t axis) { return llvm::is_contained(tensor.labels, axis); });
  if (!tensor.only({kBatch, kQuery, kKey}) || (lacksBatch && tensor.has(kQuery) && tensor.has(kKey)))
    return std::nullopt;
  Labelled whole = space.axes(kBatch).size() > 1 && tensor.has(kBatch) ? space.merged(tensor, {kBatch, kQuery, kKey}) : tensor;
  SmallVector<int64_t> own;
  for (int64_t label : whole.labels)
    own.push_back(label == kKey ? kKeyLabel : label == kQuery ? kQueryLabel : kBatchLabel);
  operands.push_back(whole.value);
  labels.push_back(DenseI64ArrayAttr::get(value.getContext(), own));
  reads.push_back({tensor, int64_t(operands.size()) - 1});
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
    if (label == kQuery || label == kKey) {
      (label == kKey ? form.key : form.query) += factor;
      return true;
    }
  }
  std::optional<int64_t> number = operand(leaf.value, leaf.labels);
  if (!number)
    return false;
  form.terms.push_back({*number, factor});
  return true;
}

/// Whether the places and sizes alone give it, so that intervals of places bound it.
static bool isOfPlaces(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (op->hasTrait<OfPlaces>() || (op->getNumOperands() > 0 && llvm::all_of(op->getOperands(), isOfPlaces)));
}

/// What is computed for each pair rather than kept in memory.
static bool isOfPairs(const Labelled &tensor) { return (tensor.has(kQuery) && tensor.has(kKey)) || isOfPlaces(tensor.value); }
static bool isExtremum(const Labelled &tensor) {
  return isa_and_nonnull<AbsOp, MaxOp, MinOp>(tensor.value.getDefiningOp()) && isOfPairs(tensor);
}

/// A quotient or remainder by a number. False: it is none.
bool IndexReader::addPart(MaskForm &form, const Labelled &leaf, int64_t factor) {
  Operation *op = leaf.value.getDefiningOp();
  if (!isa_and_nonnull<FloorDivOp, ModOp>(op) || !isOfPairs(leaf))
    return false;
  const std::optional<double> divisor = constantOf(op->getOperand(1));
  if (!divisor || *divisor < 1)
    return false;
  std::optional<MaskForm> of = formOf({{{op->getOperand(0), leaf.labels}, 1}});
  if (of)
    form.parts.push_back({isa<FloorDivOp>(op), int64_t(*divisor), factor, *of});
  return of.has_value();
}

std::optional<MaskForm> IndexReader::formOf(ArrayRef<Summand> sum) {
  MaskForm form = emptyForm(sum.front().first.value.getContext());
  const bool good = llvm::all_of(sum, [&](const Summand &summand) {
    return forEachTerm(summand.first, summand.second,
                       [&](const Labelled &leaf, int64_t by) { return addPart(form, leaf, by) || addLeaf(form, leaf, by); });
  });
  return good ? std::optional(form) : std::nullopt;
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
        return (!(branches & 2) || addPlace(place, {yes, leaf.labels}, by, 2, why)) &&
               (!(branches & 1) || addPlace(place, {no, leaf.labels}, by, 1, why));
      }
    }
    if (leaf.has(kKey) && !(leaf.value.getDefiningOp() && leaf.value.getDefiningOp()->hasTrait<OfPlaces>()))
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
  const size_t known = reads.size();
  if (!addPlace(place, index, 1, 3, why)) { // what it has read nobody needs
    reads.truncate(known), operands.truncate(known), labels.truncate(known);
    return std::nullopt;
  }
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

SmallVector<IndexReader::Summand> IndexReader::leavesOf(ArrayRef<Summand> sum) {
  SmallVector<Summand> leaves;
  for (const Summand &summand : sum)
    forEachTerm(summand.first, summand.second, [&](const Labelled &leaf, int64_t by) {
      leaves.push_back({leaf, by});
      return true;
    });
  return leaves;
}

/// sum + plus <= 0. |x| is max(x, -x): what a maximum is compared with is compared with both sides of it.
std::optional<Mask> IndexReader::atMostZero(ArrayRef<Summand> sum, int64_t plus) {
  const SmallVector<Summand> leaves = leavesOf(sum);
  for (auto [number, leaf] : llvm::enumerate(leaves)) {
    if (!isExtremum(leaf.first))
      continue;
    Operation *op = leaf.first.value.getDefiningOp();
    const bool isLargest = isa<MinOp>(op) != (leaf.second > 0);
    Mask mask;
    mask.kind = isLargest ? Mask::Kind::And : Mask::Kind::Or;
    for (unsigned side : {0u, 1u}) {
      SmallVector<Summand> with(leaves);
      with[number] = {{op->getOperand(isa<AbsOp>(op) ? 0 : side), leaf.first.labels},
                      isa<AbsOp>(op) && side == 1 ? -leaf.second : leaf.second};
      std::optional<Mask> part = atMostZero(with, plus);
      if (!part)
        return std::nullopt;
      mask.parts.push_back(*part);
    }
    return mask;
  }
  std::optional<MaskForm> form = formOf(leaves);
  if (!form)
    return std::nullopt;
  Mask mask;
  mask.kind = Mask::Kind::AtMostZero;
  mask.form = *form;
  mask.form.rest = mask.form.rest + plus;
  return mask;
}

std::optional<Mask> IndexReader::isZero(ArrayRef<Summand> sum) {
  Mask mask;
  if (llvm::none_of(leavesOf(sum), [](const Summand &leaf) { return isExtremum(leaf.first); })) {
    std::optional<MaskForm> form = formOf(sum);
    if (!form)
      return std::nullopt;
    mask.kind = Mask::Kind::IsZero;
    mask.form = *form;
    return mask;
  }
  for (int64_t sign : {1, -1}) { // neither above nor below
    SmallVector<Summand> side(sum);
    for (Summand &summand : side)
      summand.second *= sign;
    std::optional<Mask> part = atMostZero(side, 0);
    if (!part)
      return std::nullopt;
    mask.parts.push_back(*part);
  }
  return mask;
}

std::optional<Mask> IndexReader::test(CompareOp compare, ArrayRef<int64_t> ofDims) {
  const SmallVector<Summand> sum{{{compare.getA(), Labels(ofDims)}, 1}, {{compare.getB(), Labels(ofDims)}, -1}};
  const bool equality = compare.getKind() == Comparison::eq || compare.getKind() == Comparison::ne;
  if (!equality)
    return atMostZero(sum, compare.getKind() == Comparison::lt ? 1 : 0);
  std::optional<Mask> mask = isZero(sum);
  if (!mask || compare.getKind() == Comparison::eq)
    return mask;
  Mask negated;
  negated.kind = Mask::Kind::Not;
  negated.parts.push_back(*mask);
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
