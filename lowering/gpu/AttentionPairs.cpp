// Fused attention: the pairs of a thread. Masks, places in tables, ranges, scores, dropout.
#include "dialect/TensorSizes.h"
#include "lowering/gpu/Attention.h"

using namespace mlir;

namespace tenon::gpu {

// ---- integers of a pair

/// An element of an index operand, in its own type; a query or key that it does not depend on may be null.
Value AttentionTile::elementOf(int64_t operand, Value query, Value key) {
  Value tensor = operands.indexOperands[size_t(operand)];
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> indices = llvm::map_to_vector(operands.labels[size_t(operand)], [&](int64_t label) {
    return label == kBatchLabel ? batch : label == kQueryLabel ? query : key;
  });
  return scalars.load(type.getElementType(), code.pointer(tensor), scalars.linearIndex(type, indices));
}

Value AttentionTile::integer(int64_t operand, Value query, Value key) {
  Value value = elementOf(operand, query, key);
  Type i64 = builder.getI64Type();
  if (value.getType().isInteger(64))
    return value;
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(builder, i64, value);
  return arith::ExtSIOp::create(builder, i64, value);
}

Value AttentionTile::form(const MaskForm &form, Value query, Value key) {
  Value sum = code.size(form.rest);
  if (form.query)
    sum = add(builder, sum, multiply(builder, query, number(form.query)));
  if (form.key)
    sum = add(builder, sum, multiply(builder, key, number(form.key)));
  for (const MaskForm::Term &term : form.terms)
    sum = add(builder, sum, multiply(builder, integer(term.operand, query, key), number(term.coefficient)));
  return sum;
}

Value AttentionTile::test(const Mask &mask, Value query, Value key) {
  Value truth = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  switch (mask.kind) {
  case Mask::Kind::Holds:
    return elementOf(mask.operand, query, key);
  case Mask::Kind::AtMostZero:
  case Mask::Kind::IsZero:
    return arith::CmpIOp::create(builder, mask.kind == Mask::Kind::IsZero ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle,
                                 form(mask.form, query, key), number(0));
  case Mask::Kind::Not:
    return arith::XOrIOp::create(builder, test(mask.parts[0], query, key), truth);
  case Mask::Kind::And:
  case Mask::Kind::Or:
    break;
  }
  const bool isAnd = mask.kind == Mask::Kind::And;
  Value result = isAnd ? truth : arith::ConstantOp::create(builder, builder.getBoolAttr(false)).getResult();
  for (const Mask &part : mask.parts) {
    Value value = test(part, query, key);
    result = isAnd ? builder.createOrFold<arith::AndIOp>(result, value) : builder.createOrFold<arith::OrIOp>(result, value);
  }
  return result;
}

Value AttentionTile::visible(Value query, Value key) {
  Value all = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  for (const Mask &mask : operands.masks)
    all = both(all, test(mask, query, key));
  return all;
}

Value AttentionTile::isSelected(Value query, Value key) { return test(*operands.select, query, key); }

SmallVector<Value> AttentionTile::placesOf(Value query, Value key) {
  SmallVector<Value> places;
  if (operands.placeCode) {
    Block &block = operands.placeCode->front();
    for (BlockArgument argument : block.getArguments())
      if (!argument.use_empty())
        scalars.bind(argument, elementOf(argument.getArgNumber(), query, key));
    [[maybe_unused]] bool good = scalars.emitOps(block);
    assert(good && "places are made of element ops of integers, for which there is code");
    for (Value result : block.getTerminator()->getOperands()) {
      Value place = scalars.get(result);
      places.push_back(place.getType().isInteger(64) ? place
                                                     : Value(arith::ExtSIOp::create(builder, builder.getI64Type(), place)));
    }
  } else if (!operands.places.empty()) {
    Value place = form(operands.places[0], query, key);
    if (operands.back)
      place = select(elementOf(*operands.back, query, key), form(operands.places[1], query, key), place);
    places.push_back(place);
  }
  Value last = rows ? subtract(builder, rows, number(1)) : Value();
  for (Value &place : places) // of a masked pair it may be anything
    place = maximum(builder, minimum(builder, place, last), number(0));
  return places;
}

// ---- pairs

Pairs AttentionTile::pairsOf(Value firstQuery, Value firstKey) {
  Pairs pairs;
  SmallVector<Value> exist;
  auto within = [&](Value index, Value count) { return minimum(builder, index, subtract(builder, count, number(1))); };
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

/// Tests that bound an index by the other one and the row of the batch: a x + c y + others <= 0, a = 1 or -1.
static void collectBounds(const Mask &mask, SmallVectorImpl<MaskForm> &bounds) {
  if (mask.kind == Mask::Kind::And)
    for (const Mask &part : mask.parts)
      collectBounds(part, bounds);
  else if (mask.kind == Mask::Kind::AtMostZero)
    bounds.push_back(mask.form);
  else if (mask.kind == Mask::Kind::Not && mask.parts[0].kind == Mask::Kind::AtMostZero) { // 1 - form <= 0
    MaskForm &form = bounds.emplace_back(mask.parts[0].form);
    form.rest = 1 - form.rest;
    form.query = -form.query, form.key = -form.key;
    for (MaskForm::Term &term : form.terms)
      term.coefficient = -term.coefficient;
  }
}

IndexRange AttentionTile::seen(bool ofKeys, Value first, Value last) {
  IndexRange range{number(0), ofKeys ? keys : queries};
  SmallVector<MaskForm> bounds;
  for (const Mask &mask : operands.masks)
    collectBounds(mask, bounds);
  for (const MaskForm &bound : bounds) {
    const int64_t sign = ofKeys ? bound.key : bound.query, other = ofKeys ? bound.query : bound.key;
    if ((sign != 1 && sign != -1) || operands.dependsOn(bound, kKeyLabel) || operands.dependsOn(bound, kQueryLabel))
      continue;
    MaskForm fixed = bound;
    fixed.query = fixed.key = 0;
    Value least = add(builder, form(fixed, {}, {}), multiply(builder, other < 0 ? last : first, number(other)));
    if (sign == 1)
      range.high = minimum(builder, range.high, subtract(builder, number(1), least));
    else
      range.low = maximum(builder, range.low, least);
  }
  Value side = number(tile.side);
  range.low = multiply(builder, divide(builder, range.low, side), side);
  return range;
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

// ---- scores

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
  Value scale = real(operands.scale);
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Value query = pairs.queries[index / size_t(tile.ownColumns())], key = pairs.keys[index];
    if (operands.selectedScores) {
      Value which = arith::ExtUIOp::create(builder, builder.getI64Type(), isSelected(query, key));
      Value at = add(builder, offsetOfQuery(query, 2), which);
      sum = arith::AddFOp::create(builder, sum, load(operands.selectedScores, at));
    }
    if (operands.scoreTable)
      for (Value place : pairs.places[index])
        sum = arith::AddFOp::create(builder, sum, load(operands.scoreTable, offsetOfPlace(place, 1)));
    sum = arith::MulFOp::create(builder, sum, scale);
    if (!operands.step) {
      result.values.push_back(sum);
      continue;
    }
    Block &block = operands.step->front();
    scalars.bind(block.getArgument(0), sum);
    [[maybe_unused]] bool good = scalars.emitOps(block);
    assert(good && "a step that the GPU has no code for is refused");
    result.values.push_back(scalars.get(block.getTerminator()->getOperand(0)));
    result.slopes.push_back(scalars.get(block.getTerminator()->getOperand(1)));
  }
  return result;
}

Value AttentionTile::keeps(Value query, Value key) {
  Value index = multiply(builder, offsetOfQuery(query, 1), keys);
  Value depth = operands.depth ? code.scalar(operands.depth) : Value();
  return scalars.drawKeep(add(builder, index, key), depth, operands.site, operands.threshold());
}

} // namespace tenon::gpu
