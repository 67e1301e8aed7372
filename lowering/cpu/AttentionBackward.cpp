// tenon.attention_grad: a task is one (batch, key head). The heads of its group and their query strips in order; the gradients of
// keys and values of a chunk stay in scratch, those of the tables in a temporary. Up to eight contractions, only those whose
// result is read.
#include "lowering/cpu/AttentionGradients.h"
#include "lowering/cpu/AttentionRelativeKeys.h"
#include "lowering/cpu/LaneCode.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

struct BackwardScratch {
  ScratchPlan plan;
  RelativeKeys::Scratch keys;
  int64_t scores, queryRows, yRows, scoreGrads, weights, band, valueBand, keyPanels, valuePanels, keyRows, keyGrads, valueGrads,
      queryPanels, yPanels, positionPanels, queryGrads, keepBits, runs, end;
  BackwardScratch(Tier tier, const AttentionOperands &operands, const AttentionTables &tables, const WantedGradients &wanted,
                  const AttentionMask &mask)
      : keys(plan, tier, operands, tables, /*gradients=*/true) {
    const int64_t rows = AttentionCode::stripLimit, chunk = operands.chunkKeys, keyWidth = operands.keyWidth(),
                  valueWidth = operands.valueWidth();
    Type element = operands.element();
    auto panels = [&](int64_t depth, int64_t columns) {
      return plan.take(AttentionCode::panelElements(tier, element, depth, columns));
    };
    auto rowsOf = [&](int64_t count, int64_t width) { return plan.take(count * AttentionCode::sumWidth(tier, element, width)); };
    scores = plan.take(AttentionCode::scoreElements(operands));
    scoreGrads = plan.take(AttentionCode::scoreElements(operands));
    weights = plan.take(SoftmaxGradient::weightElements(operands));
    queryRows = plan.take(AttentionScores::rowElements(operands));
    yRows = plan.take(rows * AttentionCode::rowWidth(valueWidth));
    band = plan.take(hasBand(operands, wanted) ? AttentionScores::bandElements(operands, tables) : 0);
    valueBand = plan.take(operands.valueTable ? AttentionScores::bandElements(operands, tables) : 0);
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
    runs = plan.take(AttentionScores::runElements(operands, mask));
    end = plan.end;
  }
  /// Computed places need one for a table of vectors alone.
  static bool hasBand(const AttentionOperands &operands, const WantedGradients &wanted) {
    return operands.table || (wanted.band() && !operands.placeCode);
  }
};

class AttentionBackward {
public:
  using Trim = BlockContraction::Trim;
  using Block = AttentionScores::Block;

  AttentionBackward(AttentionGradOp op, FunctionCode &code, const AttentionOperands &operands, const AttentionMask &mask,
                    const IndexOperands &indices, const AttentionTables &tables)
      : op(op), code(code), operands(operands), on(code, operands), builder(code.builder), emit(on.emit), mask(mask),
        tables(tables), terms(on, operands, indices, tables), relative(on, operands, terms), relativeKeys(on, operands, terms),
        wanted(op), softmax(op, on, operands, mask, terms, relative, wanted), tableGradients(on, operands, terms, wanted),
        queryGradients(on, operands, wanted), scratch(code.tier, operands, tables, wanted, mask) {
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
    queryPanels = place(scratch.queryPanels), yPanels = place(scratch.yPanels), positionPanels = place(scratch.positionPanels),
    queryGrads = place(scratch.queryGrads);
    yRows = place(scratch.yRows);
    relativeKeys.enter(batch, keyHead, place, scratch.keys);
    if (AttentionScores::runElements(operands, mask) > 0)
      terms.runs = place(scratch.runs);
    if (on.group == 1)
      enterHead(emit.constant(0));
    forHeads([&] { tableGradients.clear(zero); });
    emit.loop(emit.constant(0), emit.ceilDiv(on.keys, on.chunkKeys), 1, [&](Value chunk) { emitChunk(chunk); });
    forHeads([&] {
      tableGradients.store();
      queryGradients.store();
    });
  }

private:
  void enterHead(Value number) {
    auto place = [&](int64_t offset) { return on.at(code.scratch, on.number(offset)); };
    member = number;
    head = emit.add(emit.mul(keyHead, on.group), member);
    terms.enter(batch, head, place(scratch.scores), BackwardScratch::hasBand(operands, wanted) ? place(scratch.band) : Value(),
                place(scratch.queryRows), tables.any() ? code.temporary(0) : Value());
    relative.enter(place(scratch.valueBand));
    tableGradients.enter(batch, head);
    softmax.enter(batch, head, scoreGrads, place(scratch.weights), place(scratch.keepBits), tableGradients.scoreTable);
    queryGradients.enter(batch, head, queryGrads);
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

  /// What each contraction of a strip asks for: rows of the next strip, a part of the keys and values of the next chunk (of this
  /// head or the next), what is written after this strip and, with the last one, after this chunk.
  struct Ahead {
    SmallVector<RowsAhead> content, band, y, value, key, query, table;
  };

  Ahead aheadOf(const Block &block) {
    Value following = emit.add(block.firstQuery, on.stripRows), over = emit.lessEqual(on.queries, following), none = on.number(0);
    Value isLast = emit.equal(member, on.number(on.group - 1));
    Value afterBatch = emit.select(isLast, next.batch, batch),
          afterHead = emit.select(isLast, emit.mul(next.head, on.group), emit.add(head, 1));
    Value queryBatch = emit.select(over, afterBatch, batch), queryHead = emit.select(over, afterHead, head),
          query = emit.select(over, none, following);
    auto queries = [&](Value tensor, int64_t width) {
      return on.ahead(tensor, queryBatch, on.queries, query, queryHead, width, block.rows);
    };
    Value part = emit.min(emit.ceilDiv(count, emit.mul(on.strips, on.group)), emit.mul(block.rows, AttentionCode::keysAhead));
    Value strip = emit.add(emit.mul(member, on.strips), emit.div(block.firstQuery, on.stripRows));
    Value key = emit.add(next.start, emit.mul(strip, part));
    Value atEnd =
        emit.select(emit.select(isLast, over, isLast), emit.min(count, emit.mul(block.rows, AttentionCode::keysAhead)), none);
    auto results = [&](Value tensor, int64_t width, Value rows) {
      return on.keysAheadOf(tensor, batch, start, keyHead, width, rows, /*write=*/true);
    };
    auto gradients = [&](Value tensor) {
      return on.ahead(tensor, batch, on.queries, block.firstQuery, head, on.keyWidth, block.rows, /*write=*/true);
    };
    Ahead ahead;
    ahead.content.push_back(queries(operands.query, on.keyWidth));
    if (operands.positionQuery)
      ahead.band.push_back(queries(operands.positionQuery, on.keyWidth));
    ahead.y.push_back(on.keysAheadOf(operands.key, next.batch, key, next.head, on.keyWidth, part));
    (operands.table ? ahead.band : ahead.y)
        .push_back(on.keysAheadOf(operands.value, next.batch, key, next.head, on.valueWidth, part));
    if (wanted.query)
      ahead.value.push_back(gradients(wanted.query));
    if (wanted.value)
      ahead.value.push_back(results(wanted.value, on.valueWidth, atEnd));
    ahead.key.push_back(queries(op.getDy(), on.valueWidth));
    if (wanted.key)
      ahead.key.push_back(results(wanted.key, on.keyWidth, atEnd));
    ahead.query.push_back(queries(op.getY(), on.valueWidth));
    ahead.query.back().rows = emit.select(emit.less(on.number(on.chunkKeys), on.keys), block.rows, none);
    if (wanted.positionQuery)
      ahead.table.push_back(gradients(wanted.positionQuery));
    return ahead;
  }

  void emitChunk(Value chunk) {
    start = emit.mul(chunk, on.chunkKeys);
    count = emit.min(emit.sub(on.keys, start), on.chunkKeys);
    Value following = emit.add(start, on.chunkKeys), isLast = emit.lessEqual(on.keys, following),
          wraps = emit.equal(emit.add(keyHead, 1), on.number(on.keyHeads));
    next.batch = emit.select(isLast, emit.select(wraps, emit.add(batch, 1), batch), batch);
    next.head = emit.select(isLast, emit.select(wraps, emit.constant(0), emit.add(keyHead, 1)), keyHead);
    next.start = emit.select(isLast, emit.constant(0), following);
    Value keyStep = on.number(on.keyHeads * on.keyWidth), valueStep = on.number(on.keyHeads * on.valueWidth);
    Elements key = on.keyRow(operands.key, batch, start, keyHead, on.keyWidth),
             value = on.keyRow(operands.value, batch, start, keyHead, on.valueWidth);
    on.packColumns(key, count, on.keyWidth, keyPanels, keyStep);
    if (wanted.scores())
      on.packColumns(value, count, on.valueWidth, valuePanels, valueStep);
    if (wanted.query)
      on.packRows(key, count, on.keyWidth, keyRows, on.panelStride(count), keyStep);
    if (wanted.key)
      on.fill(keyGrads, emit.constant(0), emit.mul(count, keyStride), zero);
    if (wanted.value)
      on.fill(valueGrads, emit.constant(0), emit.mul(count, valueStride), zero);
    if (wanted.positionKey)
      relativeKeys.clear(count, zero);
    forHeads([&] {
      emit.loop(emit.constant(0), on.strips, 1, [&](Value strip) {
        Value firstQuery = emit.mul(strip, on.stripRows);
        terms.forGroups(firstQuery, emit.min(on.stripRows, emit.sub(on.queries, firstQuery)),
                        [&](Block block) { emitBlock(block); });
      });
    });
    auto store = [&](llvm::function_ref<Value(Value)> gradsOf, Value result, int64_t width) {
      if (result)
        emit.loop(emit.constant(0), count, 1, [&](Value key) {
          on.copyRow(gradsOf(key), on.keyRow(result, batch, emit.add(start, key), keyHead, width), width, false);
        });
    };
    store([&](Value key) { return on.at(keyGrads, emit.mul(key, keyStride)); }, wanted.key, on.keyWidth);
    store([&](Value key) { return on.at(valueGrads, emit.mul(key, valueStride)); }, wanted.value, on.valueWidth);
    store([&](Value key) { return relativeKeys.gradRow(key); }, wanted.positionKey, on.keyWidth);
  }

  void emitBlock(Block block) {
    KeyRange range = mask.ofStrip(code, batch, block.firstQuery, emit.sub(emit.add(block.firstQuery, block.rows), 1), on.keys);
    terms.setKeys(block, mask, range, start, count);
    Value some = emit.select(emit.less(range.low, range.high), emit.less(block.low, block.high), emit.flag(false));
    emit.branch(
        some, [&] { emitTerms(block); },
        [&] {
          storeNothing(block);
          if (wanted.pairScores)
            softmax.storeNoPairs(block);
        });
  }

  /// Gradients of queries that see no key of the chunk.
  void storeNothing(const Block &block) {
    emit.branch(emit.equal(start, emit.constant(0)), [&] {
      if (wanted.query || wanted.positionQuery)
        on.fill(queryGrads, emit.constant(0), emit.mul(block.rows, keyStride), zero);
      for (Value result : {wanted.query, wanted.positionQuery})
        queryGradients.add(block, result);
      if (wanted.selectedScores)
        emit.loop(emit.constant(0), block.rows, 1,
                  [&](Value row) { softmax.storeSelected(block, emit.add(block.firstQuery, row), on.real(0), on.real(0)); });
    });
  }

  void emitTerms(const Block &block) {
    Value one = on.number(1), rows = block.rows;
    Elements dy = on.row(op.getDy(), batch, on.queries, block.firstQuery, head, on.valueWidth);
    auto keysOf = [&](const KeyRun &run) { return emit.sub(run.high, run.low); };
    Ahead ahead = aheadOf(block);
    terms.contract(block, keyPanels, ahead.content, ahead.band);
    if (relativeKeys.any())
      relativeKeys.addScores(block);
    if (wanted.scores()) {
      Value step = on.panelStride(on.valueWidth);
      on.gatherRows(dy, rows, on.valueWidth, yRows, on.number(on.heads * on.valueWidth));
      on.forRuns(block.runs, [&](const KeyRun &run) {
        on.contract({rows, keysOf(run), on.number(on.valueWidth), yRows, on.number(AttentionCode::rowWidth(on.valueWidth)), one,
                     on.at(valuePanels, emit.mul(emit.div(run.low, on.width), step)), step, on.at(scoreGrads, run.low),
                     on.scoreStride, false, Trim::ColumnsOfC, terms.stairsIn(block, run), terms.aheadIn(block, ahead.y)});
      });
    }
    if (relative.any() && wanted.scores())
      relative.contractGradients(block, yRows);
    emit.loop(emit.constant(0), rows, 1, [&](Value row) { softmax.row(block, row); });
    if (wanted.value || wanted.valueTable)
      on.packRows(dy, rows, on.valueWidth, yPanels, on.panelStride(rows), on.number(on.heads * on.valueWidth));
    if (wanted.valueTable)
      relative.addTableGradients(block, yPanels, tableGradients.valueTable);
    if (wanted.value)
      on.forRuns(block.runs, [&](const KeyRun &run) {
        on.contract({keysOf(run), on.number(on.valueWidth), rows, on.at(terms.scores, run.low), one, on.scoreStride, yPanels,
                     on.panelStride(rows), on.at(valueGrads, emit.mul(run.low, valueStride)), on.number(valueStride), true,
                     Trim::RowsOfA, terms.stairsIn(block, run), terms.aheadIn(block, ahead.value)});
      });
    if (wanted.key) {
      on.packRows(on.inScratch(terms.queryRows), rows, on.keyWidth, queryPanels, on.panelStride(rows),
                  on.number(AttentionCode::rowWidth(on.keyWidth)));
      on.forRuns(block.runs, [&](const KeyRun &run) {
        on.contract({keysOf(run), on.number(on.keyWidth), rows, on.at(scoreGrads, run.low), one, on.scoreStride, queryPanels,
                     on.panelStride(rows), on.at(keyGrads, emit.mul(run.low, keyStride)), on.number(keyStride), true,
                     Trim::RowsOfA, terms.stairsIn(block, run), terms.aheadIn(block, ahead.key)});
      });
    }
    if (wanted.query) {
      const bool adds = bool(block.runs.memory);
      if (adds)
        on.fill(queryGrads, emit.constant(0), emit.mul(rows, keyStride), zero);
      on.forRuns(block.runs, [&](const KeyRun &run) {
        on.contract({rows, on.number(on.keyWidth), keysOf(run), on.at(scoreGrads, run.low), on.scoreStride, one,
                     on.at(keyRows, emit.mul(run.low, on.width)), on.panelStride(count), queryGrads, on.number(keyStride), adds,
                     Trim::ColumnsOfA, terms.stairsIn(block, run), terms.aheadIn(block, ahead.query)});
      });
      queryGradients.add(block, wanted.query);
    }
    if (terms.band && wanted.band()) {
      const bool adds = wanted.positionQuery && block.runs.memory;
      if (adds)
        on.fill(queryGrads, emit.constant(0), emit.mul(rows, keyStride), zero);
      terms.forBandParts(block, [&](const AttentionScores::BandPart &part) { emitBand(block, part, ahead.table); });
      queryGradients.add(block, wanted.positionQuery);
    }
    if (wanted.keyBand())
      relativeKeys.addGradients(block, mask, scoreGrads, bool(wanted.positionKey), tableGradients.keyTable);
  }

  /// Gradients by relative position, from the band that SoftmaxGradient filled.
  void emitBand(const Block &block, const AttentionScores::BandPart &part, ArrayRef<RowsAhead> ahead) {
    Value places = emit.sub(part.high, part.low), rows = block.rows, one = on.number(1);
    Value first = emit.add(block.bandStart, part.low), here = on.at(terms.band, part.low);
    Staircase stairs = terms.from(block.bandStairs, part.low);
    if (wanted.table)
      emit.branch(emit.less(emit.constant(0), places), [&] {
        on.packRows(on.inScratch(terms.positionRows), rows, on.keyWidth, positionPanels, on.panelStride(rows),
                    on.number(AttentionCode::rowWidth(on.keyWidth)));
        Value stride = on.number(TableGradients::width(operands));
        on.contract({places, on.number(on.keyWidth), rows, here, one, terms.bandStride, positionPanels, on.panelStride(rows),
                     on.at(tableGradients.table, emit.mul(first, stride)), stride, true, Trim::RowsOfA, stairs,
                     terms.aheadIn(block, ahead)});
      });
    if (wanted.positionQuery)
      on.contract({rows, on.number(on.keyWidth), places, here, terms.bandStride, one,
                   elementAddress(builder, terms.table.rows, on.element, emit.mul(first, on.width)), terms.table.rowStride,
                   queryGrads, on.number(keyStride), bool(block.runs.memory), Trim::ColumnsOfA, stairs});
    if (wanted.scoreTable)
      on.alongRow(emit.constant(0), places, {}, [&](Value place, ValueRange) -> SmallVector<Value> {
        Value inside = firstLanes(code, emit.sub(places, place), on.rowLanes),
              address = on.at(tableGradients.scoreTable, emit.add(first, place));
        Value sum = forLoop(builder, emit.constant(0), rows, one, on.loadRow(address, inside),
                            [&](Value row, ValueRange carried) -> SmallVector<Value> {
                              Value term = on.loadRow(on.at(here, emit.add(emit.mul(row, terms.bandStride), place)));
                              return {arith::AddFOp::create(builder, carried[0], term)};
                            })[0];
        on.storeRow(sum, address, inside);
        return {};
      });
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
  RelativeKeys relativeKeys;
  WantedGradients wanted;
  SoftmaxGradient softmax;
  TableGradients tableGradients;
  QueryGradients queryGradients;
  BackwardScratch scratch;
  int64_t keyStride, valueStride;
  Value batch, keyHead, member, head, zero, scoreGrads, keyPanels, valuePanels, keyRows, keyGrads, valueGrads, queryPanels, yRows,
      yPanels, positionPanels, queryGrads;
  Value start, count;
  struct {
    Value batch, head, start; // of keys
  } next;                     // chunk of keys that is read after this one, of this task or the one behind it
};

} // namespace

LogicalResult generateAttentionGrad(Operation *operation, KernelSequence &sequence) {
  auto op = cast<AttentionGradOp>(operation);
  AttentionOperands operands(op);
  WantedGradients wanted(op);
  if (!wanted.any())
    return success();
  if (failed(operands.takeChoice(op, sequence.tier())) || failed(checkScalars(op)))
    return failure();
  IndexOperands indices(operands.labels, operands.indexOperands);
  AttentionMask mask(operands.mask, indices);
  AttentionTables tables(operands, indices, /*forGradient=*/true);
  Kernel kernel{"attention_grad", op.getLoc(), operands.tensors(), {}, {}, {}, 0, {}, {}};
  kernel.reads.append({op.getDy(), op.getY(), op.getRowMax(), op.getRowSumInverse()});
  for (Value result : op.getResults())
    if (WantedGradients::read(result))
      kernel.writes.push_back(result);
  if (tables.any()) {
    kernel.temporaries.push_back(tables.pack(sequence, op.getLoc()));
    TableGradients::plan(kernel, sequence, operands, wanted);
  }
  QueryGradients::plan(kernel, sequence, operands, wanted);
  kernel.scratchBytes = BackwardScratch(sequence.tier(), operands, tables, wanted, mask).end * elementBytes(operands.element());
  auto codeOf = [&](FunctionCode &code) { return AttentionBackward(op, code, operands, mask, indices, tables); };
  kernel.cut = operands.sidesOfGradient();
  kernel.tiles = [&](FunctionCode &code) { return codeOf(code).tiles(); };
  kernel.body = [&](FunctionCode &code) { codeOf(code).emitTile(); };
  sequence.add(kernel);
  return success();
}

} // namespace tenon::cpu
