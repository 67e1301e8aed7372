#include "lowering/AttentionTerms.h"

using namespace mlir;

namespace tenon {

static bool only(const Labelled &x, std::initializer_list<int64_t> allowed) {
  return llvm::all_of(x.labels, [&](int64_t label) { return llvm::is_contained(allowed, label); });
}

/// An operand of a contraction whose result has labels `ofResult`.
static Labelled operandOf(Value value, ArrayRef<int64_t> own, ArrayRef<int64_t> ofResult) {
  Labelled operand{value, {}};
  for (int64_t label : own)
    operand.labels.push_back(label < int64_t(ofResult.size()) ? ofResult[label] : kContracted);
  Labelled bare = withoutBroadcasts(operand);
  return bare.has(kContracted) ? bare : operand; // a repetition along the contracted dimension counts
}

/// A gather inside an operand: its source, the gathered dimension as kPlace, and its index.
static std::pair<Labelled, Labelled> partsOf(GatherOp gather, ArrayRef<int64_t> labels) {
  Labelled x{gather.getX(), {}}, index{gather.getIndex(), {}};
  for (int64_t dim : gather.getXDims())
    x.labels.push_back(dim < 0 ? kPlace : labels[dim]);
  for (int64_t dim : gather.getIndexDims())
    index.labels.push_back(labels[dim]);
  Labelled bare = withoutBroadcasts(x);
  return {bare.has(kPlace) ? bare : x, withoutBroadcasts(index)};
}

/// One contracted dimension, and that in both operands.
static bool contractsOne(DotOp dot) {
  int64_t rank = tensorOf(dot.getY()).getRank();
  auto contracted = [&](ArrayRef<int64_t> labels) { return llvm::count_if(labels, [&](int64_t label) { return label >= rank; }); };
  return contracted(dot.getALabels()) == 1 && contracted(dot.getBLabels()) == 1;
}

/// The choice between numbers 1 and 0, and which of them stands first.
static std::optional<bool> isTruthAsNumber(SelectOp choice) {
  std::optional<double> yes = constantOf(choice.getA()), no = constantOf(choice.getB());
  if (yes == 1.0 && no == 0.0)
    return true;
  return yes == 0.0 && no == 1.0 ? std::optional<bool>(false) : std::nullopt;
}

Value ScoreReader::arranged(Labelled x, ArrayRef<int64_t> order, double factor) {
  auto type = tensorOf(x.value);
  SmallVector<AffineExpr> all;
  SmallVector<int64_t> dims;
  bool same = type.getRank() == int64_t(order.size());
  for (int64_t label : order)
    all.push_back(label >= 0 ? sizes[label] : label == kContracted ? width : label == kPlace ? places : getAffineConstantExpr(2, builder.getContext()));
  for (auto [k, label] : llvm::enumerate(x.labels)) {
    dims.push_back(llvm::find(order, label) - order.begin());
    same &= dims.back() == int64_t(k);
  }
  Value result = same ? x.value : build.broadcast(x.value, dims, tensorType(all, type.getElementType(), dimCount));
  return factor == 1 ? result : build.scale(result, factor);
}

std::string ScoreReader::add(Labelled score, double factor) {
  score = withoutBroadcasts(score);
  Operation *op = score.value.getDefiningOp();
  auto part = [&](Value value, double by) { return add({value, score.labels}, factor * by); };
  auto both = [&](Value a, Value b, double by) {
    std::string why = part(a, 1);
    return why.empty() ? part(b, by) : why;
  };
  if (constantOf(score.value) == 0.0)
    return {};
  if (auto sum = dyn_cast_or_null<AddOp>(op))
    return both(sum.getA(), sum.getB(), 1);
  if (auto difference = dyn_cast_or_null<SubOp>(op))
    return both(difference.getA(), difference.getB(), -1);
  if (auto negative = dyn_cast_or_null<NegOp>(op))
    return part(negative.getX(), -1);
  if (auto product = dyn_cast_or_null<MulOp>(op)) {
    if (std::optional<double> constant = constantOf(product.getA()))
      return part(product.getB(), *constant);
    if (std::optional<double> constant = constantOf(product.getB()))
      return part(product.getA(), *constant);
  }
  if (auto dot = dyn_cast_or_null<DotOp>(op))
    return addDot(dot, score.labels, factor);
  if (auto gather = dyn_cast_or_null<GatherOp>(op))
    return addGather(gather, score.labels, factor);
  return "it is no contraction of a query [batch, query, head, width] with keys [batch, key, head, width] or with a table";
}

std::string ScoreReader::addDot(DotOp dot, ArrayRef<int64_t> labels, double factor) {
  if (!contractsOne(dot))
    return "it contracts other than one dimension";
  Labelled a = operandOf(dot.getA(), dot.getALabels(), labels), b = operandOf(dot.getB(), dot.getBLabels(), labels);
  if (a.has(kKey))
    std::swap(a, b);
  if (a.has(kKey) || !b.has(kKey))
    return "both sides of its contraction depend on the key, or none";
  if (auto gather = b.value.getDefiningOp<GatherOp>()) {
    auto [x, index] = partsOf(gather, b.labels);
    if (index.has(kKey) && x.has(kContracted)) {
      auto choice = index.value.getDefiningOp<SelectOp>();
      if (choice && isTruthAsNumber(choice) && sizesOf(tensorOf(gather.getX()))[gather.getDim()] == 2) {
        if (!only(a, {kBatch, kQuery, kHead, kContracted}) || !only(x, {kBatch, kQuery, kHead, kPlace, kContracted}))
          return "a side of its contraction has a dimension besides batch, query, head and width";
        width = sizesOf(tensorOf(a.value))[llvm::find(a.labels, kContracted) - a.labels.begin()];
        // Contracted before it is selected, as tenon-simplify does where the query and the index share a dimension.
        SmallVector<int64_t> order{kBatch, kQuery, kHead, kSelected}, aDims, xDims;
        auto dims = [&](const Labelled &side, SmallVector<int64_t> &result) {
          for (int64_t label : side.labels)
            result.push_back(label == kContracted ? 4 : label == kPlace ? 3 : label);
        };
        Labelled whole{arranged(a, {kBatch, kQuery, kHead, kContracted}, 1), {kBatch, kQuery, kHead, kContracted}};
        dims(whole, aDims);
        dims(x, xDims);
        auto type = tensorType({sizes[kBatch], sizes[kQuery], sizes[kHead], getAffineConstantExpr(2, builder.getContext())}, tensorOf(a.value).getElementType(), dimCount);
        return addSelected(gather, choice, {build.dot(whole.value, aDims, x.value, xDims, type), {kBatch, kQuery, kHead, kPlace}}, index, factor);
      }
      return addPosition(a, x, index, gather.getClamp(), factor);
    }
  }
  if (!only(a, {kBatch, kQuery, kHead, kContracted}) || !only(b, {kBatch, kKey, kHead, kContracted}))
    return "a side of its contraction has a dimension besides batch, query or key, head and width";
  contents.push_back({a, b, factor});
  return {};
}

std::string ScoreReader::addGather(GatherOp gather, ArrayRef<int64_t> labels, double factor) {
  auto [x, index] = partsOf(gather, labels);
  if (!index.has(kKey) || x.has(kKey))
    return "it gathers at an index without the key, or from a tensor with it";
  if (auto choice = index.value.getDefiningOp<SelectOp>())
    if (isTruthAsNumber(choice) && sizesOf(tensorOf(gather.getX()))[gather.getDim()] == 2)
      return addSelected(gather, choice, x, index, factor);
  if (auto dot = x.value.getDefiningOp<DotOp>(); dot && contractsOne(dot)) {
    Labelled a = operandOf(dot.getA(), dot.getALabels(), x.labels), b = operandOf(dot.getB(), dot.getBLabels(), x.labels);
    if (a.has(kPlace))
      std::swap(a, b);
    if (!a.has(kPlace) && (a.has(kQuery) || a.has(kBatch)))
      return addPosition(a, b, index, gather.getClamp(), factor);
  }
  if (!only(x, {kPlace, kHead}))
    return "its table has a dimension of the batch or the query";
  std::string why;
  if (std::optional<Read> read = readAt(index, gather.getClamp(), why))
    scoreTables.push_back({x, factor, *read});
  return why;
}

std::string ScoreReader::addValue(Labelled part, double factor) {
  part = withoutBroadcasts(part);
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
    if (!only(x, {kPlace, kHead, kWidth}))
      return "the table of the value has a dimension besides place, head and width";
    std::string why;
    if (std::optional<Read> read = readAt(index, gather.getClamp(), why))
      valueTables.push_back({x, factor, *read});
    return why.empty() ? why : "the table of the value: " + why;
  }
  if (!only(part, {kBatch, kKey, kHead, kWidth}))
    return "the value has a dimension besides batch, key, head and width";
  values.push_back({part, factor});
  return {};
}

std::string ScoreReader::addSelected(GatherOp gather, SelectOp choice, Labelled x, Labelled index, double factor) {
  if (!only(x, {kBatch, kQuery, kHead, kPlace}))
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
  accumulate(build, selectedScores, arranged(x, {kBatch, kQuery, kHead, kSelected}, factor));
  return {};
}

bool ScoreReader::samePlace(const Read &a, const Read &b) const {
  auto text = [&](const Read &read) {
    SmallVector<Attribute> forms;
    for (const MaskForm &form : read.place->forms)
      forms.push_back(toAttribute(form, builder.getContext()));
    return builder.getArrayAttr(forms);
  };
  return a.place && b.place && text(a) == text(b) && a.place->back == b.place->back;
}

std::optional<ScoreReader::Read> ScoreReader::readAt(Labelled index, bool clamp, std::string &why) {
  std::string notLinear;
  Read read{index, clamp, indices.place(index, notLinear)};
  if (!read.place && !distances.along(index))
    return why = notLinear, std::nullopt;
  SmallVector<const Read *> others;
  for (const Read &other : positionReads)
    others.push_back(&other);
  for (const Table &other : llvm::concat<Table>(scoreTables, valueTables))
    others.push_back(&other.read);
  for (const Read *other : others)
    if (!samePlace(read, *other) && (!distances.along(index) || !distances.along(other->index)))
      return why = "not supported yet: two terms that read tables at different places", std::nullopt;
  return read;
}

std::string ScoreReader::findPlace() {
  SmallVector<std::pair<Read *, Labelled *>> reads;
  for (auto [read, pair] : llvm::zip(positionReads, positions))
    reads.push_back({&read, &pair.b});
  for (Table &each : llvm::concat<Table>(scoreTables, valueTables))
    reads.push_back({&each.read, &each.table});
  if (reads.empty())
    return {};
  const Read &first = *reads.front().first;
  if (llvm::all_of(reads, [&](auto &each) { return samePlace(first, *each.first); })) {
    place = first.place;
  } else {
    place = distances.place();
    for (auto [read, table] : reads)
      *table = distances.ordered(*table, kPlace, distances.along(read->index), read->clamp);
  }
  for (auto [read, table] : reads) {
    AffineExpr rows = sizesOf(tensorOf(table->value))[llvm::find(table->labels, kPlace) - table->labels.begin()];
    if (places && places != rows)
      return "the tables of two terms have different numbers of rows";
    places = rows;
  }
  return {};
}

std::string ScoreReader::addPosition(Labelled a, Labelled table, Labelled index, bool clamp, double factor) {
  if (!only(table, {kPlace, kHead, kContracted}))
    return "its table has a dimension besides place, head and width";
  if (!only(a, {kBatch, kQuery, kHead, kContracted}))
    return "its query has a dimension besides batch, query, head and width";
  std::string why;
  std::optional<Read> read = readAt(index, clamp, why);
  if (!read)
    return why;
  positions.push_back({a, table, factor});
  positionReads.push_back(*read);
  return {};
}

/// sum of factor * a . b as one contraction: where one side is the same everywhere the other is summed.
std::string ScoreReader::sum(ArrayRef<Pair> pairs, ArrayRef<int64_t> aLabels, ArrayRef<int64_t> bLabels, Value &a, Value &b) {
  const Pair &first = pairs.front();
  auto sizeAt = [](const Labelled &x, int64_t label) { return sizesOf(tensorOf(x.value))[llvm::find(x.labels, label) - x.labels.begin()]; };
  bool sameA = llvm::all_of(pairs, [&](const Pair &pair) { return pair.a == first.a; }), sameB = llvm::all_of(pairs, [&](const Pair &pair) { return pair.b == first.b; });
  if (!sameA && !sameB)
    return "not supported yet: two such terms that share neither side";
  for (const Pair &pair : pairs)
    if (AffineExpr own = sizeAt(pair.a, kContracted); width && own != width)
      return "the contracted widths of two terms differ";
    else
      width = own;
  for (const Pair &pair : pairs) {
    if (sameB || &pair == &first)
      accumulate(build, a, arranged(pair.a, aLabels, sameB ? pair.factor : 1));
    if (!sameB || &pair == &first)
      accumulate(build, b, arranged(pair.b, bLabels, sameB ? 1 : pair.factor));
  }
  return {};
}

std::string ScoreReader::finish() {
  if (contents.empty())
    return "no term contracts a query with keys";
  if (values.empty())
    return "no part of the value belongs to the key";
  width = {};
  const SmallVector<int64_t> ofQuery{kBatch, kQuery, kHead, kContracted}, ofKey{kBatch, kKey, kHead, kContracted}, ofTable{kPlace, kHead, kContracted};
  std::string why = sum(contents, ofQuery, ofKey, query, key);
  if (why.empty())
    why = findPlace();
  if (!why.empty())
    return why;
  for (const Table &each : scoreTables)
    accumulate(build, scoreTable, arranged(each.table, {kPlace, kHead}, each.factor));
  for (const Table &each : valueTables)
    accumulate(build, valueTable, arranged(each.table, {kPlace, kHead, kWidth}, each.factor));
  for (auto &[part, factor] : values)
    accumulate(build, value, arranged(part, {kBatch, kKey, kHead, kWidth}, factor));
  return positions.empty() ? std::string() : sum(positions, ofQuery, ofTable, positionQuery, table);
}

} // namespace tenon
