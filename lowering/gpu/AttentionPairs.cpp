// Fused attention by fused multiply-adds: the pairs of a thread, their scores.
#include "lowering/gpu/Attention.h"

using namespace mlir;

namespace tenon::gpu {

Pairs AttentionTile::pairsOf(Value firstQuery, Value firstKey) {
  Pairs pairs;
  SmallVector<Value> exist;
  for (int64_t c = 0; c < tile.ownColumns(); ++c) {
    Value key = add(builder, firstKey, column(c));
    exist.push_back(less(key, keys));
    pairs.columnKeys.push_back(within(key, keys));
  }
  for (int64_t r = 0; r < tile.ownRows(); ++r) {
    Value query = add(builder, firstQuery, row(r)), exists = less(query, queries);
    pairs.queries.push_back(query = within(query, queries));
    for (int64_t c = 0; c < tile.ownColumns(); ++c) {
      Value key = pairs.columnKeys[size_t(c)];
      pairs.keys.push_back(key);
      pairs.visible.push_back(both(both(exists, exist[size_t(c)]), visible(query, key)));
      pairs.places.push_back(placesOf(query, key));
    }
  }
  return pairs;
}

SmallVector<Value> AttentionTile::queriesFrom(Value firstQuery) {
  SmallVector<Value> result;
  for (int64_t r = 0; r < tile.ownRows(); ++r)
    result.push_back(minimum(builder, add(builder, firstQuery, row(r)), subtract(builder, queries, number(1))));
  return result;
}

/// place = sign key + others, so that key = sign (place - others).
std::pair<Value, Value> AttentionTile::keyAt(Value query, Value place) {
  Value zero = number(0);
  auto keyOf = [&](const MaskForm &form) {
    return multiply(builder, subtract(builder, place, this->form(form, query, zero)), number(form.key));
  };
  Value key = keyOf(operands.places[0]);
  if (operands.back)
    key = select(elementOf(*operands.back, query, zero), keyOf(operands.places[1]), key);
  Value inside = maximum(builder, minimum(builder, key, subtract(builder, keys, number(1))), zero);
  return {inside, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, key, inside)};
}

Pairs AttentionTile::pairsAtPlaces(Value firstQuery, Value firstPlace) {
  Pairs pairs;
  pairs.keysBy = Vectors::Of::Pair, pairs.placesBy = Vectors::Of::Column;
  pairs.queries = queriesFrom(firstQuery);
  Value last = subtract(builder, rows, number(1));
  for (int64_t c = 0; c < tile.ownColumns(); ++c)
    pairs.columnPlaces.push_back(minimum(builder, add(builder, firstPlace, column(c)), last));
  for (int64_t r = 0; r < tile.ownRows(); ++r) {
    Value query = pairs.queries[size_t(r)], exists = less(add(builder, firstQuery, row(r)), queries);
    for (int64_t c = 0; c < tile.ownColumns(); ++c) {
      Value place = add(builder, firstPlace, column(c));
      auto [key, isKey] = keyAt(query, place);
      pairs.keys.push_back(key);
      pairs.visible.push_back(both(both(exists, less(place, rows)), both(isKey, visible(query, key))));
      pairs.places.push_back({pairs.columnPlaces[size_t(c)]});
    }
  }
  return pairs;
}

/// key = step query + sign (place - others), with step 1 or -1, lies in 0 .. J-1. Any query where places are no such form, or
/// two.
IndexRange AttentionTile::queriesAtPlaces(Value first, Value last) {
  const MaskForm &place = operands.places[0];
  Value none = number(0), some = less(none, keys);
  IndexRange range{none, select(some, queries, none)};
  const int64_t step = -place.query * place.key;
  if (operands.back || (step != 1 && step != -1) || operands.dependsOn(place, kQueryLabel))
    return range;
  MaskForm others = place;
  others.query = others.key = 0;
  Value other = form(others, none, none), sign = number(place.key);
  Value one = multiply(builder, subtract(builder, first, other), sign),
        two = multiply(builder, subtract(builder, last, other), sign);
  Value least = minimum(builder, one, two), most = maximum(builder, one, two); // keys of query 0
  Value low = step == 1 ? subtract(builder, none, most) : add(builder, subtract(builder, least, keys), number(1));
  Value high = step == 1 ? subtract(builder, keys, least) : add(builder, most, number(1));
  Value side = number(tile.side);
  range.low = multiply(builder, divide(builder, maximum(builder, range.low, low), side), side);
  range.high = minimum(builder, range.high, high);
  return range;
}

AttentionTile::Scores AttentionTile::scores(const Pairs &pairs, const Vectors &queryVectors, const Vectors &keyVectors) {
  const int64_t width = operands.keyWidth();
  SmallVector<Value> sums = dot(queryVectors, keyVectors, width, zeros(tile.ownRows() * tile.ownColumns()));
  const size_t places = pairs.places.empty() ? 0 : pairs.places[0].size();
  if (operands.table)
    for (size_t which = 0; which < places; ++which)
      sums = dot(ofQueries(operands.positionQuery, pairs, width), ofPlaces(operands.table, pairs, width, which), width, sums);
  if (operands.keyTable)
    sums = dot(ofKeys(operands.positionKey, pairs, width), ofPlaces(operands.keyTable, pairs, width, 0), width, sums);
  Scores result;
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Value query = pairs.queries[index / size_t(tile.ownColumns())], key = pairs.keys[index];
    auto [value, slope] = finishScore(sum, query, key, pairs.places[index]);
    result.values.push_back(value);
    if (slope)
      result.slopes.push_back(slope);
  }
  return result;
}

} // namespace tenon::gpu
