#include "lowering/cpu/AttentionRelativeKeys.h"

using namespace mlir;

namespace tenon::cpu {

using Trim = BlockContraction::Trim;

RelativeKeys::Scratch::Scratch(ScratchPlan &plan, Tier tier, const AttentionOperands &operands, const AttentionTables &tables,
                               bool gradients) {
  const bool needed = bool(operands.keyTable);
  const int64_t width = operands.keyWidth();
  Type element = operands.element();
  auto take = [&](bool wanted, int64_t elements) { return plan.take(wanted ? elements : 0); };
  rows = take(needed, kTileKeys * AttentionCode::rowWidth(width));
  band = take(needed, kTileKeys * stride(tables) + 64);
  panels = take(needed && gradients, AttentionCode::panelElements(tier, element, kTileKeys, width));
  grads = take(needed && gradients, operands.chunkKeys * AttentionCode::sumWidth(tier, element, width));
}

void RelativeKeys::enter(Value itsBatch, Value itsKeyHead, llvm::function_ref<Value(int64_t)> place, const Scratch &scratch) {
  batch = itsBatch, keyHead = itsKeyHead;
  if (any())
    rows = place(scratch.rows), band = place(scratch.band), panels = place(scratch.panels), grads = place(scratch.grads);
}

void RelativeKeys::forTiles(const Block &block, llvm::function_ref<void(const Tile &)> body) const {
  emit.loop(block.low, block.high, kTileKeys, [&](Value key) {
    Tile tile;
    tile.key = key;
    tile.keys = emit.min(emit.sub(block.high, key), kTileKeys);
    Value least = emit.add(block.leastPlace, emit.add(block.start, key)), reach = emit.add(least, block.spread);
    // Columns begin at a whole panel; what lies outside the table belongs to hidden pairs and stays as it is.
    tile.start = on.roundDown(least, on.width);
    Value low = emit.max(least, int64_t(0)), high = emit.max(emit.min(emit.add(reach, tile.keys), terms.tables.places(on)), low);
    tile.low = emit.sub(low, tile.start);
    tile.high = emit.sub(high, tile.start);
    tile.stairs = {emit.sub(least, tile.start), emit.sub(emit.add(reach, 1), tile.start), 1, 1};
    body(tile);
  });
}

void RelativeKeys::gatherKeys(const Block &block, const Tile &tile) const {
  on.gatherRows(on.keyRow(operands.positionKey, batch, emit.add(block.start, tile.key), keyHead, on.keyWidth), tile.keys,
                on.keyWidth, rows, on.number(on.keyHeads * on.keyWidth));
}

Value RelativeKeys::diagonal(const Block &block, const Tile &tile, Value number, Value key) const {
  Value place = terms.tables.placeOf(on, terms.table, {batch, emit.add(block.firstQuery, number)});
  Value column = emit.sub(emit.add(place, emit.add(block.start, tile.key)), tile.start); // of the tile's first key
  const int64_t step = stride(terms.tables) + 1;
  return on.every(on.at(band, emit.add(column, emit.mul(emit.sub(key, tile.key), step))), step);
}

void RelativeKeys::addScores(const Block &block) const {
  forTiles(block, [&](const Tile &tile) {
    emit.branch(emit.less(tile.low, tile.high), [&] {
      Value first = on.roundDown(tile.low, on.width), step = on.panelStride(on.keyWidth);
      gatherKeys(block, tile);
      on.contract({tile.keys, emit.sub(tile.high, first), on.number(on.keyWidth), rows,
                   on.number(AttentionCode::rowWidth(on.keyWidth)), on.number(1),
                   on.at(terms.table.keyColumns, emit.mul(emit.div(emit.add(tile.start, first), on.width), step)), step,
                   on.at(band, first), on.number(stride(terms.tables)), false, Trim::ColumnsOfC, terms.from(tile.stairs, first)});
      emit.loop(emit.constant(0), block.rows, 1, [&](Value number) {
        Value scores = on.at(terms.scores, emit.mul(number, on.scoreStride));
        on.alongRow(tile.key, emit.add(tile.key, tile.keys), {}, [&](Value key, ValueRange) -> SmallVector<Value> {
          Value address = on.at(scores, key);
          on.storeRow(arith::AddFOp::create(builder, on.loadRow(address), on.gather(diagonal(block, tile, number, key))),
                      address);
          return {};
        });
      });
    });
  });
}

void RelativeKeys::clear(Value count, Value zero) const {
  on.fill(grads, emit.constant(0), emit.mul(count, on.keySumWidth()), zero);
}

/// Gradients of scores from strip order to the tile's keys and places. Queries at different places write different elements.
void RelativeKeys::spreadGradients(const Block &block, const Tile &tile, const AttentionMask &mask, Value scoreGrads) const {
  on.fill(band, emit.constant(0), emit.mul(tile.keys, stride(terms.tables)), on.spread(on.real(0)));
  const bool distinct = terms.tables.step().value_or(0) != 0;
  emit.loop(emit.constant(0), block.rows, 1, [&](Value number) {
    RowParts parts = on.partsOf(mask, {batch, emit.add(block.firstQuery, number)}, block.start, block.low, block.high);
    Value from = on.at(scoreGrads, emit.mul(number, on.scoreStride));
    Value low = emit.max(parts.begin, tile.key), high = emit.min(parts.end, emit.add(tile.key, kTileKeys));
    on.alongRow(low, high, {}, [&](Value key, ValueRange) -> SmallVector<Value> {
      Value to = diagonal(block, tile, number, key), grads = on.loadRow(on.at(from, key));
      on.scatter(distinct ? grads : Value(arith::AddFOp::create(builder, grads, on.gather(to))), to);
      return {};
    });
  });
}

void RelativeKeys::addGradients(const Block &block, const AttentionMask &mask, Value scoreGrads, bool wantsKeys,
                                Value tableGrads) const {
  forTiles(block, [&](const Tile &tile) {
    Value places = emit.sub(tile.high, tile.low), first = emit.add(tile.start, tile.low), one = on.number(1),
          bandStride = on.number(stride(terms.tables)), width = on.number(on.keyWidth), here = on.at(band, tile.low);
    emit.branch(emit.less(emit.constant(0), places), [&] {
      spreadGradients(block, tile, mask, scoreGrads);
      Staircase stairs = terms.from(tile.stairs, tile.low);
      if (wantsKeys)
        on.contract({tile.keys, width, places, here, bandStride, one, on.at(terms.table.keyRows, emit.mul(first, on.width)),
                     terms.table.rowStride, gradRow(tile.key), on.number(on.keySumWidth()), true, Trim::ColumnsOfA, stairs});
      if (!tableGrads)
        return;
      gatherKeys(block, tile);
      on.packRows(on.inScratch(rows), tile.keys, on.keyWidth, panels, on.panelStride(tile.keys),
                  on.number(AttentionCode::rowWidth(on.keyWidth)));
      const int64_t tableStride = AttentionCode::tableGradWidth(operands.keyWidth());
      on.contract({places, width, tile.keys, here, one, bandStride, panels, on.panelStride(tile.keys),
                   on.at(tableGrads, emit.mul(first, tableStride)), on.number(tableStride), true, Trim::RowsOfA, stairs});
    });
  });
}

} // namespace tenon::cpu
