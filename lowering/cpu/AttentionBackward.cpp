// tenon.attention_grad: a task is one (batch, head). Query strips in order; the gradients of keys and values of a chunk stay in scratch. Five contractions.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Attention.h"
#include "lowering/cpu/LaneCode.h"
#include <cmath>

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Scratch of one worker, in elements.
struct BackwardScratch {
  int64_t scores, scoreGrads, keyPanels, valuePanels, keyRows, keyGrads, valueGrads, queryPanels, yPanels, queryGrads, end;
  BackwardScratch(Tier tier, Type element, int64_t keyWidth, int64_t valueWidth) {
    int64_t next = 0;
    auto take = [&](int64_t elements) {
      int64_t place = next;
      next += AttentionCode::roundUp(elements, 16);
      return place;
    };
    const int64_t rows = AttentionCode::stripLimit(tier), chunk = AttentionCode::chunkKeys;
    auto panels = [&](int64_t depth, int64_t columns) { return take(AttentionCode::panelElements(tier, element, depth, columns)); };
    auto rowsOf = [&](int64_t count, int64_t width) { return take(count * gradWidth(tier, element, width)); };
    scores = take(AttentionCode::scoreElements(tier));
    scoreGrads = take(AttentionCode::scoreElements(tier));
    keyPanels = panels(keyWidth, chunk);
    valuePanels = panels(valueWidth, chunk);
    keyRows = panels(chunk, keyWidth);
    keyGrads = rowsOf(chunk, keyWidth);
    valueGrads = rowsOf(chunk, valueWidth);
    queryPanels = panels(rows, keyWidth);
    yPanels = panels(rows, valueWidth);
    queryGrads = rowsOf(rows, keyWidth);
    end = next;
  }
  static int64_t gradWidth(Tier tier, Type element, int64_t width) {
    return AttentionCode::roundUp(width, std::max<int64_t>(AttentionCode::panelWidth(tier, element), element.isF64() ? 8 : 16));
  }
};

class AttentionBackward {
public:
  AttentionBackward(AttentionGradOp op, FunctionCode &code)
      : op(op), code(code), on(code, op.getQuery(), op.getKey(), op.getValue()), builder(code.builder), emit(on.emit),
        mask(op.getMask(), op.getIndexLabels(), op.getIndexOperands()), scratch(code.tier, on.element, on.keyWidth, on.valueWidth) {
    threshold = std::llround(op.getRate().convertToDouble() * 65536);
    keyStride = BackwardScratch::gradWidth(code.tier, on.element, on.keyWidth);
    valueStride = BackwardScratch::gradWidth(code.tier, on.element, on.valueWidth);
  }

  Value tiles() { return emit.mul(on.batches, on.heads); }

  void emitTile() {
    batch = emit.div(code.tile, emit.constant(on.heads));
    head = emit.rem(code.tile, emit.constant(on.heads));
    auto place = [&](int64_t offset) { return on.at(code.scratch, on.number(offset)); };
    scores = place(scratch.scores), scoreGrads = place(scratch.scoreGrads), keyPanels = place(scratch.keyPanels), valuePanels = place(scratch.valuePanels);
    keyRows = place(scratch.keyRows), keyGrads = place(scratch.keyGrads), valueGrads = place(scratch.valueGrads);
    queryPanels = place(scratch.queryPanels), yPanels = place(scratch.yPanels), queryGrads = place(scratch.queryGrads);
    emit.loop(emit.constant(0), emit.ceilDiv(on.keys, AttentionCode::chunkKeys), 1, [&](Value chunk) { emitChunk(chunk); });
  }

private:
  Value panelStride(int64_t depth) { return on.number(AttentionCode::roundUp(depth, on.lanes) * on.width); }
  Value panelStride(Value depth) { return emit.mul(emit.roundUp(depth, on.lanes), on.width); }

  void emitChunk(Value chunk) {
    start = emit.mul(chunk, AttentionCode::chunkKeys);
    count = emit.min(emit.sub(on.keys, start), AttentionCode::chunkKeys);
    Value key = on.row(op.getKey(), batch, on.keys, start, head, on.keyWidth), value = on.row(op.getValue(), batch, on.keys, start, head, on.valueWidth);
    on.packColumns(key, count, on.keyWidth, keyPanels);
    on.packColumns(value, count, on.valueWidth, valuePanels);
    on.packRows(key, count, on.keyWidth, keyRows, panelStride(count));
    on.fill(keyGrads, emit.mul(count, keyStride), on.spread(on.real(0)));
    on.fill(valueGrads, emit.mul(count, valueStride), on.spread(on.real(0)));
    emit.loop(emit.constant(0), on.strips, 1, [&](Value strip) { emitStrip(strip); });
    emit.loop(emit.constant(0), count, 1, [&](Value key) {
      store(on.at(keyGrads, emit.mul(key, keyStride)), on.row(op.getDkey(), batch, on.keys, emit.add(start, key), head, on.keyWidth), on.keyWidth, false);
      store(on.at(valueGrads, emit.mul(key, valueStride)), on.row(op.getDvalue(), batch, on.keys, emit.add(start, key), head, on.valueWidth), on.valueWidth, false);
    });
  }

  /// A row of gradients from scratch to its tensor, masked at the width; `adds`: to what an earlier chunk of keys left there.
  void store(Value from, Value to, int64_t width, bool adds) {
    for (int64_t column = 0; column < width; column += on.rowLanes) {
      Value inside = column + on.rowLanes <= width ? Value() : on.firstLanes(on.number(width - column));
      Value target = on.at(to, on.number(column)), sum = on.loadRow(on.at(from, on.number(column)));
      if (adds)
        sum = arith::AddFOp::create(builder, on.loadRow(target, inside), sum);
      on.storeRow(sum, target, inside);
    }
  }

  void emitStrip(Value strip) {
    firstQuery = emit.mul(strip, on.stripRows);
    rows = emit.min(on.stripRows, emit.sub(on.queries, firstQuery));
    KeyRange range = mask.ofStrip(code, batch, firstQuery, emit.sub(emit.add(firstQuery, rows), 1), on.keys);
    const int64_t step = std::max(on.width, on.rowLanes);
    Value low = emit.mul(emit.div(emit.max(emit.sub(range.low, start), int64_t(0)), step), step);
    Value high = emit.min(emit.sub(range.high, start), count);
    Value some = emit.select(emit.less(range.low, range.high), emit.less(low, high), emit.flag(false));
    emit.branch(
        some, [&] { emitTerms(low, high); }, [&] { on.fill(queryGrads, emit.mul(rows, keyStride), on.spread(on.real(0))); });
    Value isFirst = emit.equal(start, emit.constant(0));
    auto write = [&](bool adds) {
      emit.loop(emit.constant(0), rows, 1, [&](Value row) {
        store(on.at(queryGrads, emit.mul(row, keyStride)), on.row(op.getDquery(), batch, on.queries, emit.add(firstQuery, row), head, on.keyWidth), on.keyWidth, adds);
      });
    };
    emit.branch(isFirst, [&] { write(false); }, [&] { write(true); });
  }

  void emitTerms(Value low, Value high) {
    Value keysHere = emit.sub(high, low), one = on.number(1);
    Value query = on.row(op.getQuery(), batch, on.queries, firstQuery, head, on.keyWidth), dy = on.row(op.getDy(), batch, on.queries, firstQuery, head, on.valueWidth);
    on.packRows(query, rows, on.keyWidth, queryPanels, panelStride(rows));
    on.packRows(dy, rows, on.valueWidth, yPanels, panelStride(rows));
    Value keyStep = panelStride(on.keyWidth), valueStep = panelStride(on.valueWidth);
    Value firstPanel = emit.div(low, on.width);
    on.contract({rows, keysHere, on.number(on.keyWidth), query, on.number(on.heads * on.keyWidth), one, on.at(keyPanels, emit.mul(firstPanel, keyStep)), keyStep,
                 on.at(scores, low), on.scoreStride, false});
    on.contract({rows, keysHere, on.number(on.valueWidth), dy, on.number(on.heads * on.valueWidth), one, on.at(valuePanels, emit.mul(firstPanel, valueStep)), valueStep,
                 on.at(scoreGrads, low), on.scoreStride, false});
    emit.loop(emit.constant(0), rows, 1, [&](Value row) { gradientRow(row, low, high); });
    on.contract({keysHere, on.number(on.valueWidth), rows, on.at(scores, low), one, on.scoreStride, yPanels, panelStride(rows), on.at(valueGrads, emit.mul(low, valueStride)),
                 on.number(valueStride), true});
    on.contract({keysHere, on.number(on.keyWidth), rows, on.at(scoreGrads, low), one, on.scoreStride, queryPanels, panelStride(rows),
                 on.at(keyGrads, emit.mul(low, keyStride)), on.number(keyStride), true});
    on.contract({rows, on.number(on.keyWidth), keysHere, on.at(scoreGrads, low), on.scoreStride, one, on.at(keyRows, emit.mul(low, on.width)), panelStride(count), queryGrads,
                 on.number(keyStride), false});
  }

  /// D = sum of dy * y over the width.
  Value rowProduct(Value query) {
    Value dy = on.row(op.getDy(), batch, on.queries, query, head, on.valueWidth), y = on.row(op.getY(), batch, on.queries, query, head, on.valueWidth);
    Value sum = on.spread(on.real(0));
    for (int64_t column = 0; column < on.valueWidth; column += on.rowLanes) {
      Value inside = column + on.rowLanes <= on.valueWidth ? Value() : on.firstLanes(on.number(on.valueWidth - column));
      Value product = arith::MulFOp::create(builder, on.loadRow(on.at(dy, on.number(column)), inside), on.loadRow(on.at(y, on.number(column)), inside));
      sum = arith::AddFOp::create(builder, sum, product);
    }
    return combineLanes(builder, Reduction::sum, sum);
  }

  /// scores -> dropped p; scoreGrads (dy . v) -> ds = p (dp - D) scale.
  void gradientRow(Value row, Value low, Value high) {
    const unsigned bytes = elementBytes(on.element);
    AttentionMask::Place place{batch, emit.add(firstQuery, row)};
    KeyRange range = mask.ofRow(code, place, on.keys);
    Value statistic = emit.add(emit.mul(emit.add(emit.mul(batch, on.heads), head), on.queries), place.query);
    Value shift = on.spread(emit.load(on.element, on.at(code.pointer(op.getRowMax()), statistic), bytes));
    Value inverse = on.spread(emit.load(on.element, on.at(code.pointer(op.getRowSumInverse()), statistic), bytes));
    Value product = on.spread(rowProduct(place.query));
    Value zero = on.spread(on.real(0)), scale = on.spread(on.real(op.getScale().convertToDouble()));
    Value grown = on.spread(on.real(65536.0 / double(65536 - threshold)));
    Value scoreRow = on.at(scores, emit.mul(row, on.scoreStride)), gradRow = on.at(scoreGrads, emit.mul(row, on.scoreStride));
    on.alongRow(low, high, {}, [&](Value key, ValueRange) -> SmallVector<Value> {
      Value first = emit.add(start, key), scoreAt = on.at(scoreRow, key), gradAt = on.at(gradRow, key);
      Value shown = on.visible(mask, place, range, first);
      Value score = arith::SubFOp::create(builder, arith::MulFOp::create(builder, on.loadRow(scoreAt), scale), shift);
      Value p = arith::SelectOp::create(builder, shown, arith::MulFOp::create(builder, on.exponential(score), inverse), zero);
      Value dp = arith::SelectOp::create(builder, shown, on.loadRow(gradAt), zero), dropped = p;
      if (threshold > 0) {
        Value index = emit.add(emit.mul(emit.add(emit.mul(emit.add(emit.mul(batch, on.queries), place.query), on.heads), head), on.keys), first);
        Value keep = on.keeps(index, op.getSite(), threshold, op.getDepth());
        dropped = arith::SelectOp::create(builder, keep, arith::MulFOp::create(builder, p, grown), zero);
        dp = arith::SelectOp::create(builder, keep, arith::MulFOp::create(builder, dp, grown), zero);
      }
      Value ds = arith::MulFOp::create(builder, arith::MulFOp::create(builder, p, arith::SubFOp::create(builder, dp, product)), scale);
      on.storeRow(dropped, scoreAt);
      on.storeRow(ds, gradAt);
      return {};
    });
  }

  AttentionGradOp op;
  FunctionCode &code;
  AttentionCode on;
  ImplicitLocOpBuilder &builder;
  Emitter &emit;
  AttentionMask mask;
  BackwardScratch scratch;
  int64_t threshold, keyStride, valueStride;
  Value batch, head, scores, scoreGrads, keyPanels, valuePanels, keyRows, keyGrads, valueGrads, queryPanels, yPanels, queryGrads;
  Value start, count, firstQuery, rows;
};

} // namespace

LogicalResult generateAttentionGrad(Operation *operation, KernelSequence &sequence) {
  auto op = cast<AttentionGradOp>(operation);
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  Type element = query.getElementType();
  if (!element.isF32() && !element.isF64())
    return op.emitError("not supported yet: attention of elements other than f32 and f64");
  if (op.getTable() || op.getSelectedScores() || op.getScoreTable())
    return op.emitError("not supported yet: attention terms besides the content term");
  for (Value result : {op.getDquery(), op.getDkey(), op.getDvalue()})
    if (result.use_empty())
      return op.emitError("not supported yet: attention without a gradient of query, key or value");
  Kernel kernel{"attention_grad", op.getLoc(), {op.getDy(), op.getY(), op.getRowMax(), op.getRowSumInverse(), op.getQuery(), op.getKey(), op.getValue()}, {}, {}, {}, 0, {}, {}};
  kernel.reads.append(op.getIndexOperands().begin(), op.getIndexOperands().end());
  for (Value result : op.getResults())
    kernel.writes.push_back(result);
  int64_t valueWidth = cast<RankedTensorType>(op.getValue().getType()).getDimSize(3);
  kernel.scratchBytes = BackwardScratch(sequence.tier(), element, query.getDimSize(3), valueWidth).end * elementBytes(element);
  kernel.tiles = [&](FunctionCode &code) { return AttentionBackward(op, code).tiles(); };
  kernel.body = [&](FunctionCode &code) { AttentionBackward(op, code).emitTile(); };
  sequence.add(kernel);
  return success();
}

} // namespace tenon::cpu
