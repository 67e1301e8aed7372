#include "dialect/TensorSizes.h"
#include "lowering/cpu/AttentionGradients.h"

using namespace mlir;

namespace tenon::cpu {

void TableGradients::plan(Kernel &kernel, KernelSequence &sequence, const AttentionOperands &operands,
                          const WantedGradients &wanted) {
  AffineExpr batches = sizesOf(cast<RankedTensorType>(operands.query.getType()))[0];
  AffineExpr places = sizesOf(cast<RankedTensorType>(operands.anyTable().getType()))[0];
  AffineExpr tasks = batches * (operands.heads() * elementBytes(operands.element()));
  if (wanted.table)
    kernel.temporaries.push_back(sequence.temporary(tasks * places * width(operands)));
  if (wanted.scoreTable)
    kernel.temporaries.push_back(sequence.temporary(tasks * (places.ceilDiv(16) * 16)));
  if (wanted.valueTable)
    kernel.temporaries.push_back(sequence.temporary(tasks * places * RelativeValues::gradientWidth(operands)));
  if (wanted.keyTable)
    kernel.temporaries.push_back(sequence.temporary(tasks * places * width(operands)));
}

void TableGradients::enter(Value itsBatch, Value itsHead) {
  batch = itsBatch, head = itsHead;
  unsigned next = 1;
  Value pair = emit.add(emit.mul(batch, on.heads), head), places = terms.tables.any() ? terms.tables.places(on) : Value();
  auto part = [&](Value elements) { return on.at(on.code.temporary(next++), emit.mul(pair, elements)); };
  if (wanted.table)
    table = part(tableElements = emit.mul(places, width(operands)));
  if (wanted.scoreTable)
    scoreTable = part(scoreTableElements = emit.roundUp(places, 16));
  if (wanted.valueTable)
    valueTable = part(valueTableElements = emit.mul(places, RelativeValues::gradientWidth(operands)));
  if (wanted.keyTable)
    keyTable = part(keyTableElements = emit.mul(places, width(operands)));
}

void TableGradients::clear(Value zero) {
  auto clear = [&](Value wants, Value grads, Value elements) {
    if (wants)
      on.fill(grads, emit.constant(0), elements, zero);
  };
  clear(wanted.table, table, tableElements);
  clear(wanted.scoreTable, scoreTable, scoreTableElements);
  clear(wanted.valueTable, valueTable, valueTableElements);
  clear(wanted.keyTable, keyTable, keyTableElements);
}

void TableGradients::store() {
  if (!terms.tables.any())
    return;
  Value count = terms.tables.places(on);
  auto rowOf = [&](Value place) { return emit.select(terms.table.falls, emit.sub(emit.sub(count, 1), place), place); };
  for (auto [grads, result] : {std::pair(table, wanted.table), std::pair(keyTable, wanted.keyTable)})
    if (result)
      emit.loop(emit.constant(0), count, 1, [&](Value place) {
        on.copyRow(on.at(grads, emit.mul(place, width(operands))), on.row(result, batch, count, rowOf(place), head, on.keyWidth),
                   on.keyWidth, false);
      });
  if (wanted.scoreTable)
    emit.loop(emit.constant(0), count, 1, [&](Value place) {
      on.storeScalar(on.loadScalar(on.at(scoreTable, place)),
                     on.row(wanted.scoreTable, batch, count, rowOf(place), head, 1).address);
    });
  if (wanted.valueTable)
    emit.loop(emit.constant(0), count, 1, [&](Value place) {
      on.copyRow(on.at(valueTable, emit.mul(place, RelativeValues::gradientWidth(operands))),
                 on.row(wanted.valueTable, batch, count, rowOf(place), head, on.valueWidth), on.valueWidth, false);
    });
}

} // namespace tenon::cpu
