// The gradient of a row's softmax in two passes: the row's mean has to be known before the gradients.
#include "lowering/cpu/AttentionGradients.h"
#include "lowering/cpu/LaneCode.h"

using namespace mlir;

namespace tenon::cpu {

void SoftmaxGradient::enter(Value itsBatch, Value itsHead, Value itsScoreGrads, Value itsWeights, Value itsKeepBits,
                            Value itsScoreTable) {
  batch = itsBatch, head = itsHead, scoreGrads = itsScoreGrads, weights = itsWeights, keepBits = itsKeepBits;
  scoreTable = itsScoreTable;
  zero = on.spread(on.real(0));
}

void SoftmaxGradient::storeSelected(const Block &block, Value query, Value first, Value second) {
  Value pair = on.row(wanted.selectedScores, batch, on.queries, query, head, 2).address;
  emit.branch(
      emit.equal(block.start, emit.constant(0)),
      [&] {
        on.storeScalar(first, pair);
        on.storeScalar(second, on.at(pair, on.number(1)));
      },
      [&] {
        on.storeScalar(arith::AddFOp::create(builder, on.loadScalar(pair), first), pair);
        Value next = on.at(pair, on.number(1));
        on.storeScalar(arith::AddFOp::create(builder, on.loadScalar(next), second), next);
      });
}

/// D = sum of dy * y over the width.
Value SoftmaxGradient::rowProduct(Value query) {
  Elements dy = on.row(op.getDy(), batch, on.queries, query, head, on.valueWidth),
           y = on.row(op.getY(), batch, on.queries, query, head, on.valueWidth);
  Value sum = zero;
  for (int64_t column = 0; column < on.valueWidth; column += on.rowLanes) {
    Value inside =
        column + on.rowLanes <= on.valueWidth ? Value() : firstLanes(code, on.number(on.valueWidth - column), on.rowLanes);
    Value product = arith::MulFOp::create(builder, on.loadRow(on.at(dy, on.number(column)), inside),
                                          on.loadRow(on.at(y, on.number(column)), inside));
    sum = arith::AddFOp::create(builder, sum, product);
  }
  return combineLanes(builder, Reduction::sum, sum);
}

void SoftmaxGradient::row(const Block &block, Value number) {
  AttentionScores::Row row = terms.row(block, mask, number);
  Value gradRow = on.at(scoreGrads, emit.mul(number, on.scoreStride));
  Value sum = probabilities(block, row, number, gradRow);
  if (wanted.scores())
    scoreGradients(block, row, gradRow, sum);
  if (wanted.pairScores)
    storePairs(block, row, gradRow);
  clearHidden(block, row, number, gradRow);
}

/// scores -> dropped p; scoreGrads (dy . v) -> dp; p times what the softmax's argument is multiplied by -> weights. Returns the
/// lanes of the sum of p dp over these keys.
Value SoftmaxGradient::probabilities(const Block &block, const AttentionScores::Row &row, Value number, Value gradRow) {
  Value query = row.place.query;
  Value statistic = emit.add(emit.mul(emit.add(emit.mul(batch, on.heads), head), on.queries), query);
  Value shift = on.spread(on.loadScalar(on.at(code.pointer(op.getRowMax()), statistic)));
  Value inverse = on.spread(on.loadScalar(on.at(code.pointer(op.getRowSumInverse()), statistic)));
  Value scale = on.spread(on.real(operands.scale)), grown = on.spread(on.real(65536.0 / double(65536 - threshold)));
  Value logical = terms.firstDrawn(row.place);
  Value byPlace = relative.any() ? relative.row(block, number, row.place) : Value();
  KeepBits keeps = on.keeps(operands);
  SmallVector<Value> sums;
  if (wanted.scores())
    sums.push_back(zero);
  sums = on.forRuns(block.runs, sums, [&](const KeyRun &run, ValueRange before) {
    const RowParts parts = on.partsIn(block.runs, run, row.parts);
    Value first = emit.add(logical, emit.add(block.start, parts.begin));
    if (threshold > 0)
      keeps.draw(first, emit.sub(parts.end, parts.begin), keepBits);
    return on.forVisible(
        mask, row.place, parts, run.isFull, block.start, block.high, before,
        [&](Value key, Value shown, ValueRange carried) -> SmallVector<Value> {
          Value scoreAt = on.at(row.content, key), gradAt = on.at(gradRow, key);
          AttentionScores::Score score = terms.at(block, row, key, shown, /*slope=*/wanted.scores());
          Value p = choose(
              shown, arith::MulFOp::create(builder, on.exponential(arith::SubFOp::create(builder, score.value, shift)), inverse));
          Value keep = threshold > 0 ? keeps.load(keepBits, first, emit.sub(key, parts.begin), on.rowLanes) : Value();
          auto drop = [&](Value value) { return keep ? choose(keep, arith::MulFOp::create(builder, value, grown)) : value; };
          if (wanted.value)
            on.storeRow(drop(p), scoreAt);
          Value relativeAt = byPlace ? elementAddress(builder, byPlace, on.element, key) : Value();
          Value relativeGrad = byPlace && wanted.scores() ? on.loadRow(relativeAt) : Value();
          if (wanted.valueTable)
            on.storeRow(drop(p), relativeAt);
          if (!wanted.scores())
            return {};
          Value along = on.loadRow(gradAt);
          if (relativeGrad)
            along = arith::AddFOp::create(builder, along, relativeGrad);
          Value dp = drop(choose(shown, along)), weight = arith::MulFOp::create(builder, p, scale);
          if (score.slope) // of a hidden score it may be anything
            weight = choose(shown, arith::MulFOp::create(builder, weight, score.slope));
          on.storeRow(dp, gradAt);
          on.storeRow(weight, on.at(weights, key));
          return {arith::AddFOp::create(builder, carried[0], arith::MulFOp::create(builder, p, dp))};
        });
  });
  return sums.empty() ? Value() : sums[0];
}

/// dp -> ds = (dp - D) weight, in the band by place as well. The row's mean D = sum of p dp is that of the keys while a chunk has
/// them all: what its terms have in common with dp, their rounding too, then leaves the difference. Else it is the product dy .
/// y, to which y brings the rounding of a sum over all keys.
void SoftmaxGradient::scoreGradients(const Block &block, const AttentionScores::Row &row, Value gradRow, Value sum) {
  Value mean = combineLanes(builder, Reduction::sum, sum);
  mean = on.spread(ifThen(builder, emit.less(on.number(on.chunkKeys), on.keys), mean,
                          [&]() -> SmallVector<Value> { return {rowProduct(row.place.query)}; })[0]);
  auto gradient = [&](Value key) -> Value {
    Value gradAt = on.at(gradRow, key);
    Value ds =
        arith::MulFOp::create(builder, arith::SubFOp::create(builder, on.loadRow(gradAt), mean), on.loadRow(on.at(weights, key)));
    on.storeRow(ds, gradAt);
    if (wanted.band() && !addsByPlace())
      on.storeRow(ds, elementAddress(builder, row.band, on.element, key));
    return ds;
  };
  if (addsByPlace() && operands.table) // its scores have been read
    on.fill(row.band, emit.constant(0), block.bandHigh, zero);
  if (!wanted.selectedScores && !addsByPlace()) {
    on.forRuns(block.runs, [&](const KeyRun &run) {
      const RowParts parts = on.partsIn(block.runs, run, row.parts);
      on.alongRow(parts.begin, parts.end, {}, [&](Value key, ValueRange) -> SmallVector<Value> {
        gradient(key);
        return {};
      });
    });
    return;
  }
  SmallVector<Value> sums(wanted.selectedScores ? 2 : 0, zero);
  auto add = [&](Value key, Value shown, ValueRange carried) -> SmallVector<Value> {
    Value ds = gradient(key);
    if (addsByPlace())
      addByPlace(block, row, key, shown, ds);
    if (!wanted.selectedScores)
      return {};
    Value chosen = terms.chosen(block, row, key, shown);
    Value second = arith::SelectOp::create(builder, chosen, ds, zero), first = arith::SelectOp::create(builder, chosen, zero, ds);
    return {arith::AddFOp::create(builder, carried[0], first), arith::AddFOp::create(builder, carried[1], second)};
  };
  sums = on.forRuns(block.runs, sums, [&](const KeyRun &run, ValueRange before) {
    return on.forVisible(mask, row.place, on.partsIn(block.runs, run, row.parts), run.isFull, block.start, block.high, before,
                         add);
  });
  if (wanted.selectedScores)
    storeSelected(block, row.place.query, combineLanes(builder, Reduction::sum, sums[0]),
                  combineLanes(builder, Reduction::sum, sums[1]));
}

/// The keys [low, high) of a row, from scratch, or zeros where that is null: no other row is written.
static void storeKeys(AttentionCode &on, Value from, Elements to, Value low, Value high) {
  high = on.emit.max(high, low);
  auto store = [&](Value key, Value inside) {
    on.storeRow(from ? on.loadRow(on.at(from, key)) : on.spread(on.real(0)), on.at(to, key), inside);
  };
  Value whole = on.emit.add(low, on.roundDown(on.emit.sub(high, low), on.rowLanes));
  on.alongRow(low, whole, {}, [&](Value key, ValueRange) -> SmallVector<Value> {
    store(key, {});
    return {};
  });
  store(whole, firstLanes(on.code, on.emit.sub(high, whole), on.rowLanes));
}

/// ds of the row, and zeros at the keys of the chunk that it has no scores for.
void SoftmaxGradient::storePairs(const Block &block, const AttentionScores::Row &row, Value gradRow) {
  Elements to = on.pairRow(wanted.pairScores, batch, head, row.place.query, block.start);
  Value count = keysOfChunk(block);
  Value behind = on.forRuns(block.runs, emit.constant(0), [&](const KeyRun &run, ValueRange carried) -> SmallVector<Value> {
    const RowParts parts = on.partsIn(block.runs, run, row.parts);
    Value end = emit.min(parts.end, count);
    storeKeys(on, {}, to, carried[0], parts.begin);
    storeKeys(on, gradRow, to, parts.begin, end);
    return {emit.max(end, carried[0])};
  })[0];
  storeKeys(on, {}, to, behind, count);
}

void SoftmaxGradient::storeNoPairs(const Block &block) {
  emit.loop(emit.constant(0), block.rows, 1, [&](Value row) {
    Value query = emit.add(block.firstQuery, row);
    storeKeys(on, {}, on.pairRow(wanted.pairScores, batch, head, query, block.start), emit.constant(0), keysOfChunk(block));
  });
}

/// To the row of the band, or, if only a table of scores asks for it, to its gradient.
void SoftmaxGradient::addByPlace(const Block &block, const AttentionScores::Row &row, Value key, Value shown, Value ds) {
  for (Value place : terms.placesOf(block, row, key, shown))
    on.scatterAdd(choose(shown, ds), on.atEach(operands.table ? row.band : scoreTable, place));
}

/// Zero gradients and probabilities at the hidden keys of a row that contractions read.
void SoftmaxGradient::clearHidden(const Block &block, const AttentionScores::Row &row, Value number, Value gradRow) {
  for (Value strip : {wanted.value ? row.content : Value(), wanted.scores() ? gradRow : Value()})
    if (strip) {
      on.fill(strip, terms.clearFrom(block.stairs, block.low, block.low, number), row.parts.begin, zero);
      on.fill(strip, row.parts.end, terms.clearTo(block.stairs, block.low, block.high, number), zero);
    }
  if (wanted.valueTable)
    relative.clearHidden(block, number, row.place, row.parts, zero);
  if (!wanted.band() || addsByPlace())
    return;
  Value bandRow = on.at(terms.band, emit.mul(number, terms.bandStride));
  Value shift = emit.sub(emit.add(terms.tables.placeOf(on, terms.table, row.place), block.start),
                         block.bandStart); // column of key 0 of the chunk
  Value begin = emit.max(emit.add(shift, row.parts.begin), block.bandLow), end = emit.add(shift, row.parts.end);
  bool all = bool(wanted.scoreTable); // sums whole columns
  Value origin = emit.constant(0), from = terms.clearFrom(block.bandStairs, origin, block.bandLow, number),
        to = terms.clearTo(block.bandStairs, origin, block.bandHigh, number);
  on.fill(bandRow, all ? block.bandLow : from, begin, zero, /*exactly=*/true);
  on.fill(bandRow, end, all ? block.bandHigh : to, zero);
  if (block.runs.memory)
    clearBetweenRuns(block, row);
}

/// Zero gradients by place at the keys between runs, as far as the other rows of the band have some there.
void SoftmaxGradient::clearBetweenRuns(const Block &block, const AttentionScores::Row &row) {
  auto clear = [&](Value from, Value to) {
    to = emit.max(from, to);
    on.fill(row.band, from, emit.min(emit.add(from, block.spread), to), zero, /*exactly=*/true);
    on.fill(row.band, emit.max(emit.sub(to, block.spread), from), to, zero, /*exactly=*/true);
  };
  Value behind = on.forRuns(block.runs, row.parts.begin, [&](const KeyRun &run, ValueRange carried) -> SmallVector<Value> {
    const RowParts parts = on.partsIn(block.runs, run, row.parts);
    clear(carried[0], parts.begin);
    return {parts.end};
  })[0];
  clear(behind, row.parts.end);
}

} // namespace tenon::cpu
