// The operands of a fused attention, made of the terms that AttentionTerms.cpp has read.
#include "lowering/tensor/AttentionTerms.h"
#include <cmath>
#include <map>

using namespace mlir;

namespace tenon {

/// Rows of tables of vectors that are contracted with each strip of queries, at most.
constexpr int64_t kMostRows = 4096;

Value ScoreReader::arranged(const Labelled &x, ArrayRef<Labels> groups, double factor) {
  Value result = space.arranged(x, groups);
  return factor == 1 ? result : build.scale(result, factor);
}

AffineExpr sizeAt(const Labelled &x, int64_t label) {
  return sizesOf(tensorOf(x.value))[llvm::find(x.labels, label) - x.labels.begin()];
}

static constexpr char kOtherRows[] =
    "the tables of two terms are not seen to have the same rows; what is done to rows is done to "
    "the table first, as in (3 * b)[R: ..] for 3 * b[R: ..]";

/// The larger of two numbers of rows; null where they differ and the run brings one of them.
static AffineExpr longer(AffineExpr a, AffineExpr b) {
  auto x = dyn_cast<AffineConstantExpr>(a), y = dyn_cast<AffineConstantExpr>(b);
  return a == b ? a : x && y ? (x.getValue() < y.getValue() ? b : a) : AffineExpr();
}

/// `table` with `rows` rows, of which the own ones begin at `first` and the others are 0.
Value ScoreReader::padded(const Labelled &table, AffineExpr first, AffineExpr rows) {
  auto type = tensorOf(table.value);
  SmallVector<AffineExpr> sizes = sizesOf(type);
  const int64_t dim = llvm::find(table.labels, kPlace) - table.labels.begin();
  sizes[dim] = rows;
  return PadOp::create(builder, table.value.getLoc(), space.type(sizes, type.getElementType()), table.value,
                       builder.getI64IntegerAttr(dim), sizeAttribute(first, space.dimCount()));
}

/// Tables at the same place keep their rows; those at another one get rows behind them, so that a score is the sum of the rows at
/// all places. Of a place there are as many as the longest of its tables has, so that no table has rows of the place behind it.
std::string ScoreReader::computePlaces(ArrayRef<std::pair<Read *, Labelled *>> reads) {
  struct Place {
    const Read *first;
    AffineExpr rows, begin;
  };
  SmallVector<Place> found;
  auto placeOf = [&](const Read &read) {
    return llvm::find_if(found, [&](const Place &known) { return samePlace(*known.first, read); });
  };
  for (auto [read, table] : reads) {
    auto *known = placeOf(*read);
    if (known == found.end())
      found.push_back({read, sizeAt(*table, kPlace), {}});
    else if (known->rows = longer(known->rows, sizeAt(*table, kPlace)); !known->rows)
      return kOtherRows;
  }
  AffineExpr rows = getAffineConstantExpr(0, builder.getContext());
  for (Place &each : found) {
    each.begin = rows;
    if (!each.first->index.value)
      computed.read(each.first->place->forms[0], space.size(kQuery), space.size(kKey), rows);
    else if (std::string why = computed.read(each.first->index, rows); !why.empty())
      return why;
    rows = simplifyAffineExpr(rows + each.rows, space.dimCount(), 0);
  }
  if (auto number = dyn_cast<AffineConstantExpr>(rows); !positions.empty() && !(number && number.getValue() <= kMostRows))
    return "not supported yet: tables of vectors with more than " + std::to_string(kMostRows) + " rows, or a symbolic dim, at " +
           kNoDistance;
  if (found.size() == 1)
    return {};
  std::map<std::pair<void *, void *>, Value> made; // a table that two terms read stays one
  for (auto [read, table] : reads) {
    const AffineExpr begin = placeOf(*read)->begin;
    Value &known = made[{table->value.getAsOpaquePointer(), const_cast<void *>(begin.getAsOpaquePointer())}];
    if (!known)
      known = padded(*table, begin, rows);
    table->value = known;
  }
  return {};
}

/// Tables that are read at the same place have as many rows as the longest: an index that is inside of all of them reads none of
/// those behind the end of another one.
bool ScoreReader::alignRows(ArrayRef<std::pair<Read *, Labelled *>> reads) {
  places = sizeAt(*reads.front().second, kPlace);
  for (auto [read, table] : reads)
    if (places = longer(places, sizeAt(*table, kPlace)); !places)
      return false;
  std::map<void *, Value> made; // a table that two terms read stays one
  for (auto [read, table] : reads)
    if (sizeAt(*table, kPlace) != places) {
      Value &known = made[table->value.getAsOpaquePointer()];
      if (!known)
        known = padded(*table, getAffineConstantExpr(0, builder.getContext()), places);
      table->value = known;
    }
  return true;
}

std::string ScoreReader::findPlace() {
  SmallVector<std::pair<Read *, Labelled *>> reads;
  for (auto [read, pair] : llvm::zip(positionReads, positions))
    reads.push_back({&read, &pair.b});
  for (auto [read, pair] : llvm::zip(keyPositionReads, keyPositions))
    reads.push_back({&read, &pair.b});
  for (Table &each : llvm::concat<Table>(scoreTables, valueTables))
    reads.push_back({&each.read, &each.table});
  if (reads.empty())
    return {};
  const Read &first = *reads.front().first;
  const bool same = llvm::all_of(reads, [&](auto &each) { return samePlace(first, *each.first); });
  if (same && first.place) {
    place = first.place;
  } else if (!llvm::all_of(reads, [&](auto &each) { return canOrder(*each.first); })) {
    if (std::string why = computePlaces(reads); !why.empty())
      return why;
  } else {
    place = distances.place();
    for (auto [read, table] : reads)
      if (!read->byDistance)
        *table = distances.ordered(*table, kPlace, distances.along(read->index), read->clamp);
  }
  if (!alignRows(reads))
    return kOtherRows;
  space.setSize(kPlace, places);
  return {};
}

bool ScoreReader::sharesSide(ArrayRef<Pair> pairs) {
  const Pair &first = pairs.front();
  return llvm::all_of(pairs, [&](const Pair &pair) { return pair.a == first.a; }) ||
         llvm::all_of(pairs, [&](const Pair &pair) { return pair.b == first.b; });
}

/// sum of factor * a . b as one contraction: where one side is the same everywhere the other is summed.
std::string ScoreReader::sum(ArrayRef<Pair> pairs, ArrayRef<Labels> ofA, ArrayRef<Labels> ofB, Value &a, Value &b) {
  const Pair &first = pairs.front();
  const bool sameB = llvm::all_of(pairs, [&](const Pair &pair) { return pair.b == first.b; });
  if (!sharesSide(pairs))
    return "not supported yet: two such terms that share neither side";
  space.setSize(kContracted, sizeAt(first.a, kContracted));
  for (const Pair &pair : pairs)
    if (sizeAt(pair.a, kContracted) != space.size(kContracted))
      return "the contracted widths of two terms differ";
  for (const Pair &pair : pairs) {
    if (sameB || &pair == &first)
      accumulate(build, a, arranged(pair.a, ofA, sameB ? pair.factor : 1));
    if (!sameB || &pair == &first)
      accumulate(build, b, arranged(pair.b, ofB, sameB ? 1 : pair.factor));
  }
  return {};
}

/// Whether these are all places of a walked entry, of which a call adds the new ones to a state.
static bool isKept(Value keys) {
  Operation *op = keys.getDefiningOp();
  while (isa_and_nonnull<BroadcastOp, ReshapeOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_nonnull<AppendStateOp>(op);
}

/// Contractions that share neither side stand beside each other along the contracted dimension: a . b + c . d = [a, c] . [b, d],
/// as in attention whose heads have a part with and one without positions (DeepSeek). Queries of the same keys are added.
std::string ScoreReader::joinContents(ArrayRef<Labels> ofQuery, ArrayRef<Labels> ofKey) {
  if (llvm::any_of(contents, [](const Pair &pair) { return isKept(pair.b.value); }))
    return "keys of two terms are kept apart from call to call, all of which each call would copy; make one term of both, by a "
           "`concat` of the keys and one of the queries";
  SmallVector<const Labelled *> keys;
  SmallVector<Value> ofQueries, ofKeys;
  AffineExpr width = getAffineConstantExpr(0, builder.getContext());
  for (const Pair &pair : contents) {
    const AffineExpr own = sizeAt(pair.a, kContracted);
    space.setSize(kContracted, own);
    Value a = arranged(pair.a, ofQuery, pair.factor);
    if (auto *known = llvm::find_if(keys, [&](const Labelled *key) { return *key == pair.b; }); known != keys.end()) {
      accumulate(build, ofQueries[known - keys.begin()], a);
      continue;
    }
    keys.push_back(&pair.b);
    ofQueries.push_back(a);
    ofKeys.push_back(arranged(pair.b, ofKey, 1));
    width = simplifyAffineExpr(width + own, space.dimCount(), 0);
  }
  space.setSize(kContracted, width);
  auto beside = [&](ArrayRef<Value> parts) -> Value {
    SmallVector<AffineExpr> sizes = sizesOf(tensorOf(parts.front()));
    sizes.back() = width;
    return ConcatOp::create(builder, parts.front().getLoc(), space.type(sizes, tensorOf(parts.front()).getElementType()),
                            builder.getI64IntegerAttr(sizes.size() - 1), parts);
  };
  query = beside(ofQueries);
  key = beside(ofKeys);
  return {};
}

/// A number that all contractions of keys have in common belongs to the sum: no query is multiplied for it.
void ScoreReader::takeCommonFactor() {
  const double common = contents.front().factor;
  if (common == 1 || common == 0 || !std::isfinite(1 / common) ||
      !llvm::all_of(contents, [&](const Pair &pair) { return pair.factor == common; }) ||
      !llvm::all_of(pairs, [&](auto &pair) { return pair.second == common; })) // queries are fewer than pairs
    return;
  factor = common;
  for (Pair &pair : llvm::concat<Pair>(contents, positions, keyPositions))
    pair.factor /= common;
  for (Table &table : scoreTables)
    table.factor /= common;
  for (auto &[scores, by] : llvm::concat<std::pair<Labelled, double>>(selections, pairs))
    by /= common;
}

Labels ScoreReader::headsOfKeys() const {
  const Labels &heads = space.axes(kHead);
  auto isOfKeys = [&](int64_t head) {
    auto has = [&](const Labelled &tensor) { return llvm::is_contained(tensor.labels, head); };
    return llvm::any_of(contents, [&](const Pair &pair) { return has(pair.b); }) ||
           llvm::any_of(keyPositions, [&](const Pair &pair) { return has(pair.a); }) ||
           llvm::any_of(values, [&](auto &part) { return has(part.first); });
  };
  const auto *end = llvm::find_if_not(heads, isOfKeys);
  if (std::any_of(end, heads.end(), isOfKeys))
    return heads;
  return end == heads.begin() ? Labels{AttentionSpace::kSharedHead} : Labels(heads.begin(), end);
}

std::string ScoreReader::finish() {
  if (contents.empty())
    return "no term contracts a query with keys";
  if (values.empty())
    return "no part of the value belongs to the key";
  takeCommonFactor();
  const Labels &batches = space.axes(kBatch), &heads = space.axes(kHead), &widths = space.axes(kWidth), ofKeys = headsOfKeys();
  const SmallVector<Labels> ofQuery{batches, {kQuery}, heads, {kContracted}}, ofKey{batches, {kKey}, ofKeys, {kContracted}},
      ofTable{{kPlace}, heads, {kContracted}};
  std::string why = sharesSide(contents) ? sum(contents, ofQuery, ofKey, query, key) : joinContents(ofQuery, ofKey);
  if (why.empty())
    why = findPlace();
  if (!why.empty())
    return why;
  for (auto &[scores, by] : selections)
    accumulate(build, selectedScores, arranged(scores, {batches, {kQuery}, heads, {kSelected}}, by));
  finishPairs(tensorOf(query).getElementType());
  for (const Table &each : scoreTables)
    accumulate(build, scoreTable, arranged(each.table, {{kPlace}, heads}, each.factor));
  for (const Table &each : valueTables)
    accumulate(build, valueTable, arranged(each.table, {{kPlace}, heads, widths}, each.factor));
  for (auto &[part, factor] : values)
    accumulate(build, value, arranged(part, {batches, {kKey}, ofKeys, widths}, factor));
  for (const Pair &pair : llvm::concat<Pair>(positions, keyPositions))
    if (sizeAt(pair.a, kContracted) != space.size(kContracted))
      return "the contracted widths of two terms differ";
  if (!positions.empty())
    why = sum(positions, ofQuery, ofTable, positionQuery, table);
  if (why.empty() && !keyPositions.empty())
    why = sum(keyPositions, ofKey, ofTable, positionKey, keyTable);
  return why;
}

} // namespace tenon
