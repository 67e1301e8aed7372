// The pairs of a warp: scores and their gradients in fragments, and what they add to the sums.
#include "lowering/gpu/TensorGradient.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>
#include <numbers>

using namespace mlir;

namespace tenon::gpu {

void TensorGradient::emitColumns(const Met &met, int64_t column, Sums &sums) {
  const WarpPairs pairs{firstLine, add(builder, met.first, on.number(column)), isBy(Rows::Queries), tile.columns / 8};
  Numbers scores = on.zeros(4 * pairs.blocks), along = on.zeros(4 * pairs.blocks); // along: dy . v
  multiplyPairs(met, column, scores, along, sums.overlap);
  weigh(met, pairs, column, scores, along);
  auto accumulate = [&](Numbers &into, ArrayRef<Value> numbers, size_t which) {
    if (into.empty())
      return;
    const TileRows rows(tile.columns, layout.met[which].width); // those of the columns
    const Fragments lines = on.rounded(numbers);
    on.multiply(into, lines, at(memoryOf(met, which), on.stored, column * rows.tile.chunks * SharedTile::kChunk), rows);
  };
  accumulate(sums.scores, along, 0);
  accumulate(sums.weights, scores, 1);
  if (!sums.position.empty())
    bands[0].addSpread(sums.position, along, multiply(builder, on.warp, on.number(16)), pastOf(met, column), sums.late);
}

void TensorGradient::multiplyPairs(const Met &met, int64_t column, Numbers &scores, Numbers &along, Numbers &overlap) {
  auto direct = [&](Numbers &numbers, size_t which) {
    on.multiplyTransposed(numbers, ArrayRef<Fragments>(fragments[which]), memoryOf(met, which), tileOf(which), on.number(column));
  };
  direct(scores, 0);
  if (!isBy(Rows::Places) && (part.byScores || part.byPosition))
    direct(along, 1);
  Value line = multiply(builder, on.warp, on.number(16)); // of the block
  for (auto [number, band] : llvm::enumerate(bands))
    if (isBy(Rows::Queries))
      band.addOfLines(scores, fragments[2], line, pastOf(met, column), overlap);
    else
      band.addOfColumns(number == 0 ? scores : along, memoryOf(met, number == 0 ? 2 : 1), column, line, pastOf(met, column));
}

/// Scores become probabilities behind dropout, without its factor, and dy . v gradients of scores without the scale.
void TensorGradient::weigh(const Met &met, const WarpPairs &pairs, int64_t column, Numbers &scores, Numbers &along) {
  Numbers slopes;
  for (Value &score : scores)
    if (operands.step) {
      auto [value, slope] = on.finishScore(score, {}, {}, {});
      score = value;
      slopes.push_back(slope);
    }
  hide(pairs, scores);
  for (auto [slope, score] : llvm::zip(slopes, scores)) { // of a hidden pair it may be anything
    Value isHidden =
        arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, score, on.real(-std::numeric_limits<double>::infinity()));
    slope = on.select(isHidden, on.real(0), slope);
  }
  Value factor = on.real(std::numbers::log2e * (operands.step ? 1 : operands.scale)), zero = on.real(0);
  Value grown = on.real(65536.0 / double(65536 - operands.threshold()));
  SmallVector<Value> keeps = on.drops ? kept(pairs) : SmallVector<Value>();
  for (size_t index = 0; index < scores.size(); ++index) {
    auto [largest, mean] = statisticsOf(met, column, index);
    Value p = on.power(math::FmaOp::create(builder, scores[index], factor, arith::NegFOp::create(builder, largest)));
    Value gradient = along[index];
    scores[index] = p;
    if (on.drops) {
      scores[index] = on.select(keeps[index], p, zero);
      gradient = on.select(keeps[index], arith::MulFOp::create(builder, gradient, grown), zero);
    }
    along[index] = arith::MulFOp::create(builder, arith::SubFOp::create(builder, gradient, mean), p);
    if (operands.step)
      along[index] = arith::MulFOp::create(builder, along[index], slopes[index]);
  }
}

/// Where rows are places: the queries that have a key on the line, which they see as far as masks are bounds.
LineLimits TensorGradient::limitsOfPlaces() {
  LineLimits limits;
  SmallVector<Mask> parts;
  collectParts(operands.masks, parts);
  Value none = on.number(0), low[2], high[2], key[2]; // key: of query 0
  for (int64_t which : {0, 1}) {
    key[which] = subtract(builder, shift, on.lineOf({firstLine, {}, false, 0}, which));
    low[which] = subtract(builder, none, key[which]);
    high[which] = minimum(builder, on.queries, add(builder, low[which], on.keys));
  }
  for (const Mask &mask : parts) {
    SmallVector<MaskForm> bounds;
    collectBounds(mask, bounds);
    const int64_t sign = bounds.empty() ? 0 : bounds[0].query + bounds[0].key;
    if (bounds.empty() || sign > 1 || sign < -1 || operands.dependsOn(bounds[0], kQueryLabel) ||
        operands.dependsOn(bounds[0], kKeyLabel)) {
      limits.others.push_back(mask);
      continue;
    }
    for (int64_t which : {0, 1}) { // sign * query + rest <= 0
      Value rest = on.form(bounds[0], none, key[which]);
      if (sign == 0)
        high[which] = on.select(on.less(none, rest), none, high[which]);
      else if (sign == 1)
        high[which] = minimum(builder, high[which], subtract(builder, on.number(1), rest));
      else
        low[which] = maximum(builder, low[which], rest);
    }
  }
  auto inside = [&](Value limit) { return on.wordOf(maximum(builder, minimum(builder, limit, on.queries), none)); };
  for (int64_t which : {0, 1}) {
    limits.low[which] = inside(low[which]);
    limits.high[which] = inside(high[which]);
  }
  return limits;
}

/// Where rows are places: query and key of number `index`, inside of them, and whether there are both.
std::pair<Value, Value> TensorGradient::pairAt(const WarpPairs &pairs, size_t index, Value &exists) {
  Value column = on.columnOf(pairs, int64_t(index)), line = on.lineOf(pairs, int64_t(index % 4 / 2));
  Value key = add(builder, subtract(builder, column, line), shift);
  Value inside = maximum(builder, on.within(key, on.keys), on.number(0));
  Value query = on.within(column, on.queries);
  auto same = [&](Value a, Value b) { return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, a, b); };
  exists = on.both(same(key, inside), same(column, query));
  return {query, inside};
}

void TensorGradient::hide(const WarpPairs &pairs, Numbers &scores) {
  if (!isBy(Rows::Places) || limits.others.empty())
    return on.hide(scores, pairs, limits);
  Value none = on.real(-std::numeric_limits<double>::infinity());
  for (auto [index, score] : llvm::enumerate(scores)) {
    Value exists;
    auto [query, key] = pairAt(pairs, index, exists);
    score = on.select(on.both(exists, on.visible(query, key)), score, none);
  }
}

SmallVector<Value> TensorGradient::kept(const WarpPairs &pairs) {
  if (!isBy(Rows::Places))
    return on.kept(pairs);
  SmallVector<Value> result;
  for (size_t index = 0; index < size_t(4 * pairs.blocks); ++index) {
    Value exists;
    auto [query, key] = pairAt(pairs, index, exists);
    result.push_back(on.keeps(query, key));
  }
  return result;
}

/// Of the query of number `index` of the pairs.
std::pair<Value, Value> TensorGradient::statisticsOf(const Met &met, int64_t column, size_t index) {
  if (isBy(Rows::Queries))
    return {ownLargest[index % 4 / 2], ownMean[index % 4 / 2]};
  Value ofLane = multiply(builder, remainder(builder, on.lane, on.number(4)), on.number(2));
  Value first = elementAddress(builder, at(statistics, f32, met.stage, 2 * tile.side), f32, ofLane);
  Value address = at(first, f32, column + int64_t(index / 4 * 8 + index % 2));
  Value largest = LLVM::LoadOp::create(builder, f32, address);
  return {largest, LLVM::LoadOp::create(builder, f32, at(address, f32, tile.side))};
}

} // namespace tenon::gpu
