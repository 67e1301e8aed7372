// tenon.attention: a task is a part of the query strips of one (batch, head); keys and values are packed once per task while they fit, scores live in one strip.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Attention.h"
#include "lowering/cpu/LaneCode.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Tasks wanted; with fewer (batch, head) pairs the strips of one are shared out.
constexpr int64_t kTasks = 32;

/// Scratch of one worker, in elements.
struct ForwardScratch {
  int64_t scores, keyPanels, valuePanels, sums, maxima, totals, end;
  ForwardScratch(Tier tier, Type element, int64_t keyWidth, int64_t valueWidth) {
    int64_t next = 0;
    auto take = [&](int64_t elements) {
      int64_t place = next;
      next += AttentionCode::roundUp(elements, 16);
      return place;
    };
    const int64_t rows = AttentionCode::stripLimit(tier), panel = AttentionCode::panelWidth(tier, element);
    scores = take(AttentionCode::scoreElements(tier));
    keyPanels = take(AttentionCode::panelElements(tier, element, keyWidth, AttentionCode::chunkKeys));
    valuePanels = take(AttentionCode::panelElements(tier, element, AttentionCode::chunkKeys, valueWidth));
    sums = take(rows * (AttentionCode::roundUp(valueWidth, panel) + 16));
    maxima = take(rows);
    totals = take(rows);
    end = next;
  }
};

class AttentionForward {
public:
  AttentionForward(AttentionOp op, FunctionCode &code)
      : op(op), code(code), on(code, op.getQuery(), op.getKey(), op.getValue()), builder(code.builder), emit(on.emit),
        mask(op.getMask(), op.getIndexLabels(), op.getIndexOperands()), scratch(code.tier, on.element, on.keyWidth, on.valueWidth) {
    threshold = std::llround(op.getRate().convertToDouble() * 65536);
    sumStride = AttentionCode::roundUp(on.valueWidth, std::max(on.width, on.rowLanes));
  }

  Value parts() {
    Value pairs = emit.max(emit.mul(on.batches, on.heads), int64_t(1));
    return emit.max(emit.min(emit.ceilDiv(emit.constant(kTasks), pairs), on.strips), int64_t(1));
  }
  Value tiles() { return emit.mul(emit.mul(on.batches, on.heads), parts()); }

  void emitTile() {
    Value count = parts(), part = emit.rem(code.tile, count), pair = emit.div(code.tile, count);
    batch = emit.div(pair, emit.constant(on.heads));
    head = emit.rem(pair, emit.constant(on.heads));
    scores = on.at(code.scratch, on.number(scratch.scores));
    keyPanels = on.at(code.scratch, on.number(scratch.keyPanels));
    valuePanels = on.at(code.scratch, on.number(scratch.valuePanels));
    sums = on.at(code.scratch, on.number(scratch.sums));
    maxima = on.at(code.scratch, on.number(scratch.maxima));
    totals = on.at(code.scratch, on.number(scratch.totals));
    fits = emit.lessEqual(on.keys, emit.constant(AttentionCode::chunkKeys));
    emit.branch(fits, [&] { pack(emit.constant(0), on.keys); });
    Value first = emit.div(emit.mul(part, on.strips), count), end = emit.div(emit.mul(emit.add(part, 1), on.strips), count);
    emit.loop(first, end, 1, [&](Value strip) { emitStrip(strip); });
  }

  int64_t scratchBytes() const { return scratch.end * elementBytes(on.element); }

private:
  Value keyPanelStride() { return on.number(AttentionCode::roundUp(on.keyWidth, on.lanes) * on.width); }
  Value valuePanelStride(Value count) { return emit.mul(emit.roundUp(count, on.lanes), on.width); }

  void pack(Value firstKey, Value count) {
    on.packColumns(on.row(op.getKey(), batch, on.keys, firstKey, head, on.keyWidth), count, on.keyWidth, keyPanels);
    on.packRows(on.row(op.getValue(), batch, on.keys, firstKey, head, on.valueWidth), count, on.valueWidth, valuePanels, valuePanelStride(count));
  }

  void emitStrip(Value strip) {
    firstQuery = emit.mul(strip, on.stripRows);
    rows = emit.min(on.stripRows, emit.sub(on.queries, firstQuery));
    KeyRange range = mask.ofStrip(code, batch, firstQuery, emit.sub(emit.add(firstQuery, rows), 1), on.keys);
    on.fill(sums, emit.mul(rows, sumStride), on.spread(on.real(0)));
    emit.loop(emit.constant(0), rows, 1, [&](Value row) {
      emit.store(on.real(-std::numeric_limits<double>::infinity()), on.at(maxima, row), elementBytes(on.element));
      emit.store(on.real(0), on.at(totals, row), elementBytes(on.element));
    });
    Value someKey = emit.less(range.low, range.high);
    Value firstChunk = emit.div(range.low, AttentionCode::chunkKeys);
    Value endChunk = emit.select(someKey, emit.ceilDiv(range.high, AttentionCode::chunkKeys), firstChunk);
    emit.loop(firstChunk, endChunk, 1, [&](Value chunk) { emitChunk(chunk, range); });
    emit.loop(emit.constant(0), rows, 1, [&](Value row) { finishRow(row); });
  }

  void emitChunk(Value chunk, KeyRange range) {
    Value start = emit.mul(chunk, AttentionCode::chunkKeys);
    Value count = emit.min(emit.sub(on.keys, start), AttentionCode::chunkKeys);
    emit.branch(fits, [] {}, [&] { pack(start, count); });
    // Keys of the chunk by number within it; whole panels from the first visible one on.
    const int64_t step = std::max(on.width, on.rowLanes);
    Value low = emit.mul(emit.div(emit.max(emit.sub(range.low, start), int64_t(0)), step), step);
    Value high = emit.min(emit.sub(range.high, start), count);
    Value query = on.row(op.getQuery(), batch, on.queries, firstQuery, head, on.keyWidth);
    Value panels = on.at(keyPanels, emit.mul(emit.div(low, on.width), keyPanelStride()));
    on.contract({rows, emit.sub(high, low), on.number(on.keyWidth), query, on.number(on.heads * on.keyWidth), on.number(1), panels, keyPanelStride(), on.at(scores, low),
                 on.scoreStride, false});
    emit.loop(emit.constant(0), rows, 1, [&](Value row) { softmaxRow(row, start, low, high); });
    on.contract({rows, on.number(on.valueWidth), emit.sub(high, low), on.at(scores, low), on.scoreStride, on.number(1), on.at(valuePanels, emit.mul(low, on.width)),
                 valuePanelStride(count), sums, on.number(sumStride), true});
  }

  Value scalarExponential(Value x) { return vector::ExtractOp::create(builder, on.exponential(on.spread(x)), ArrayRef<int64_t>{0}); }

  /// scores -> exp(score - maximum) of the visible keys, dropped ones cleared; maximum and total of the row carried on.
  void softmaxRow(Value row, Value start, Value low, Value high) {
    const unsigned bytes = elementBytes(on.element);
    const double infinity = std::numeric_limits<double>::infinity();
    AttentionMask::Place place{batch, emit.add(firstQuery, row)};
    KeyRange range = mask.ofRow(code, place, on.keys);
    Value base = on.at(scores, emit.mul(row, on.scoreStride));
    Value nothing = on.spread(on.real(-infinity)), scale = on.spread(on.real(op.getScale().convertToDouble()));
    Value largest = on.alongRow(low, high, nothing, [&](Value key, ValueRange carried) -> SmallVector<Value> {
      Value address = on.at(base, key);
      Value score = arith::MulFOp::create(builder, on.loadRow(address), scale);
      score = arith::SelectOp::create(builder, on.visible(mask, place, range, emit.add(start, key)), score, nothing);
      on.storeRow(score, address);
      Value more = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, score, carried[0]);
      return {arith::SelectOp::create(builder, more, score, carried[0])};
    })[0];
    Value before = emit.load(on.element, on.at(maxima, row), bytes);
    Value now = combineLanes(builder, Reduction::max, largest);
    now = arith::SelectOp::create(builder, arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, before, now), before, now);
    emit.store(now, on.at(maxima, row), bytes);
    Value unseen = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, now, on.real(-infinity));
    Value shift = on.spread(arith::SelectOp::create(builder, unseen, on.real(0), now));
    Value zero = on.spread(on.real(0));
    Value total = on.alongRow(low, high, zero, [&](Value key, ValueRange carried) -> SmallVector<Value> {
      Value address = on.at(base, key), score = on.loadRow(address);
      Value hidden = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, score, nothing);
      Value p = arith::SelectOp::create(builder, hidden, zero, on.exponential(arith::SubFOp::create(builder, score, shift)));
      Value sum = arith::AddFOp::create(builder, carried[0], p);
      if (threshold > 0) {
        Value index = emit.add(emit.mul(emit.add(emit.mul(emit.add(emit.mul(batch, on.queries), place.query), on.heads), head), on.keys), emit.add(start, key));
        p = arith::SelectOp::create(builder, on.keeps(index, op.getSite(), threshold, op.getDepth()), p, zero);
      }
      on.storeRow(p, address);
      return {sum};
    })[0];
    Value added = combineLanes(builder, Reduction::sum, total), old = emit.load(on.element, on.at(totals, row), bytes);
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
      emit.store(arith::MulFOp::create(builder, old, factor), on.at(totals, row), bytes);
    });
    Value scaled = emit.load(on.element, on.at(totals, row), bytes);
    emit.store(arith::AddFOp::create(builder, scaled, added), on.at(totals, row), bytes);
  }

  /// y, row_max, row_sum_inverse of one row. A row that saw no key gives 0; NaN stays NaN.
  void finishRow(Value row) {
    const unsigned bytes = elementBytes(on.element);
    Value total = emit.load(on.element, on.at(totals, row), bytes), largest = emit.load(on.element, on.at(maxima, row), bytes);
    Value none = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, total, on.real(0));
    Value inverse = arith::SelectOp::create(builder, none, on.real(0), arith::DivFOp::create(builder, on.real(1), total));
    Value unseen = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, largest, on.real(-std::numeric_limits<double>::infinity()));
    Value query = emit.add(firstQuery, row);
    Value statistic = emit.add(emit.mul(emit.add(emit.mul(batch, on.heads), head), on.queries), query);
    if (!op.getRowMax().use_empty())
      emit.store(arith::SelectOp::create(builder, unseen, on.real(0), largest), on.at(code.pointer(op.getRowMax()), statistic), bytes);
    if (!op.getRowSumInverse().use_empty())
      emit.store(inverse, on.at(code.pointer(op.getRowSumInverse()), statistic), bytes);
    Value factor = on.spread(arith::MulFOp::create(builder, inverse, on.real(65536.0 / double(65536 - threshold))));
    Value from = on.at(sums, emit.mul(row, sumStride)), to = on.row(op.getY(), batch, on.queries, query, head, on.valueWidth);
    for (int64_t column = 0; column < on.valueWidth; column += on.rowLanes) {
      Value inside = column + on.rowLanes <= on.valueWidth ? Value() : on.firstLanes(on.number(on.valueWidth - column));
      on.storeRow(arith::MulFOp::create(builder, on.loadRow(on.at(from, on.number(column))), factor), on.at(to, on.number(column)), inside);
    }
  }

  AttentionOp op;
  FunctionCode &code;
  AttentionCode on;
  ImplicitLocOpBuilder &builder;
  Emitter &emit;
  AttentionMask mask;
  ForwardScratch scratch;
  int64_t threshold, sumStride;
  Value batch, head, scores, keyPanels, valuePanels, sums, maxima, totals, fits;
  Value firstQuery, rows;
};

} // namespace

LogicalResult generateAttention(Operation *operation, KernelSequence &sequence) {
  auto op = cast<AttentionOp>(operation);
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  Type element = query.getElementType();
  if (!element.isF32() && !element.isF64())
    return op.emitError("not supported yet: attention of elements other than f32 and f64");
  if (op.getTable() || op.getSelectedScores() || op.getScoreTable())
    return op.emitError("not supported yet: attention terms besides the content term");
  Kernel kernel{"attention", op.getLoc(), {op.getQuery(), op.getKey(), op.getValue()}, {}, {}, {}, 0, {}, {}};
  kernel.reads.append(op.getIndexOperands().begin(), op.getIndexOperands().end());
  for (Value result : op.getResults())
    if (!result.use_empty())
      kernel.writes.push_back(result);
  if (op.getY().use_empty())
    return success();
  int64_t valueWidth = cast<RankedTensorType>(op.getValue().getType()).getDimSize(3);
  kernel.scratchBytes = ForwardScratch(sequence.tier(), element, query.getDimSize(3), valueWidth).end * elementBytes(element);
  kernel.tiles = [&](FunctionCode &code) { return AttentionForward(op, code).tiles(); };
  kernel.body = [&](FunctionCode &code) { AttentionForward(op, code).emitTile(); };
  sequence.add(kernel);
  return success();
}

} // namespace tenon::cpu
