#include "lowering/cpu/AttentionRelativeValues.h"

using namespace mlir;

namespace tenon::cpu {

using Trim = BlockContraction::Trim;

Value RelativeValues::row(const Block &block, Value number, QueryPlace place) const {
  Value shift = emit.sub(emit.add(terms.tables.placeOf(on, terms.table, place), block.start), block.bandStart);
  return elementAddress(builder, band, on.element, emit.add(emit.mul(number, terms.bandStride), shift));
}

void RelativeValues::clearHidden(const Block &block, Value number, QueryPlace place, const RowParts &parts, Value zero) const {
  Value bandRow = on.at(band, emit.mul(number, terms.bandStride));
  Value shift = emit.sub(emit.add(terms.tables.placeOf(on, terms.table, place), block.start),
                         block.bandStart); // column of key 0 of the chunk
  Value begin = emit.max(emit.add(shift, parts.begin), block.bandLow), end = emit.add(shift, parts.end);
  Value origin = emit.constant(0);
  on.fill(bandRow, terms.clearFrom(block.bandStairs, origin, block.bandLow, number), begin, zero, /*exactly=*/true);
  on.fill(bandRow, end, terms.clearTo(block.bandStairs, origin, block.bandHigh, number), zero);
}

void RelativeValues::addValues(const Block &block, Value sums, int64_t sumStride) const {
  Value places = emit.sub(block.bandHigh, block.bandLow), first = emit.add(block.bandStart, block.bandLow);
  emit.branch(emit.less(emit.constant(0), places), [&] {
    on.contract({block.rows, on.number(on.valueWidth), places, on.at(band, block.bandLow), terms.bandStride, on.number(1),
                 elementAddress(builder, terms.table.values, on.element, emit.mul(first, on.width)), terms.table.valueStride,
                 sums, on.number(sumStride), true, Trim::ColumnsOfA, terms.from(block.bandStairs, block.bandLow)});
  });
}

void RelativeValues::contractGradients(const Block &block, Value dyRows) const {
  emit.branch(emit.less(block.bandLow, block.bandHigh), [&] {
    Value first = on.roundDown(block.bandLow, on.width), panel = emit.div(emit.add(block.bandStart, first), on.width);
    Value step = terms.table.valueStride;
    on.contract({block.rows, emit.sub(block.bandHigh, first), on.number(on.valueWidth), dyRows,
                 on.number(AttentionCode::rowWidth(on.valueWidth)), on.number(1),
                 on.at(terms.table.values, emit.mul(panel, step)), step, on.at(band, first), terms.bandStride, false,
                 Trim::ColumnsOfC, terms.from(block.bandStairs, first)});
  });
}

void RelativeValues::addTableGradients(const Block &block, Value yPanels, Value grads) const {
  Value places = emit.sub(block.bandHigh, block.bandLow), first = emit.add(block.bandStart, block.bandLow);
  emit.branch(emit.less(emit.constant(0), places), [&] {
    Value stride = on.number(gradientWidth(operands));
    on.contract({places, on.number(on.valueWidth), block.rows, on.at(band, block.bandLow), on.number(1), terms.bandStride,
                 yPanels, on.panelStride(block.rows), on.at(grads, emit.mul(first, stride)), stride, true, Trim::RowsOfA,
                 terms.from(block.bandStairs, block.bandLow)});
  });
}

} // namespace tenon::cpu
