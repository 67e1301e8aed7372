// tenon.attention_grad: a task is one (batch, key head). The heads of its group and their query strips in order; the gradients of keys and values of a chunk stay in scratch, those of the tables in a
// temporary. Up to eight contractions, only those whose result is read.
#include "dialect/TensorSizes.h"
#include "dialect/Refusal.h"
#include "lowering/cpu/AttentionRelativeValues.h"
#include "lowering/cpu/LaneCode.h"
#include <cmath>

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Which gradients are read; null: nobody does.
struct Wanted {
  Value query, key, value, positionQuery, table, selectedScores, scoreTable, valueTable;
  explicit Wanted(AttentionGradOp op)
      : query(read(op.getDquery())), key(read(op.getDkey())), value(read(op.getDvalue())), positionQuery(read(op.getDpositionQuery())), table(read(op.getDtable())),
        selectedScores(read(op.getDselectedScores())), scoreTable(read(op.getDscoreTable())), valueTable(read(op.getDvalueTable())) {}
  static Value read(Value result) { return result && !result.use_empty() ? result : Value(); }
  /// Gradients that need those of the scores by relative position.
  bool band() const { return positionQuery || table || scoreTable; }
  bool scores() const { return query || key || selectedScores || band(); }
  bool any() const { return scores() || value || valueTable; }
};

struct BackwardScratch {
  int64_t scores, queryRows, yRows, scoreGrads, weights, band, valueBand, keyPanels, valuePanels, keyRows, keyGrads, valueGrads, queryPanels, yPanels, positionPanels, queryGrads, keepBits, end;
  BackwardScratch(Tier tier, const AttentionOperands &operands, const AttentionTables &tables, const Wanted &wanted) {
    const int64_t rows = AttentionCode::stripLimit, chunk = AttentionCode::chunkKeys, keyWidth = operands.keyWidth(), valueWidth = operands.valueWidth();
    Type element = operands.element();
    ScratchPlan plan;
    auto panels = [&](int64_t depth, int64_t columns) { return plan.take(AttentionCode::panelElements(tier, element, depth, columns)); };
    auto rowsOf = [&](int64_t count, int64_t width) { return plan.take(count * AttentionCode::sumWidth(tier, element, width)); };
    scores = plan.take(AttentionCode::scoreElements());
    scoreGrads = plan.take(AttentionCode::scoreElements());
    weights = plan.take(AttentionCode::chunkKeys + 16);
    queryRows = plan.take(AttentionScores::rowElements(operands));
    yRows = plan.take(rows * AttentionCode::rowWidth(valueWidth));
    band = plan.take(operands.table || wanted.band() ? AttentionScores::bandElements(tables) : 0);
    valueBand = plan.take(operands.valueTable ? AttentionScores::bandElements(tables) : 0);
    keyPanels = panels(keyWidth, chunk);
    valuePanels = panels(valueWidth, chunk);
    keyRows = panels(chunk, keyWidth);
    keyGrads = rowsOf(chunk, keyWidth);
    valueGrads = rowsOf(chunk, valueWidth);
    queryPanels = panels(rows, keyWidth);
    yPanels = panels(rows, valueWidth);
    positionPanels = wanted.table ? panels(rows, keyWidth) : 0;
    queryGrads = rowsOf(rows, keyWidth);
    keepBits = AttentionScores::takeKeepBits(plan, operands);
    end = plan.end;
  }
};

/// Gradients of the tables of one (batch, head), by place: elements between rows, the same in every tier.
int64_t tableGradWidth(const AttentionOperands &operands) { return AttentionCode::roundUp(operands.keyWidth(), 32); }

class AttentionBackward {
public:
  using Trim = BlockContraction::Trim;
  using Block = AttentionScores::Block;

  AttentionBackward(AttentionGradOp op, FunctionCode &code, const AttentionOperands &operands, const AttentionMask &mask, const IndexOperands &indices,
                    const AttentionTables &tables)
      : op(op), code(code), operands(operands), on(code, operands), builder(code.builder), emit(on.emit), mask(mask), tables(tables),
        terms(on, operands, indices, tables), relative(on, operands, terms), wanted(op), scratch(code.tier, operands, tables, wanted) {
    threshold = operands.threshold();
    keyStride = AttentionCode::sumWidth(code.tier, on.element, on.keyWidth);
    valueStride = AttentionCode::sumWidth(code.tier, on.element, on.valueWidth);
  }

  Value tiles() { return emit.mul(on.batches, on.keyHeads); }

  void emitTile() {
    batch = emit.div(code.tile, emit.constant(on.keyHeads));
    keyHead = emit.rem(code.tile, emit.constant(on.keyHeads));
    zero = on.spread(on.real(0));
    auto place = [&](int64_t offset) { return on.at(code.scratch, on.number(offset)); };
    scoreGrads = place(scratch.scoreGrads), keyPanels = place(scratch.keyPanels), valuePanels = place(scratch.valuePanels);
    keyRows = place(scratch.keyRows), keyGrads = place(scratch.keyGrads), valueGrads = place(scratch.valueGrads);
    queryPanels = place(scratch.queryPanels), yPanels = place(scratch.yPanels), positionPanels = place(scratch.positionPanels), queryGrads = place(scratch.queryGrads);
    yRows = place(scratch.yRows), weights = place(scratch.weights), keepBits = place(scratch.keepBits);
    if (on.group == 1)
      enterHead(emit.constant(0));
    forHeads([&] { clearTables(); });
    emit.loop(emit.constant(0), emit.ceilDiv(on.keys, AttentionCode::chunkKeys), 1, [&](Value chunk) { emitChunk(chunk); });
    forHeads([&] { storeTables(); });
  }

private:
  void enterHead(Value number) {
    auto place = [&](int64_t offset) { return on.at(code.scratch, on.number(offset)); };
    member = number;
    head = emit.add(emit.mul(keyHead, on.group), member);
    bool banded = operands.table || wanted.band();
    terms.enter(batch, head, place(scratch.scores), banded ? place(scratch.band) : Value(), place(scratch.queryRows), tables.any() ? code.temporary(0) : Value());
    relative.enter(place(scratch.valueBand));
    placeTables();
  }

  /// One after the other, in this order for any number of threads: their gradients of keys and values add up.
  void forHeads(llvm::function_ref<void()> body) {
    if (on.group == 1)
      return body();
    emit.loop(emit.constant(0), emit.constant(on.group), 1, [&](Value number) {
      enterHead(number);
      body();
    });
  }

  void placeTables() {
    unsigned next = 1;
    Value pair = emit.add(emit.mul(batch, on.heads), head), places = tables.any() ? tables.places(on) : Value();
    auto part = [&](Value elements) { return on.at(code.temporary(next++), emit.mul(pair, elements)); };
    if (wanted.table)
      tableGrads = part(tableGradElements = emit.mul(places, tableGradWidth(operands)));
    if (wanted.scoreTable)
      scoreTableGrads = part(scoreTableGradElements = emit.roundUp(places, 16));
    if (wanted.valueTable)
      valueTableGrads = part(valueTableGradElements = emit.mul(places, RelativeValues::gradientWidth(operands)));
  }

  void clearTables() {
    auto clear = [&](Value wants, Value grads, Value elements) {
      if (wants)
        on.fill(grads, emit.constant(0), elements, zero);
    };
    clear(wanted.table, tableGrads, tableGradElements);
    clear(wanted.scoreTable, scoreTableGrads, scoreTableGradElements);
    clear(wanted.valueTable, valueTableGrads, valueTableGradElements);
  }

  /// From places to rows of the tables.
  void storeTables() {
    if (!tables.any())
      return;
    Value count = tables.places(on);
    auto rowOf = [&](Value place) { return emit.select(terms.table.falls, emit.sub(emit.sub(count, 1), place), place); };
    if (wanted.table)
      emit.loop(emit.constant(0), count, 1, [&](Value place) {
        on.copyRow(on.at(tableGrads, emit.mul(place, tableGradWidth(operands))), on.row(wanted.table, batch, count, rowOf(place), head, on.keyWidth), on.keyWidth, false);
      });
    if (wanted.scoreTable)
      emit.loop(emit.constant(0), count, 1, [&](Value place) {
        on.storeScalar(on.loadScalar(on.at(scoreTableGrads, place)), on.row(wanted.scoreTable, batch, count, rowOf(place), head, 1));
      });
    if (wanted.valueTable)
      emit.loop(emit.constant(0), count, 1, [&](Value place) {
        on.copyRow(on.at(valueTableGrads, emit.mul(place, RelativeValues::gradientWidth(operands))),
                   on.row(wanted.valueTable, batch, count, rowOf(place), head, on.valueWidth), on.valueWidth, false);
      });
  }

  /// What each contraction of a strip asks for: rows of the next strip, a part of the keys and values of the next chunk (of this head or the next), what is written
  /// after this strip and, with the last one, after this chunk.
  struct Ahead {
    SmallVector<RowsAhead> content, band, y, value, key, query, table;
  };

  Ahead aheadOf(const Block &block) {
    Value following = emit.add(block.firstQuery, on.stripRows), over = emit.lessEqual(on.queries, following), none = on.number(0);
    Value isLast = emit.equal(member, on.number(on.group - 1));
    Value afterBatch = emit.select(isLast, next.batch, batch), afterHead = emit.select(isLast, emit.mul(next.head, on.group), emit.add(head, 1));
    Value queryBatch = emit.select(over, afterBatch, batch), queryHead = emit.select(over, afterHead, head), query = emit.select(over, none, following);
    auto queries = [&](Value tensor, int64_t width) { return on.ahead(tensor, queryBatch, on.queries, query, queryHead, width, block.rows); };
    Value part = emit.min(emit.ceilDiv(count, emit.mul(on.strips, on.group)), emit.mul(block.rows, AttentionCode::keysAhead));
    Value strip = emit.add(emit.mul(member, on.strips), emit.div(block.firstQuery, on.stripRows));
    Value key = emit.add(next.start, emit.mul(strip, part));
    Value atEnd = emit.select(emit.select(isLast, over, isLast), emit.min(count, emit.mul(block.rows, AttentionCode::keysAhead)), none);
    auto results = [&](Value tensor, int64_t width, Value rows) { return on.keysAheadOf(tensor, batch, start, keyHead, width, rows, /*write=*/true); };
    auto gradients = [&](Value tensor) { return on.ahead(tensor, batch, on.queries, block.firstQuery, head, on.keyWidth, block.rows, /*write=*/true); };
    Ahead ahead;
    ahead.content.push_back(queries(operands.query, on.keyWidth));
    if (operands.positionQuery)
      ahead.band.push_back(queries(operands.positionQuery, on.keyWidth));
    ahead.y.push_back(on.keysAheadOf(operands.key, next.batch, key, next.head, on.keyWidth, part));
    (operands.table ? ahead.band : ahead.y).push_back(on.keysAheadOf(operands.value, next.batch, key, next.head, on.valueWidth, part));
    if (wanted.query)
      ahead.value.push_back(gradients(wanted.query));
    if (wanted.value)
      ahead.value.push_back(results(wanted.value, on.valueWidth, atEnd));
    ahead.key.push_back(queries(op.getDy(), on.valueWidth));
    if (wanted.key)
      ahead.key.push_back(results(wanted.key, on.keyWidth, atEnd));
    ahead.query.push_back(queries(op.getY(), on.valueWidth));
    ahead.query.back().rows = emit.select(emit.less(on.number(AttentionCode::chunkKeys), on.keys), block.rows, none);
    if (wanted.positionQuery)
      ahead.table.push_back(gradients(wanted.positionQuery));
    return ahead;
  }

  void emitChunk(Value chunk) {
    start = emit.mul(chunk, AttentionCode::chunkKeys);
    count = emit.min(emit.sub(on.keys, start), AttentionCode::chunkKeys);
    Value following = emit.add(start, AttentionCode::chunkKeys), isLast = emit.lessEqual(on.keys, following), wraps = emit.equal(emit.add(keyHead, 1), on.number(on.keyHeads));
    next.batch = emit.select(isLast, emit.select(wraps, emit.add(batch, 1), batch), batch);
    next.head = emit.select(isLast, emit.select(wraps, emit.constant(0), emit.add(keyHead, 1)), keyHead);
    next.start = emit.select(isLast, emit.constant(0), following);
    Value keyStep = on.number(on.keyHeads * on.keyWidth), valueStep = on.number(on.keyHeads * on.valueWidth);
    Value key = on.keyRow(operands.key, batch, start, keyHead, on.keyWidth), value = on.keyRow(operands.value, batch, start, keyHead, on.valueWidth);
    on.packColumns(key, count, on.keyWidth, keyPanels, keyStep);
    if (wanted.scores())
      on.packColumns(value, count, on.valueWidth, valuePanels, valueStep);
    if (wanted.query)
      on.packRows(key, count, on.keyWidth, keyRows, on.panelStride(count), keyStep);
    if (wanted.key)
      on.fill(keyGrads, emit.constant(0), emit.mul(count, keyStride), zero);
    if (wanted.value)
      on.fill(valueGrads, emit.constant(0), emit.mul(count, valueStride), zero);
    forHeads([&] {
      emit.loop(emit.constant(0), on.strips, 1, [&](Value strip) {
        Value firstQuery = emit.mul(strip, on.stripRows);
        terms.forGroups(firstQuery, emit.min(on.stripRows, emit.sub(on.queries, firstQuery)), [&](Block block) { emitBlock(block); });
      });
    });
    auto store = [&](Value grads, int64_t stride, Value result, int64_t width) {
      if (result)
        emit.loop(emit.constant(0), count, 1, [&](Value key) {
          on.copyRow(on.at(grads, emit.mul(key, stride)), on.keyRow(result, batch, emit.add(start, key), keyHead, width), width, false);
        });
    };
    store(keyGrads, keyStride, wanted.key, on.keyWidth);
    store(valueGrads, valueStride, wanted.value, on.valueWidth);
  }

  void emitBlock(Block block) {
    KeyRange range = mask.ofStrip(code, batch, block.firstQuery, emit.sub(emit.add(block.firstQuery, block.rows), 1), on.keys);
    terms.setKeys(block, mask, range, start, count);
    Value some = emit.select(emit.less(range.low, range.high), emit.less(block.low, block.high), emit.flag(false));
    emit.branch(some, [&] { emitTerms(block); }, [&] { storeNothing(block); });
  }

  /// Gradients of queries that see no key of the chunk.
  void storeNothing(const Block &block) {
    emit.branch(emit.equal(start, emit.constant(0)), [&] {
      if (wanted.query || wanted.positionQuery)
        on.fill(queryGrads, emit.constant(0), emit.mul(block.rows, keyStride), zero);
      for (Value result : {wanted.query, wanted.positionQuery})
        storeQueries(block, result);
      if (wanted.selectedScores)
        emit.loop(emit.constant(0), block.rows, 1, [&](Value row) { storeSelected(emit.add(block.firstQuery, row), on.real(0), on.real(0)); });
    });
  }

  /// queryGrads to the tensor, onto what earlier chunks of keys gave.
  void storeQueries(const Block &block, Value result) {
    if (!result)
      return;
    auto write = [&](bool adds) {
      emit.loop(emit.constant(0), block.rows, 1, [&](Value row) {
        on.copyRow(on.at(queryGrads, emit.mul(row, keyStride)), on.row(result, batch, on.queries, emit.add(block.firstQuery, row), head, on.keyWidth), on.keyWidth, adds);
      });
    };
    emit.branch(emit.equal(start, emit.constant(0)), [&] { write(false); }, [&] { write(true); });
  }

  void storeSelected(Value query, Value first, Value second) {
    Value pair = on.row(wanted.selectedScores, batch, on.queries, query, head, 2);
    emit.branch(emit.equal(start, emit.constant(0)),
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

  void emitTerms(const Block &block) {
    Value keysHere = emit.sub(block.high, block.low), one = on.number(1), rows = block.rows;
    Value dy = on.row(op.getDy(), batch, on.queries, block.firstQuery, head, on.valueWidth);
    Value gradsHere = on.at(scoreGrads, block.low);
    Ahead ahead = aheadOf(block);
    terms.contract(block, keyPanels, ahead.content, ahead.band);
    if (wanted.scores()) {
      Value step = on.panelStride(on.valueWidth);
      on.gatherRows(dy, rows, on.valueWidth, yRows, on.number(on.heads * on.valueWidth));
      on.contract({rows, keysHere, on.number(on.valueWidth), yRows, on.number(AttentionCode::rowWidth(on.valueWidth)), one,
                   on.at(valuePanels, emit.mul(emit.div(block.low, on.width), step)), step, gradsHere, on.scoreStride, false, Trim::ColumnsOfC, block.stairs, ahead.y});
    }
    if (relative.any() && wanted.scores())
      relative.contractGradients(block, yRows);
    emit.loop(emit.constant(0), rows, 1, [&](Value row) { gradientRow(block, row); });
    if (wanted.value || wanted.valueTable)
      on.packRows(dy, rows, on.valueWidth, yPanels, on.panelStride(rows), on.number(on.heads * on.valueWidth));
    if (wanted.valueTable)
      relative.addTableGradients(block, yPanels, valueTableGrads);
    if (wanted.value)
      on.contract({keysHere, on.number(on.valueWidth), rows, on.at(terms.scores, block.low), one, on.scoreStride, yPanels, on.panelStride(rows),
                   on.at(valueGrads, emit.mul(block.low, valueStride)), on.number(valueStride), true, Trim::RowsOfA, block.stairs, ahead.value});
    if (wanted.key) {
      on.packRows(terms.queryRows, rows, on.keyWidth, queryPanels, on.panelStride(rows), on.number(AttentionCode::rowWidth(on.keyWidth)));
      on.contract({keysHere, on.number(on.keyWidth), rows, gradsHere, one, on.scoreStride, queryPanels, on.panelStride(rows),
                   on.at(keyGrads, emit.mul(block.low, keyStride)), on.number(keyStride), true, Trim::RowsOfA, block.stairs, ahead.key});
    }
    if (wanted.query) {
      on.contract({rows, on.number(on.keyWidth), keysHere, gradsHere, on.scoreStride, one, on.at(keyRows, emit.mul(block.low, on.width)), on.panelStride(count), queryGrads,
                   on.number(keyStride), false, Trim::ColumnsOfA, block.stairs, ahead.query});
      storeQueries(block, wanted.query);
    }
    if (wanted.band())
      emitBand(block, ahead.table);
  }

  /// Gradients by relative position, from the band that gradientRow filled.
  void emitBand(const Block &block, ArrayRef<RowsAhead> ahead) {
    Value places = emit.sub(block.bandHigh, block.bandLow), rows = block.rows, one = on.number(1);
    Value first = emit.add(block.bandStart, block.bandLow), here = on.at(terms.band, block.bandLow);
    Staircase stairs = terms.from(block.bandStairs, block.bandLow);
    if (wanted.table)
      emit.branch(emit.less(emit.constant(0), places), [&] {
        on.packRows(terms.positionRows, rows, on.keyWidth, positionPanels, on.panelStride(rows), on.number(AttentionCode::rowWidth(on.keyWidth)));
        Value stride = on.number(tableGradWidth(operands));
        on.contract({places, on.number(on.keyWidth), rows, here, one, terms.bandStride, positionPanels, on.panelStride(rows), on.at(tableGrads, emit.mul(first, stride)), stride,
                     true, Trim::RowsOfA, stairs, SmallVector<RowsAhead>(ahead)});
      });
    if (wanted.positionQuery) {
      on.contract({rows, on.number(on.keyWidth), places, here, terms.bandStride, one, elementAddress(builder, terms.table.rows, on.element, emit.mul(first, on.width)),
                   terms.table.rowStride, queryGrads, on.number(keyStride), false, Trim::ColumnsOfA, stairs});
      storeQueries(block, wanted.positionQuery);
    }
    if (wanted.scoreTable)
      on.alongRow(emit.constant(0), places, {}, [&](Value place, ValueRange) -> SmallVector<Value> {
        Value inside = firstLanes(code, emit.sub(places, place), on.rowLanes), address = on.at(scoreTableGrads, emit.add(first, place));
        Value sum = forLoop(builder, emit.constant(0), rows, one, on.loadRow(address, inside), [&](Value row, ValueRange carried) -> SmallVector<Value> {
          Value term = on.loadRow(on.at(here, emit.add(emit.mul(row, terms.bandStride), place)));
          return {arith::AddFOp::create(builder, carried[0], term)};
        })[0];
        on.storeRow(sum, address, inside);
        return {};
      });
  }

  /// D = sum of dy * y over the width.
  Value rowProduct(Value query) {
    Value dy = on.row(op.getDy(), batch, on.queries, query, head, on.valueWidth), y = on.row(op.getY(), batch, on.queries, query, head, on.valueWidth);
    Value sum = zero;
    for (int64_t column = 0; column < on.valueWidth; column += on.rowLanes) {
      Value inside = column + on.rowLanes <= on.valueWidth ? Value() : firstLanes(code, on.number(on.valueWidth - column), on.rowLanes);
      Value product = arith::MulFOp::create(builder, on.loadRow(on.at(dy, on.number(column)), inside), on.loadRow(on.at(y, on.number(column)), inside));
      sum = arith::AddFOp::create(builder, sum, product);
    }
    return combineLanes(builder, Reduction::sum, sum);
  }

  /// scores -> dropped p; scoreGrads (dy . v) -> ds = p (dp - D) scale.
  void gradientRow(const Block &block, Value number) {
    AttentionScores::Row row = terms.row(block, mask, number);
    Value gradRow = on.at(scoreGrads, emit.mul(number, on.scoreStride));
    Value sum = probabilities(block, row, number, gradRow);
    if (wanted.scores())
      scoreGradients(block, row, gradRow, sum);
    clearHidden(block, row, number, gradRow);
  }

  /// scores -> dropped p; scoreGrads (dy . v) -> dp; p times what the softmax's argument is multiplied by -> weights. Returns the lanes of the sum of p dp over these keys.
  Value probabilities(const Block &block, const AttentionScores::Row &row, Value number, Value gradRow) {
    Value query = row.place.query;
    Value statistic = emit.add(emit.mul(emit.add(emit.mul(batch, on.heads), head), on.queries), query);
    Value shift = on.spread(on.loadScalar(on.at(code.pointer(op.getRowMax()), statistic)));
    Value inverse = on.spread(on.loadScalar(on.at(code.pointer(op.getRowSumInverse()), statistic)));
    Value scale = on.spread(on.real(operands.scale)), grown = on.spread(on.real(65536.0 / double(65536 - threshold)));
    Value logical = emit.mul(emit.add(emit.mul(emit.add(emit.mul(batch, on.queries), query), on.heads), head), on.keys);
    Value byPlace = relative.any() ? relative.row(block, number, row.place) : Value();
    Value first = emit.add(logical, emit.add(start, row.parts.begin));
    KeepBits keeps = on.keeps(operands);
    if (threshold > 0)
      keeps.draw(first, emit.sub(row.parts.end, row.parts.begin), keepBits);
    auto choose = [&](Value condition, Value value) -> Value { return condition ? Value(arith::SelectOp::create(builder, condition, value, zero)) : value; };
    SmallVector<Value> sums;
    if (wanted.scores())
      sums.push_back(zero);
    sums = on.forVisible(mask, row.place, row.parts, start, block.low, block.high, sums, [&](Value key, Value shown, ValueRange carried) -> SmallVector<Value> {
      Value scoreAt = on.at(row.content, key), gradAt = on.at(gradRow, key);
      AttentionScores::Score score = terms.at(block, row, key, shown, /*slope=*/wanted.scores());
      Value p = choose(shown, arith::MulFOp::create(builder, on.exponential(arith::SubFOp::create(builder, score.value, shift)), inverse));
      Value keep = threshold > 0 ? keeps.load(keepBits, first, emit.sub(key, row.parts.begin), on.rowLanes) : Value();
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
    return sums.empty() ? Value() : sums[0];
  }

  /// dp -> ds = (dp - D) weight, in the band by place as well. The row's mean D = sum of p dp is that of the keys while a chunk has them all: what its terms have in common with dp, their
  /// rounding too, then leaves the difference. Else it is the product dy . y, to which y brings the rounding of a sum over all keys.
  void scoreGradients(const Block &block, const AttentionScores::Row &row, Value gradRow, Value sum) {
    Value mean = combineLanes(builder, Reduction::sum, sum);
    mean = on.spread(ifThen(builder, emit.less(on.number(AttentionCode::chunkKeys), on.keys), mean, [&]() -> SmallVector<Value> { return {rowProduct(row.place.query)}; })[0]);
    auto gradient = [&](Value key) -> Value {
      Value gradAt = on.at(gradRow, key);
      Value ds = arith::MulFOp::create(builder, arith::SubFOp::create(builder, on.loadRow(gradAt), mean), on.loadRow(on.at(weights, key)));
      on.storeRow(ds, gradAt);
      if (wanted.band())
        on.storeRow(ds, elementAddress(builder, row.band, on.element, key));
      return ds;
    };
    if (!wanted.selectedScores) {
      on.alongRow(row.parts.begin, row.parts.end, {}, [&](Value key, ValueRange) -> SmallVector<Value> {
        gradient(key);
        return {};
      });
      return;
    }
    SmallVector<Value> sums(2, zero);
    sums = on.forVisible(mask, row.place, row.parts, start, block.low, block.high, sums, [&](Value key, Value shown, ValueRange carried) -> SmallVector<Value> {
      Value ds = gradient(key), chosen = terms.chosen(block, row, key, shown);
      Value second = arith::SelectOp::create(builder, chosen, ds, zero), first = arith::SelectOp::create(builder, chosen, zero, ds);
      return {arith::AddFOp::create(builder, carried[0], first), arith::AddFOp::create(builder, carried[1], second)};
    });
    storeSelected(row.place.query, combineLanes(builder, Reduction::sum, sums[0]), combineLanes(builder, Reduction::sum, sums[1]));
  }

  /// Zero gradients and probabilities at the hidden keys of a row that contractions read.
  void clearHidden(const Block &block, const AttentionScores::Row &row, Value number, Value gradRow) {
    for (Value strip : {wanted.value ? row.content : Value(), wanted.scores() ? gradRow : Value()})
      if (strip) {
        on.fill(strip, terms.clearFrom(block.stairs, block.low, row.parts.begin), row.parts.begin, zero);
        on.fill(strip, row.parts.end, terms.clearTo(block.stairs, row.parts.end, block.high), zero);
      }
    if (wanted.valueTable)
      relative.clearHidden(block, number, row.place, row.parts, zero);
    if (!wanted.band())
      return;
    Value bandRow = on.at(terms.band, emit.mul(number, terms.bandStride));
    Value shift = emit.sub(emit.add(tables.placeOf(on, terms.table, row.place), start), block.bandStart); // column of key 0 of the chunk
    Value begin = emit.max(emit.add(shift, row.parts.begin), block.bandLow), end = emit.add(shift, row.parts.end);
    bool all = bool(wanted.scoreTable); // sums whole columns
    on.fill(bandRow, all ? block.bandLow : terms.clearFrom(block.bandStairs, block.bandLow, begin), begin, zero, /*exactly=*/true);
    on.fill(bandRow, end, all ? block.bandHigh : terms.clearTo(block.bandStairs, end, block.bandHigh), zero);
  }

  AttentionGradOp op;
  FunctionCode &code;
  const AttentionOperands &operands;
  AttentionCode on;
  ImplicitLocOpBuilder &builder;
  Emitter &emit;
  const AttentionMask &mask;
  const AttentionTables &tables;
  AttentionScores terms;
  RelativeValues relative;
  Wanted wanted;
  BackwardScratch scratch;
  int64_t threshold, keyStride, valueStride;
  Value batch, keyHead, member, head, zero, scoreGrads, weights, keyPanels, valuePanels, keyRows, keyGrads, valueGrads, queryPanels, yRows, yPanels, positionPanels, queryGrads, keepBits;
  Value tableGrads, scoreTableGrads, valueTableGrads; // of a head, by place
  Value tableGradElements, scoreTableGradElements, valueTableGradElements;
  Value start, count;
  struct {
    Value batch, head, start; // of keys
  } next; // chunk of keys that is read after this one, of this task or the one behind it
};

} // namespace

LogicalResult generateAttentionGrad(Operation *operation, KernelSequence &sequence) {
  auto op = cast<AttentionGradOp>(operation);
  AttentionOperands operands(op);
  Type element = operands.element();
  if (!element.isF32() && !element.isF64())
    return notSupported(op) << "attention of elements other than f32 and f64";
  Wanted wanted(op);
  if (!wanted.any())
    return success();
  IndexOperands indices(operands.labels, operands.indexOperands);
  AttentionMask mask(operands.mask, indices);
  AttentionTables tables(operands, indices, /*forGradient=*/true);
  Kernel kernel{"attention_grad", op.getLoc(), operands.tensors(), {}, {}, {}, 0, {}, {}};
  kernel.reads.append({op.getDy(), op.getY(), op.getRowMax(), op.getRowSumInverse()});
  for (Value result : op.getResults())
    if (Wanted::read(result))
      kernel.writes.push_back(result);
  if (tables.any()) {
    kernel.temporaries.push_back(tables.pack(sequence, op.getLoc()));
    AffineExpr batches = sizesOf(cast<RankedTensorType>(operands.query.getType()))[0];
    AffineExpr places = sizesOf(cast<RankedTensorType>(operands.anyTable().getType()))[0];
    AffineExpr tasks = batches * (operands.heads() * elementBytes(element));
    if (wanted.table)
      kernel.temporaries.push_back(sequence.temporary(tasks * places * tableGradWidth(operands)));
    if (wanted.scoreTable)
      kernel.temporaries.push_back(sequence.temporary(tasks * (places.ceilDiv(16) * 16)));
    if (wanted.valueTable)
      kernel.temporaries.push_back(sequence.temporary(tasks * places * RelativeValues::gradientWidth(operands)));
  }
  kernel.scratchBytes = BackwardScratch(sequence.tier(), operands, tables, wanted).end * elementBytes(element);
  auto codeOf = [&](FunctionCode &code) { return AttentionBackward(op, code, operands, mask, indices, tables); };
  kernel.tiles = [&](FunctionCode &code) { return codeOf(code).tiles(); };
  kernel.body = [&](FunctionCode &code) { codeOf(code).emitTile(); };
  sequence.add(kernel);
  return success();
}

} // namespace tenon::cpu
