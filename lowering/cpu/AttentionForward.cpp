// tenon.attention: a task is a part of the query strips of one (batch, key head); keys and values are packed once per task while
// they fit, for all heads that share them; scores live in one strip.
#include "dialect/Places.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/AttentionRelativeKeys.h"
#include "lowering/cpu/AttentionRelativeValues.h"
#include "lowering/cpu/LaneCode.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Keys that are summed at a time where there are more than a chunk has.
constexpr int64_t kPartKeys = KeyRuns::kTileKeys;

struct ForwardScratch {
  ScratchPlan plan;
  RelativeKeys::Scratch keys;
  int64_t scores, band, rows, keyPanels, valuePanels, sums, partSums, maxima, totals, keepBits, runs, end;
  ForwardScratch(Tier tier, const AttentionOperands &operands, const AttentionTables &tables, const AttentionMask &mask)
      : keys(plan, tier, operands, tables, /*gradients=*/false) {
    const int64_t limit = AttentionCode::stripLimit, chunk = operands.chunkKeys;
    Type element = operands.element();
    scores = plan.take(AttentionCode::scoreElements(operands));
    band = plan.take(operands.table || operands.valueTable ? AttentionScores::bandElements(operands, tables) : 0);
    rows = plan.take(AttentionScores::rowElements(operands));
    auto panels = [&](int64_t depth, int64_t columns) {
      return plan.take(
          operands.reads == AttentionOperands::Reads::InPlace ? 0 : AttentionCode::panelElements(tier, element, depth, columns));
    };
    keyPanels = panels(operands.keyWidth(), chunk);
    valuePanels = panels(chunk, operands.valueWidth());
    sums = plan.take(limit * (AttentionCode::sumWidth(tier, element, operands.valueWidth()) + 16));
    partSums = plan.take(limit * (AttentionCode::sumWidth(tier, element, operands.valueWidth()) + 16));
    maxima = plan.take(limit);
    totals = plan.take(limit);
    keepBits = AttentionScores::takeKeepBits(plan, operands);
    runs = plan.take(AttentionScores::runElements(operands, mask));
    end = plan.end;
  }
};

class AttentionForward {
public:
  AttentionForward(AttentionOp op, FunctionCode &code, const AttentionOperands &operands, const AttentionMask &mask,
                   const IndexOperands &indices, const AttentionTables &tables)
      : op(op), code(code), operands(operands), on(code, operands), builder(code.builder), emit(on.emit), mask(mask),
        tables(tables), terms(on, operands, indices, tables), relative(on, operands, terms), relativeKeys(on, operands, terms),
        scratch(code.tier, operands, tables, mask) {
    threshold = operands.threshold();
    sumStride = AttentionCode::sumWidth(code.tier, on.element, on.valueWidth);
  }

  Value parts() {
    Value pairs = emit.max(emit.mul(on.batches, on.keyHeads), int64_t(1));
    return emit.max(emit.min(emit.ceilDiv(emit.constant(operands.tasks), pairs), strips()), int64_t(1));
  }
  Value tiles() { return emit.mul(emit.mul(on.batches, on.keyHeads), parts()); }
  /// Of all heads that share keys.
  Value strips() { return emit.mul(on.strips, on.group); }

  void emitTile() {
    Value count = parts(), part = emit.rem(code.tile, count), pair = emit.div(code.tile, count);
    batch = emit.div(pair, emit.constant(on.keyHeads));
    keyHead = head = emit.rem(pair, emit.constant(on.keyHeads));
    auto place = [&](int64_t offset) { return on.at(code.scratch, on.number(offset)); };
    keyPanels = place(scratch.keyPanels), valuePanels = place(scratch.valuePanels), sums = place(scratch.sums),
    partSums = place(scratch.partSums);
    maxima = place(scratch.maxima), totals = place(scratch.totals), keepBits = place(scratch.keepBits);
    relativeKeys.enter(batch, keyHead, place, scratch.keys);
    if (AttentionScores::runElements(operands, mask) > 0)
      terms.runs = place(scratch.runs);
    auto enter = [&] {
      terms.enter(batch, head, place(scratch.scores), operands.table || relative.any() ? place(scratch.band) : Value(),
                  place(scratch.rows), tables.any() ? code.temporary(0) : Value());
      relative.enter(terms.band);
    };
    if (on.group == 1)
      enter();
    fits = emit.lessEqual(on.keys, emit.constant(on.chunkKeys));
    Value first = emit.div(emit.mul(part, strips()), count), end = emit.div(emit.mul(emit.add(part, 1), strips()), count);
    Value packsOnce = emit.select(on.readsInPlace, emit.flag(false), fits);
    emit.branch(emit.select(packsOnce, emit.less(first, end), emit.flag(false)), [&] { packReached(first, end); });
    emit.loop(first, end, 1, [&](Value number) {
      strip = number;
      Value ofHead = strip;
      if (on.group > 1) {
        Value member = emit.div(strip, on.strips);
        ofHead = emit.sub(strip, emit.mul(member, on.strips));
        head = emit.add(emit.mul(keyHead, on.group), member);
        enter();
      }
      Value firstQuery = emit.mul(ofHead, on.stripRows);
      Value rows = emit.min(on.stripRows, emit.sub(on.queries, firstQuery));
      terms.forGroups(firstQuery, rows, [&](AttentionScores::Block block) { emitBlock(block); });
    });
  }

private:
  Value valuePanelStride(Value count) { return on.panelStride(count); }

  /// All keys that a query of the strips [first, end) may see: of a state that is kept for many places, those that are filled.
  void packReached(Value first, Value end) {
    Value firstQuery = on.number(0), endQuery = on.queries;
    if (on.group == 1) // otherwise strips are of several heads
      firstQuery = emit.mul(first, on.stripRows), endQuery = emit.min(emit.mul(end, on.stripRows), on.queries);
    KeyRange range = mask.ofStrip(code, batch, firstQuery, emit.sub(endQuery, 1), on.keys);
    pack(emit.constant(0), on.keys, on.roundDown(range.low, std::max(on.width, on.rowLanes)), range.high);
  }

  /// Keys [low, high) of the `count` from `firstKey` on; low is a multiple of the panels' width.
  void pack(Value firstKey, Value count, Value low, Value high) {
    Value number = emit.max(emit.sub(high, low), int64_t(0)), key = emit.add(firstKey, low);
    on.packColumns(on.keyRow(operands.key, batch, key, keyHead, on.keyWidth), number, on.keyWidth,
                   on.at(keyPanels, emit.mul(emit.div(low, on.width), on.panelStride(on.keyWidth))),
                   on.number(on.keyHeads * on.keyWidth), operands.roundingOf(operands.key));
    on.packRows(on.keyRow(operands.value, batch, key, keyHead, on.valueWidth), number, on.valueWidth,
                on.at(valuePanels, emit.mul(low, on.width)), valuePanelStride(count), on.number(on.keyHeads * on.valueWidth),
                operands.roundingOf(operands.value));
  }

  void emitBlock(AttentionScores::Block block) {
    Value rows = block.rows;
    KeyRange range = mask.ofStrip(code, batch, block.firstQuery, emit.sub(emit.add(block.firstQuery, rows), 1), on.keys);
    on.fill(sums, emit.constant(0), emit.mul(rows, sumStride), on.spread(on.real(0)));
    emit.loop(emit.constant(0), rows, 1, [&](Value row) {
      on.storeScalar(on.real(-std::numeric_limits<double>::infinity()), on.at(maxima, row));
      on.storeScalar(on.real(0), on.at(totals, row));
    });
    Value someKey = emit.less(range.low, range.high);
    Value firstChunk = emit.div(range.low, on.chunkKeys);
    Value endChunk = emit.select(someKey, emit.ceilDiv(range.high, on.chunkKeys), firstChunk);
    emit.loop(firstChunk, endChunk, 1, [&](Value chunk) { emitChunk(block, chunk, range); });
    emit.loop(emit.constant(0), rows, 1, [&](Value row) { finishRow(block, row); });
  }

  void emitChunk(AttentionScores::Block block, Value chunk, KeyRange range) {
    Value start = emit.mul(chunk, on.chunkKeys);
    Value count = emit.min(emit.sub(on.keys, start), on.chunkKeys);
    terms.setKeys(block, mask, range, start, count);
    emit.branch(
        emit.select(on.readsInPlace, emit.flag(true), fits), [] {},
        [&] { on.forRuns(block.runs, [&](const KeyRun &run) { pack(start, count, run.low, run.high); }); });
    Ahead ahead = aheadOf(block);
    emit.branch(on.readsInPlace, [&] { fetchAhead(ahead); });
    terms.contract(block, keyPanels, ahead.content, ahead.band);
    if (relativeKeys.any())
      relativeKeys.addScores(block);
    emit.loop(emit.constant(0), block.rows, 1, [&](Value row) { softmaxRow(block, row); });
    on.forRuns(block.runs, [&](const KeyRun &run) {
      emit.branch(
          fits, [&] { addValues(block, run.low, run.high, count, sums, true, AttentionScores::aheadIn(block, ahead.values)); },
          [&] { addValuesInParts(block, run, count); });
    });
    if (relative.any())
      relative.addValues(block, sums, sumStride);
  }

  /// result (+)= p . values over the keys [low, high) of the chunk.
  void addValues(const AttentionScores::Block &block, Value low, Value high, Value count, Value result, bool accumulate,
                 ArrayRef<RowsAhead> ahead) {
    Staircase stairs = terms.from(block.stairs, emit.sub(low, block.low));
    auto inPlace = [&] { addValuesInPlace(block, stairs, low, high, result, accumulate); };
    emit.branch(on.readsInPlace, inPlace, [&] {
      on.contract({block.rows, on.number(on.valueWidth), emit.sub(high, low), on.at(terms.scores, low), on.scoreStride,
                   on.number(1), on.at(valuePanels, emit.mul(low, on.width)), valuePanelStride(count), result,
                   on.number(sumStride), accumulate, BlockContraction::Trim::ColumnsOfA, stairs, SmallVector<RowsAhead>(ahead)});
    });
  }

  /// Keys that no row reaches are left out as by tiles.
  void addValuesInPlace(const AttentionScores::Block &block, const Staircase &stairs, Value low, Value high, Value result,
                        bool accumulate) {
    KeyRange range = on.reached(stairs, block.rows, emit.sub(high, low));
    Value first = emit.add(low, range.low), count = emit.max(emit.sub(range.high, range.low), int64_t(0));
    on.stream({block.rows, on.number(on.valueWidth), count, on.at(terms.scores, first), on.scoreStride,
               on.keyRow(operands.value, batch, emit.add(block.start, first), keyHead, on.valueWidth),
               on.number(on.keyHeads * on.valueWidth), /*alongDepth=*/false, operands.roundingOf(operands.value), result,
               on.number(sumStride), accumulate});
  }

  /// A sum over thousands of keys loses what is small beside it, and the gradient of a row whose keys are in several chunks is
  /// made of y: parts of few keys lose little.
  void addValuesInParts(const AttentionScores::Block &block, const KeyRun &run, Value count) {
    emit.loop(emit.div(run.low, kPartKeys), emit.ceilDiv(run.high, kPartKeys), 1, [&](Value part) {
      Value begin = emit.mul(part, kPartKeys);
      addValues(block, emit.max(begin, run.low), emit.min(emit.add(begin, kPartKeys), run.high), count, partSums, false, {});
      on.alongRow(on.number(0), emit.mul(block.rows, sumStride), {}, [&](Value index, ValueRange) -> SmallVector<Value> {
        on.storeRow(arith::AddFOp::create(builder, on.loadRow(on.at(sums, index)), on.loadRow(on.at(partSums, index))),
                    on.at(sums, index));
        return {};
      });
    });
  }

  struct Ahead {
    SmallVector<RowsAhead> content, band, values;
  };

  /// The next strip's rows, a part of the next head's keys and values, and the results of this strip.
  Ahead aheadOf(const AttentionScores::Block &block) {
    Value wraps = emit.equal(emit.add(head, 1), on.number(on.heads));
    Value nextBatch = emit.select(wraps, emit.add(batch, 1), batch),
          nextHead = emit.select(wraps, emit.constant(0), emit.add(head, 1));
    Value query = emit.add(block.firstQuery, on.stripRows), over = emit.lessEqual(on.queries, query);
    Value queryBatch = emit.select(over, nextBatch, batch), queryHead = emit.select(over, nextHead, head),
          nextQuery = emit.select(over, emit.constant(0), query);
    Value part = emit.select(fits, emit.min(emit.ceilDiv(on.keys, strips()), emit.mul(block.rows, AttentionCode::keysAhead)),
                             on.number(0));
    Value nextKey = emit.mul(strip, part);
    Value keysWrap = emit.equal(emit.add(keyHead, 1), on.number(on.keyHeads));
    Value keyBatch = emit.select(keysWrap, emit.add(batch, 1), batch),
          nextKeyHead = emit.select(keysWrap, emit.constant(0), emit.add(keyHead, 1));
    Ahead ahead;
    ahead.content.push_back(on.ahead(operands.query, queryBatch, on.queries, nextQuery, queryHead, on.keyWidth, block.rows));
    ahead.content.push_back(on.keysAheadOf(operands.key, keyBatch, nextKey, nextKeyHead, on.keyWidth, part));
    auto &other = operands.table ? ahead.band : ahead.content;
    other.push_back(on.keysAheadOf(operands.value, keyBatch, nextKey, nextKeyHead, on.valueWidth, part));
    if (operands.positionQuery)
      ahead.band.push_back(
          on.ahead(operands.positionQuery, queryBatch, on.queries, nextQuery, queryHead, on.keyWidth, block.rows));
    if (isRead(op.getY()))
      ahead.values.push_back(
          on.ahead(op.getY(), batch, on.queries, block.firstQuery, head, on.valueWidth, block.rows, /*write=*/true));
    return ahead;
  }

  /// All at once: few rows have no tiles to share it.
  void fetchAhead(const Ahead &ahead) {
    for (const auto *rows : {&ahead.content, &ahead.band, &ahead.values})
      for (const RowsAhead &each : *rows)
        on.fetch(each);
  }

  Value scalarExponential(Value x) {
    return vector::ExtractOp::create(builder, on.exponential(on.spread(x)), ArrayRef<int64_t>{0});
  }

  /// The largest visible score of a row; scores become scaled sums of all terms, -inf where hidden.
  Value scoreRow(const AttentionScores::Block &block, const AttentionScores::Row &row) {
    Value nothing = on.spread(on.real(-std::numeric_limits<double>::infinity()));
    auto larger = [&](Value key, Value shown, ValueRange carried) -> SmallVector<Value> {
      Value score = terms.at(block, row, key, shown, /*slope=*/false).value;
      if (shown)
        score = arith::SelectOp::create(builder, shown, score, nothing);
      on.storeRow(score, on.at(row.content, key));
      Value more = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, score, carried[0]);
      return {arith::SelectOp::create(builder, more, score, carried[0])};
    };
    Value largest = on.forRuns(block.runs, nothing, [&](const KeyRun &run, ValueRange carried) {
      return on.forVisible(mask, row.place, on.partsIn(block.runs, run, row.parts), run.isFull, block.start, block.high, carried,
                           larger);
    })[0];
    return combineLanes(builder, Reduction::max, largest);
  }

  /// scores -> exp(score - maximum) of the visible keys, dropped ones cleared; maximum and total of the row carried on.
  void softmaxRow(const AttentionScores::Block &block, Value number) {
    const double infinity = std::numeric_limits<double>::infinity();
    AttentionScores::Row row = terms.row(block, mask, number);
    Value start = block.start, now = scoreRow(block, row);
    Value before = on.loadScalar(on.at(maxima, number));
    now = arith::SelectOp::create(builder, arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, before, now), before, now);
    on.storeScalar(now, on.at(maxima, number));
    Value unseen = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, now, on.real(-infinity));
    Value shift = on.spread(arith::SelectOp::create(builder, unseen, on.real(0), now));
    Value zero = on.spread(on.real(0));
    Value logical = terms.firstDrawn(row.place);
    Value byPlace = relative.any() ? relative.row(block, number, row.place) : Value();
    KeepBits keeps = on.keeps(operands);
    // The exponential of a hidden score, -inf, is 0.
    Value total = on.forRuns(block.runs, zero, [&](const KeyRun &run, ValueRange before) {
      const RowParts parts = on.partsIn(block.runs, run, row.parts);
      Value first = emit.add(logical, emit.add(start, parts.begin));
      if (threshold > 0)
        keeps.draw(first, emit.sub(parts.end, parts.begin), keepBits);
      return on.alongRow(parts.begin, parts.end, before, [&](Value key, ValueRange carried) -> SmallVector<Value> {
        Value address = on.at(row.content, key);
        Value p = on.exponential(arith::SubFOp::create(builder, on.loadRow(address), shift));
        Value sum = arith::AddFOp::create(builder, carried[0], p);
        if (threshold > 0) {
          Value keep = keeps.load(keepBits, first, emit.sub(key, parts.begin), on.rowLanes);
          p = arith::SelectOp::create(builder, keep, p, zero);
        }
        on.storeRow(p, address);
        if (byPlace)
          on.storeRow(p, elementAddress(builder, byPlace, on.element, key));
        return {sum};
      });
    })[0];
    if (relative.any())
      relative.clearHidden(block, number, row.place, row.parts, zero);
    on.fill(row.content, terms.clearFrom(block.stairs, block.low, block.low, number), row.parts.begin, zero);
    on.fill(row.content, row.parts.end, terms.clearTo(block.stairs, block.low, block.high, number), zero);
    carryTotal(number, start, before, now, combineLanes(builder, Reduction::sum, total));
  }

  /// Adds to the row's total; what earlier chunks summed under another maximum is scaled.
  void carryTotal(Value row, Value start, Value before, Value now, Value added) {
    const double infinity = std::numeric_limits<double>::infinity();
    Value old = on.loadScalar(on.at(totals, row));
    Value unseen = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, now, on.real(-infinity));
    // An earlier chunk had another maximum.
    auto later = [&] { return emit.less(emit.constant(0), start); };
    emit.branch(emit.select(fits, emit.flag(false), later()), [&] {
      Value safe = arith::SelectOp::create(builder, unseen, on.real(0), now);
      Value factor = scalarExponential(arith::SubFOp::create(builder, before, safe));
      Value gone = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, before, on.real(-infinity));
      factor = arith::SelectOp::create(builder, gone, on.real(0), factor);
      Value sumRow = on.at(sums, emit.mul(row, sumStride));
      on.alongRow(on.number(0), on.number(sumStride), {}, [&](Value column, ValueRange) -> SmallVector<Value> {
        Value address = on.at(sumRow, column);
        on.storeRow(arith::MulFOp::create(builder, on.loadRow(address), on.spread(factor)), address);
        return {};
      });
      on.storeScalar(arith::MulFOp::create(builder, old, factor), on.at(totals, row));
    });
    Value scaled = on.loadScalar(on.at(totals, row));
    on.storeScalar(arith::AddFOp::create(builder, scaled, added), on.at(totals, row));
  }

  /// y, row_max, row_sum_inverse of one row. A row that saw no key gives 0; NaN stays NaN.
  void finishRow(const AttentionScores::Block &block, Value row) {
    Value total = on.loadScalar(on.at(totals, row)), largest = on.loadScalar(on.at(maxima, row));
    Value none = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, total, on.real(0));
    Value inverse = arith::SelectOp::create(builder, none, on.real(0), arith::DivFOp::create(builder, on.real(1), total));
    Value unseen =
        arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, largest, on.real(-std::numeric_limits<double>::infinity()));
    Value query = emit.add(block.firstQuery, row);
    Value statistic = emit.add(emit.mul(emit.add(emit.mul(batch, on.heads), head), on.queries), query);
    if (isRead(op.getRowMax()))
      on.storeScalar(arith::SelectOp::create(builder, unseen, on.real(0), largest),
                     on.at(code.pointer(op.getRowMax()), statistic));
    if (isRead(op.getRowSumInverse()))
      on.storeScalar(inverse, on.at(code.pointer(op.getRowSumInverse()), statistic));
    if (!isRead(op.getY()))
      return;
    Value factor = on.spread(arith::MulFOp::create(builder, inverse, on.real(65536.0 / double(65536 - threshold))));
    Value from = on.at(sums, emit.mul(row, sumStride));
    Elements to = on.row(op.getY(), batch, on.queries, query, head, on.valueWidth);
    for (int64_t column = 0; column < on.valueWidth; column += on.rowLanes) {
      Value inside =
          column + on.rowLanes <= on.valueWidth ? Value() : firstLanes(code, on.number(on.valueWidth - column), on.rowLanes);
      on.storeRow(arith::MulFOp::create(builder, on.loadRow(on.at(from, on.number(column))), factor),
                  on.at(to, on.number(column)), inside);
    }
  }

  AttentionOp op;
  FunctionCode &code;
  const AttentionOperands &operands;
  AttentionCode on;
  ImplicitLocOpBuilder &builder;
  Emitter &emit;
  const AttentionMask &mask;
  const AttentionTables &tables;
  AttentionScores terms;
  RelativeValues relative;
  RelativeKeys relativeKeys;
  ForwardScratch scratch;
  int64_t threshold, sumStride;
  Value batch, keyHead, head, strip, keyPanels, valuePanels, sums, partSums, maxima, totals, keepBits, fits;
};

} // namespace

LogicalResult generateAttention(Operation *operation, KernelSequence &sequence) {
  auto op = cast<AttentionOp>(operation);
  AttentionOperands operands(op);
  if (llvm::none_of(op->getResults(), isRead))
    return success();
  if (failed(operands.takeChoice(op, sequence.tier())) || failed(checkScalars(op)))
    return failure();
  IndexOperands indices(operands.labels, operands.indexOperands);
  AttentionMask mask(operands.mask, indices);
  AttentionTables tables(operands, indices, /*forGradient=*/false);
  Kernel kernel{"attention", op.getLoc(), operands.tensors(), {}, {}, {}, 0, {}, {}};
  for (Value result : op.getResults())
    if (isRead(result))
      kernel.writes.push_back(result);
  if (tables.any())
    kernel.temporaries.push_back(tables.pack(sequence, op.getLoc()));
  kernel.scratchBytes = ForwardScratch(sequence.tier(), operands, tables, mask).end * elementBytes(operands.element());
  auto codeOf = [&](FunctionCode &code) { return AttentionForward(op, code, operands, mask, indices, tables); };
  kernel.cut = operands.sidesOfForward();
  kernel.tiles = [&](FunctionCode &code) { return codeOf(code).tiles(); };
  kernel.body = [&](FunctionCode &code) { codeOf(code).emitTile(); };
  sequence.add(kernel);
  return success();
}

} // namespace tenon::cpu
