#include "lowering/tensor/AttentionTerms.h"
#include "dialect/ElementCode.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace tenon {

/// What makes a head a part of the batch, which a table cannot have.
static constexpr llvm::StringLiteral kMaskedHead = " (one that a mask depends on is of the batch)";

static constexpr char kNumberOfQuery[] = "a part of it is a number of each query that no key is contracted with; `act(a + b)` "
                                         "of numbers of the query and the key is fused as a contraction of pairs, (a, 1) with "
                                         "(1, b)";

/// Whether it is a function of numbers that the query or the key alone decides; which of these differ by batch row.
static bool joinsSides(const Labelled &score, bool &ofQuery, bool &ofKey, unsigned depth = 12) {
  const Labelled bare = withoutBroadcasts(score);
  if (constantOf(bare.value))
    return true;
  if (!bare.has(kKey) || !bare.has(kQuery)) {
    (bare.has(kKey) ? ofKey : ofQuery) |= bare.has(kBatch);
    return true;
  }
  Operation *op = bare.value.getDefiningOp();
  return op && depth > 0 && op->hasTrait<ElementFormula>() && llvm::all_of(op->getOperands(), [&](Value operand) {
           return joinsSides({operand, bare.labels}, ofQuery, ofKey, depth - 1);
         });
}

/// Why a score that is no contraction and no table is no term: what it would have to be, by what it depends on.
static std::string whyNoTerm(const Labelled &score) {
  bool ofQuery = false, ofKey = false;
  const bool areApart = joinsSides(score, ofQuery, ofKey);
  if (!score.has(kKey) || (areApart && ofQuery))
    return kNumberOfQuery;
  if (areApart && ofKey)
    return "a part of it is a number of each key that differs by batch row and is no contraction (`dot`); hidden keys belong in "
           "a `mask`";
  return "it is no contraction of a query [batch, query, head, width] with keys [batch, key, head, width] or with a table, and "
         "no function of the distance j - i; hidden keys belong in a `mask`";
}

/// An operand of a contraction whose result has labels `ofResult`.
static Labelled operandOf(Value value, ArrayRef<int64_t> own, ArrayRef<int64_t> ofResult) {
  Labelled operand{value, {}};
  for (int64_t label : own)
    operand.labels.push_back(label < int64_t(ofResult.size()) ? ofResult[label] : kContracted);
  Labelled bare = withoutBroadcasts(operand);
  return bare.has(kContracted) ? bare : operand; // a repetition along the contracted dimension counts
}

/// One contracted dimension, and that in both operands.
static bool contractsOne(DotOp dot) {
  int64_t rank = tensorOf(dot.getY()).getRank();
  auto contracted = [&](ArrayRef<int64_t> labels) {
    return llvm::count_if(labels, [&](int64_t label) { return label >= rank; });
  };
  return contracted(dot.getALabels()) == 1 && contracted(dot.getBLabels()) == 1;
}

/// Why one of several dimensions, or of none, is no term.
static std::string whyContracts(DotOp dot) {
  const int64_t rank = tensorOf(dot.getY()).getRank();
  const auto count = llvm::count_if(dot.getALabels(), [&](int64_t label) { return label >= rank; });
  if (count == 0)
    return "it contracts no axis: the width of queries and keys is contracted, as in dot[E](q, k)";
  return "it contracts " + std::to_string(count) +
         " axes, the heads as well: dot[E](q, k) gives each head its scores; where all heads "
         "have the same, merge the axes of both sides, q[H * E -> D] and k[H * E -> D], and contract D";
}

/// The choice between numbers 1 and 0, and which of them stands first.
static std::optional<bool> isTruthAsNumber(SelectOp choice) {
  std::optional<double> yes = constantOf(choice.getA()), no = constantOf(choice.getB());
  if (yes == 1.0 && no == 0.0)
    return true;
  return yes == 0.0 && no == 1.0 ? std::optional<bool>(false) : std::nullopt;
}

/// The product of `x` and the tensors, over the dimensions of all of them.
Labelled ScoreReader::weighted(Labelled x, ArrayRef<Weight::Tensor> tensors) {
  if (tensors.empty())
    return x;
  for (const Weighted &known : weightedOnes)
    if (known.x == x && ArrayRef<Weight::Tensor>(known.tensors) == tensors)
      return known.result;
  auto type = tensorOf(x.value);
  std::map<int64_t, AffineExpr> sizeOf;
  auto collect = [&](const Labelled &tensor) {
    for (auto [label, size] : llvm::zip(tensor.labels, sizesOf(tensorOf(tensor.value))))
      sizeOf[label] = size;
  };
  collect(x);
  for (const Weight::Tensor &tensor : tensors)
    collect(tensor.value);
  Labelled result;
  SmallVector<AffineExpr> all;
  for (int64_t kind : {kBatch, kQuery, kKey, kPlace, kHead, kSelected, kContracted})
    for (int64_t label : space.axes(kind))
      if (sizeOf.count(label)) {
        result.labels.push_back(label);
        all.push_back(sizeOf[label]);
      }
  auto whole = space.type(all, type.getElementType());
  auto spread = [&](const Labelled &tensor) {
    SmallVector<int64_t> dims;
    for (int64_t label : tensor.labels)
      dims.push_back(llvm::find(result.labels, label) - result.labels.begin());
    return build.broadcast(tensor.value, dims, whole);
  };
  result.value = spread(x);
  for (const Weight::Tensor &tensor : tensors)
    result.value = tensor.divides ? build.div(result.value, spread(tensor.value)) : build.mul(result.value, spread(tensor.value));
  weightedOnes.push_back({x, SmallVector<Weight::Tensor>(tensors), result});
  return result;
}

std::string ScoreReader::scale(Value factor, ArrayRef<int64_t> labels) {
  Labelled bare = withoutBroadcasts({factor, Labels(labels)});
  if (!bare.only({kBatch, kQuery, kHead}))
    return "the scale has a dimension besides batch, query and head";
  if (!bare.labels.empty() || !constantOf(bare.value))
    whole.tensors.push_back({bare, false});
  else
    whole.number *= *constantOf(bare.value);
  return {};
}

/// A product or quotient of a score and what does not depend on both query and key. Nothing if it is none.
std::optional<std::string> ScoreReader::addProduct(Operation *op, ArrayRef<int64_t> labels, const Weight &weight) {
  if (!isa_and_nonnull<MulOp, DivOp>(op))
    return std::nullopt;
  const bool divides = isa<DivOp>(op);
  Value a = op->getOperand(0), b = op->getOperand(1);
  Weight inner = weight;
  for (auto [factor, rest] : {std::pair(b, a), std::pair(a, b)}) {
    if (divides && factor == a)
      break;
    if (std::optional<double> constant = constantOf(factor); constant && *constant != 0) {
      inner.number = divides ? weight.number / *constant : weight.number * *constant;
      return add({rest, Labels(labels)}, inner);
    }
  }
  for (int64_t absent : {kKey, kQuery})
    for (auto [factor, rest] : {std::pair(b, a), std::pair(a, b)}) {
      Labelled tensor = withoutBroadcasts({factor, Labels(labels)});
      if ((divides && factor == a) || tensor.has(absent) || !withoutBroadcasts({rest, Labels(labels)}).has(kKey))
        continue;
      inner.tensors.push_back({tensor, divides});
      return add({rest, Labels(labels)}, inner);
    }
  return std::nullopt;
}

/// Elementwise functions of the distance and the head (ALiBi's slope * (j - i)), or of the key's place and the head. Nothing if
/// it is none.
std::optional<std::string> ScoreReader::addFunction(const Labelled &score, const Weight &weight) {
  Read read{{}, false, {}, false};
  std::optional<Labelled> table = distances.function(score);
  if (table) {
    read.place = distances.place();
    read.byDistance = true;
  } else if (score.has(kKey) && score.only({kKey, kHead})) {
    table = score;
    llvm::replace(table->labels, kKey, kPlace);
    read.place = indices.keyPlace(builder.getContext());
  }
  if (!table)
    return std::nullopt;
  return addTable(*table, read, weight);
}

std::string ScoreReader::addTable(Labelled table, const Read &read, const Weight &weight) {
  for (const Weight::Tensor &tensor : weight.tensors)
    if (!tensor.value.only({kHead}))
      return "it is a table, and its factor depends on more than the head" + kMaskedHead.str();
  std::string why = checkPlace(read);
  if (why.empty())
    scoreTables.push_back({weighted(table, weight.tensors), weight.number, read});
  return why;
}

std::string ScoreReader::add(Labelled score, const Weight &weight) {
  score = withoutBroadcasts(score);
  score.value = splitBeforeGather(builder, score.value);
  Operation *op = score.value.getDefiningOp();
  auto both = [&](Value a, Value b, double by) {
    Weight second = weight;
    second.number *= by;
    std::string why = add({a, score.labels}, weight);
    return why.empty() ? add({b, score.labels}, second) : why;
  };
  if (constantOf(score.value) == 0.0)
    return {};
  if (auto sum = dyn_cast_or_null<AddOp>(op))
    return both(sum.getA(), sum.getB(), 1);
  if (auto difference = dyn_cast_or_null<SubOp>(op))
    return both(difference.getA(), difference.getB(), -1);
  if (auto negative = dyn_cast_or_null<NegOp>(op)) {
    Weight inner = weight;
    inner.number = -weight.number;
    return add({negative.getX(), score.labels}, inner);
  }
  if (auto dot = dyn_cast_or_null<DotOp>(op))
    return addDot(dot, score.labels, weight);
  if (auto gather = dyn_cast_or_null<GatherOp>(op))
    return addGather(gather, score.labels, weight);
  if (std::optional<std::string> why = addFunction(score, weight))
    return *why;
  if (std::optional<std::string> why = addProduct(op, score.labels, weight))
    return *why;
  if (isStored(score))
    return addPairs(score, weight);
  if (isa_and_nonnull<ConvertOp>(op) && isa<FloatType>(tensorOf(op->getOperand(0)).getElementType()))
    return "not supported yet: a score whose type has 16 bits";
  return whyNoTerm(score);
}

std::string ScoreReader::addDot(DotOp dot, ArrayRef<int64_t> labels, const Weight &weight) {
  const Labelled score{dot.getY(), Labels(labels)};
  if (!contractsOne(dot))
    return isStored(score) ? addPairs(score, weight) : whyContracts(dot);
  Labelled a = operandOf(dot.getA(), dot.getALabels(), labels), b = operandOf(dot.getB(), dot.getBLabels(), labels);
  if (a.has(kKey))
    std::swap(a, b);
  if (a.has(kKey) || !b.has(kKey)) {
    if (isStored(score))
      return addPairs(score, weight);
    return a.has(kKey) ? "both sides of its contraction depend on the key" : kNumberOfQuery;
  }
  b.value = splitBeforeGather(builder, b.value);
  if (auto gather = b.value.getDefiningOp<GatherOp>()) {
    auto [x, index] = partsOf(gather, b.labels);
    if (index.has(kKey) && x.has(kContracted)) {
      auto choice = index.value.getDefiningOp<SelectOp>();
      if (choice && isTruthAsNumber(choice) && sizesOf(tensorOf(gather.getX()))[gather.getDim()] == 2) {
        if (!a.only({kBatch, kQuery, kHead, kContracted}) || !x.only({kBatch, kQuery, kHead, kPlace, kContracted}))
          return "a side of its contraction has a dimension besides batch, query, head and width";
        return addSelectedBefore(gather, choice, a, x, index, weight);
      }
      // Rows at places that only the data know, as embedding[V: ids], are keys like others.
      if (std::string ignored; index.has(kQuery) || indices.place(index, ignored))
        return addPosition(a, x, index, gather.getClamp(), weight);
    }
  }
  if (!a.only({kBatch, kQuery, kHead, kContracted}) || !b.only({kBatch, kKey, kHead, kContracted}))
    return isStored(score) ? addPairs(score, weight)
                           : "a side of its contraction has a dimension besides batch, query or key, head and width";
  Weight ofQuery, ofKey;
  for (const Weight::Tensor &tensor : weight.tensors)
    (tensor.value.has(kKey) ? ofKey : ofQuery).tensors.push_back(tensor);
  contents.push_back({weighted(a, ofQuery.tensors), weighted(b, ofKey.tensors), weight.number});
  return {};
}

/// Contracted before it is selected, as tenon-simplify does where the query and the index share a dimension.
std::string ScoreReader::addSelectedBefore(GatherOp gather, SelectOp choice, const Labelled &a, const Labelled &x,
                                           const Labelled &index, const Weight &weight) {
  space.setSize(kContracted, sizeAt(a, kContracted));
  space.setSize(kPlace, space.size(kSelected));
  SmallVector<AffineExpr> sizes;
  SmallVector<Labels> ofQuery;
  Labelled scores, query;
  for (int64_t kind : {kBatch, kQuery, kHead, kPlace})
    for (int64_t label : space.axes(kind)) {
      scores.labels.push_back(label);
      sizes.push_back(space.size(label));
      if (kind != kPlace)
        ofQuery.push_back({label});
    }
  ofQuery.push_back({kContracted});
  for (const Labels &label : ofQuery)
    query.labels.push_back(label[0]);
  query.value = space.arranged(a, ofQuery);
  auto dimensions = [&](const Labelled &side) {
    SmallVector<int64_t> result;
    for (int64_t label : side.labels)
      result.push_back(llvm::find(scores.labels, label) - scores.labels.begin());
    return result;
  };
  scores.value =
      build.dot(query.value, dimensions(query), x.value, dimensions(x), space.type(sizes, tensorOf(a.value).getElementType()));
  return addSelected(gather, choice, scores, index, weight);
}

std::string ScoreReader::addGather(GatherOp gather, ArrayRef<int64_t> labels, const Weight &weight) {
  auto [x, index] = partsOf(gather, labels);
  if (!index.has(kKey)) {
    const Labelled score{gather.getY(), Labels(labels)};
    return isStored(score) ? addPairs(score, weight) : "it gathers at an index without the key";
  }
  if (auto choice = index.value.getDefiningOp<SelectOp>(); choice && !x.has(kKey))
    if (isTruthAsNumber(choice) && sizesOf(tensorOf(gather.getX()))[gather.getDim()] == 2)
      return addSelected(gather, choice, x, index, weight);
  if (auto dot = x.value.getDefiningOp<DotOp>(); dot && contractsOne(dot)) {
    Labelled a = operandOf(dot.getA(), dot.getALabels(), x.labels), b = operandOf(dot.getB(), dot.getBLabels(), x.labels);
    if (a.has(kPlace))
      std::swap(a, b);
    if (!a.has(kPlace) && a.has(kKey))
      return addKeyPosition(a, b, index, gather.getClamp(), weight);
    if (!a.has(kPlace) && (a.has(kQuery) || a.has(kBatch)))
      return addPosition(a, b, index, gather.getClamp(), weight);
  }
  if (!x.only({kPlace, kHead}))
    return "its table has a dimension of the batch, the query or the key" + kMaskedHead.str();
  std::string why;
  std::optional<Read> read = readAt(index, gather.getClamp(), why);
  return read ? addTable(x, *read, weight) : why;
}

std::string ScoreReader::addValue(Labelled part, double factor) {
  part = withoutBroadcasts(part);
  part.value = splitBeforeGather(builder, part.value);
  Operation *op = part.value.getDefiningOp();
  if (part.has(kQuery)) {
    auto both = [&](Value a, Value b, double by) {
      std::string why = addValue({a, part.labels}, factor);
      return why.empty() ? addValue({b, part.labels}, factor * by) : why;
    };
    if (auto sum = dyn_cast_or_null<AddOp>(op))
      return both(sum.getA(), sum.getB(), 1);
    if (auto difference = dyn_cast_or_null<SubOp>(op))
      return both(difference.getA(), difference.getB(), -1);
    auto gather = dyn_cast_or_null<GatherOp>(op);
    if (!gather)
      return "the value depends on the query other than by a table of relative positions";
    auto [x, index] = partsOf(gather, part.labels);
    if (x.has(kBatch))
      return "the value: " + std::string(kOwnKeys);
    if (!x.only({kPlace, kHead, kWidth}))
      return "the table of the value has a dimension besides place, head and width";
    std::string why;
    if (std::optional<Read> read = readAt(index, gather.getClamp(), why, /*adds=*/false)) {
      if (read->computed)
        return "the table of the value: not supported yet: " + std::string(kNoDistance);
      valueTables.push_back({x, factor, *read});
    }
    return why.empty() ? why : "the table of the value: " + why;
  }
  if (!part.only({kBatch, kKey, kHead, kWidth}))
    return "the value has a dimension besides batch, key, head and width";
  values.push_back({part, factor});
  return {};
}

std::string ScoreReader::addSelected(GatherOp gather, SelectOp choice, Labelled x, Labelled index, const Weight &weight) {
  if (std::string why = withoutKey(weight); !why.empty())
    return why;
  if (!x.only({kBatch, kQuery, kHead, kPlace}))
    return "what it selects from has a dimension besides batch, query and head";
  std::optional<Mask> tree = indices.mask(choice.getC(), index.labels);
  if (!tree)
    return "its selection depends on the head";
  if (!*isTruthAsNumber(choice)) {
    Mask negated;
    negated.kind = Mask::Kind::Not;
    negated.parts.push_back(*tree);
    tree = negated;
  }
  if (select && toAttribute(*select, builder.getContext()) != toAttribute(*tree, builder.getContext()))
    return "not supported yet: two terms that select by different conditions";
  select = tree;
  llvm::replace(x.labels, kPlace, kSelected);
  selections.push_back({weighted(x, weight.tensors), weight.number});
  return {};
}

} // namespace tenon
