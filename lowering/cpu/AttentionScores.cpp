#include "lowering/cpu/AttentionScores.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon::cpu {

using Trim = BlockContraction::Trim;

AttentionScores::AttentionScores(AttentionCode &on, const AttentionOperands &operands, const IndexOperands &indices,
                                 const AttentionTables &tables)
    : tables(tables), on(on), operands(operands), indices(indices), builder(on.builder), emit(on.emit) {
  std::string problem;
  if (operands.select)
    select = *toMask(operands.select, problem); // verified
}

void AttentionScores::enter(Value itsBatch, Value itsHead, Value itsScores, Value itsBand, Value rows, Value packed) {
  batch = itsBatch, head = itsHead, scores = itsScores, band = itsBand, queryRows = rows;
  positionRows = on.at(rows, on.number(AttentionCode::stripLimit * AttentionCode::rowWidth(on.keyWidth)));
  if (!tables.any())
    return;
  table = tables.head(on, packed, batch, head);
  if (tables.computes()) {
    bandStride = operands.table ? on.number(bandLimit(operands, tables)) : Value();
    return;
  }
  // As for the scores, no multiple of the page.
  bandStride = emit.add(emit.roundUp(emit.add(emit.min(on.keys, on.chunkKeys), tables.spreadLimit() + 64), 64), 16);
  bandStride = emit.min(bandStride, bandLimit(operands, tables));
}

void AttentionScores::forGroups(Value firstQuery, Value rows, llvm::function_ref<void(Block)> body) {
  Block block;
  if (!tables.any()) {
    block.firstQuery = firstQuery, block.rows = rows;
    body(block);
    return;
  }
  tables.forGroups(on, table, batch, firstQuery, rows, [&](Value first, Value count, Value least, Value spread) {
    block.firstQuery = first, block.rows = count, block.leastPlace = least, block.spread = spread;
    body(block);
  });
}

Staircase AttentionScores::from(Staircase stairs, Value column) const {
  for (Value *bound : {&stairs.low, &stairs.high})
    if (*bound)
      *bound = emit.sub(*bound, column);
  return stairs;
}

void AttentionScores::setKeys(Block &block, const AttentionMask &mask, KeyRange range, Value start, Value count) {
  block.start = start;
  block.low = on.roundDown(emit.max(emit.sub(range.low, start), int64_t(0)), std::max(on.width, on.rowLanes));
  block.high = emit.max(emit.min(emit.sub(range.high, start), count), block.low);
  Staircase ofKeys = mask.staircase(on.code, batch, block.firstQuery);
  block.stairs = from(ofKeys, emit.add(start, block.low));
  block.runs.whole = {block.low, block.high, {}};
  if (runs)
    block.runs = on.findRuns(mask, runs, batch, {block.firstQuery, emit.sub(emit.add(block.firstQuery, block.rows), 1)}, start,
                             block.low, block.high);
  if (tables.any())
    setBand(block, ofKeys);
}

void AttentionScores::setBand(Block &block, const Staircase &ofKeys) {
  Value start = block.start;
  if (tables.computes()) {
    block.bandStart = block.bandLow = emit.constant(0);
    block.bandHigh = tables.places(on);
    return;
  }
  // Columns begin at a whole panel; what lies outside the table belongs to hidden keys and stays as it is.
  Value first = emit.add(block.leastPlace, emit.add(start, block.low));
  Value end = emit.add(emit.add(block.leastPlace, block.spread), emit.add(start, block.high));
  block.bandStart = on.roundDown(first, on.width);
  Value low = emit.max(first, int64_t(0)), high = emit.max(emit.min(end, tables.places(on)), low);
  block.bandLow = emit.sub(low, block.bandStart);
  block.bandHigh = emit.sub(high, block.bandStart);
  std::optional<int64_t> step = tables.step();
  if (!step)
    return;
  // Of the first row: the column of key 0.
  Value column = emit.sub(*step < 0 ? emit.add(block.leastPlace, block.spread) : block.leastPlace, block.bandStart);
  block.bandStairs.low = emit.add(column, ofKeys.low ? ofKeys.low : emit.add(start, block.low));
  block.bandStairs.high = emit.add(column, ofKeys.high ? ofKeys.high : emit.add(start, block.high));
  block.bandStairs.lowStep = *step + ofKeys.lowStep;
  block.bandStairs.highStep = *step + ofKeys.highStep;
  if (block.bandStairs.lowStep == 0)
    block.bandLow = emit.min(emit.max(block.bandLow, block.bandStairs.low), block.bandHigh);
  if (block.bandStairs.highStep == 0)
    block.bandHigh = emit.max(emit.min(block.bandHigh, block.bandStairs.high), block.bandLow);
  if (block.bandStairs.lowStep != 1 && block.bandStairs.lowStep != -1)
    block.bandStairs.low = {}, block.bandStairs.lowStep = 0;
  if (block.bandStairs.highStep != 1 && block.bandStairs.highStep != -1)
    block.bandStairs.high = {}, block.bandStairs.highStep = 0;
}

void AttentionScores::contract(const Block &block, Value keyPanels, ArrayRef<RowsAhead> ahead, ArrayRef<RowsAhead> aheadOfBand) {
  const int64_t rowStride = on.heads * on.keyWidth;
  Value step = on.panelStride(on.keyWidth), depth = on.number(on.keyWidth), one = on.number(1);
  Elements query = on.row(operands.query, batch, on.queries, block.firstQuery, head, on.keyWidth);
  Value width = on.number(AttentionCode::rowWidth(on.keyWidth));
  on.gatherRows(query, block.rows, on.keyWidth, queryRows, on.number(rowStride));
  on.forRuns(block.runs, [&](const KeyRun &run) {
    emit.branch(
        on.readsInPlace, [&] { contractInPlace(block, run); },
        [&] {
          on.contract({block.rows, emit.sub(run.high, run.low), depth, queryRows, width, one,
                       on.at(keyPanels, emit.mul(emit.div(run.low, on.width), step)), step, on.at(scores, run.low),
                       on.scoreStride, false, Trim::ColumnsOfC, stairsIn(block, run), aheadIn(block, ahead)});
        });
  });
  if (!operands.table)
    return;
  emit.branch(emit.less(block.bandLow, block.bandHigh), [&] {
    Elements position = on.row(operands.positionQuery, batch, on.queries, block.firstQuery, head, on.keyWidth);
    on.gatherRows(position, block.rows, on.keyWidth, positionRows, on.number(rowStride));
    forBandParts(block, [&](const BandPart &part) {
      Value first = on.roundDown(part.low, on.width);
      Value panel = emit.div(emit.add(block.bandStart, first), on.width);
      on.contract({block.rows, emit.sub(part.high, first), depth, positionRows, width, one,
                   on.at(table.columns, emit.mul(panel, step)), step, on.at(band, first), bandStride, false, Trim::ColumnsOfC,
                   from(block.bandStairs, first), aheadIn(block, aheadOfBand)});
    });
  });
}

void AttentionScores::contractInPlace(const Block &block, const KeyRun &run) {
  Value keyHead = emit.div(head, on.group);
  on.stream({block.rows, emit.sub(run.high, run.low), on.number(on.keyWidth), queryRows,
             on.number(AttentionCode::rowWidth(on.keyWidth)),
             on.keyRow(operands.key, batch, emit.add(block.start, run.low), keyHead, on.keyWidth),
             on.number(on.keyHeads * on.keyWidth), /*alongDepth=*/true, operands.roundingOf(operands.key), on.at(scores, run.low),
             on.scoreStride});
}

void AttentionScores::forBandParts(const Block &block, llvm::function_ref<void(const BandPart &)> body) {
  const KeyRuns &runs = block.runs;
  if (!runs.memory)
    return body({block.bandLow, block.bandHigh});
  Type i64 = builder.getI64Type();
  auto load = [&](Value record, int64_t which) {
    return emit.load(i64, emit.at(runs.memory, i64, emit.add(emit.mul(record, KeyRuns::kNumbers), which)), 8);
  };
  Value origin = emit.sub(emit.add(block.leastPlace, block.start), block.bandStart); // column of key 0, of the row furthest left
  auto inside = [&](Value column) { return emit.min(emit.max(column, block.bandLow), block.bandHigh); };
  Value one = on.number(1);
  forLoop(builder, one, emit.add(runs.count, 1), one, load(one, 0), [&](Value record, ValueRange carried) -> SmallVector<Value> {
    Value reach = emit.add(load(record, 1), block.spread), following = load(emit.add(record, 1), 0);
    Value joins = emit.select(emit.less(record, runs.count), emit.less(following, reach), emit.flag(false));
    const BandPart part{inside(emit.add(origin, carried[0])), inside(emit.add(origin, reach))};
    Value isPart = emit.select(joins, emit.flag(false), emit.less(part.low, part.high));
    emit.branch(isPart, [&] { body(part); });
    return {emit.select(joins, carried[0], following)};
  });
}

AttentionScores::Row AttentionScores::row(const Block &block, const AttentionMask &mask, Value number) {
  Row row;
  row.place = {batch, emit.add(block.firstQuery, number)};
  row.content = on.at(scores, emit.mul(number, on.scoreStride));
  row.parts = on.partsOf(mask, row.place, block.start, block.low, block.high);
  if (tables.any()) {
    Value place = tables.computes() ? emit.constant(0) : emit.add(tables.placeOf(on, table, row.place), block.start);
    if (band)
      row.band =
          elementAddress(builder, band, on.element, emit.add(emit.mul(number, bandStride), emit.sub(place, block.bandStart)));
    if (operands.scoreTable)
      row.distances = elementAddress(builder, table.scores, on.element, place); // may begin before the table
  }
  if (operands.pairScores) {
    Value ofPairs = batch;
    if (operands.pairBatch) {
      AffineExpr rows = sizesOf(cast<RankedTensorType>(operands.pairScores.getType()))[0];
      ofPairs = emit.rem(emit.div(batch, on.code.size(operands.pairBatch->getResult(1))), on.code.size(rows));
    }
    row.pairs = on.pairRow(operands.pairScores, ofPairs, head, row.place.query, block.start);
  }
  if (select) {
    Value pair = emit.mul(emit.add(emit.mul(emit.add(emit.mul(batch, on.queries), row.place.query), on.heads), head), 2);
    for (int64_t which : {0, 1})
      row.selected[which] = on.spread(on.loadScalar(on.at(on.code.pointer(operands.selectedScores), emit.add(pair, which))));
  }
  return row;
}

Value AttentionScores::firstDrawn(QueryPlace place) {
  Value queries = operands.drawnAt ? on.code.size(operands.drawnOf) : on.queries;
  Value query = operands.drawnAt ? indices.scalar(on.code, *operands.drawnAt, place) : place.query;
  return emit.mul(emit.add(emit.mul(emit.add(emit.mul(batch, queries), query), on.heads), head), on.keys);
}

SmallVector<Value> AttentionScores::placesOf(const Block &block, const Row &row, Value key, Value shown) {
  SmallVector<Value> places =
      indices.computed(on.code, *operands.placeCode, row.place, emit.add(block.start, key), on.rowLanes, shown);
  for (Value &place : places)
    if (shown) {
      Value none = arith::ConstantOp::create(builder, builder.getZeroAttr(place.getType()));
      place = arith::SelectOp::create(builder, shown, place, none);
    }
  return places;
}

AttentionScores::Score AttentionScores::at(const Block &block, const Row &row, Value key, Value shown, bool slope) {
  Score score;
  score.value = on.loadRow(on.at(row.content, key));
  auto plus = [&](Value term) { score.value = arith::AddFOp::create(builder, score.value, term); };
  if (tables.computes()) {
    for (Value place : placesOf(block, row, key, shown))
      for (Value base : {operands.table ? row.band : Value(), operands.scoreTable ? row.distances : Value()})
        if (base)
          plus(on.gather(on.atEach(base, place), shown));
  } else {
    if (operands.table)
      plus(on.loadRow(elementAddress(builder, row.band, on.element, key)));
    if (operands.scoreTable)
      plus(on.loadRow(elementAddress(builder, row.distances, on.element, key), shown));
  }
  if (select)
    plus(arith::SelectOp::create(builder, chosen(block, row, key, shown), row.selected[1], row.selected[0]));
  if (operands.pairScores)
    plus(on.loadRow(on.at(row.pairs, key), shown));
  score.value = arith::MulFOp::create(builder, score.value, on.spread(on.real(operands.scale)));
  if (operands.step)
    std::tie(score.value, score.slope) = on.step(*operands.step, score.value, slope);
  return score;
}

} // namespace tenon::cpu
