#include "dialect/TensorSizes.h"
#include "lowering/cpu/AttentionGradients.h"

using namespace mlir;

namespace tenon::cpu {

static AffineExpr keysOf(const AttentionOperands &operands) { return sizesOf(cast<RankedTensorType>(operands.key.getType()))[1]; }

/// Whether there may be several chunks whose sums are not to be rounded one by one.
bool QueryGradients::maySum(const AttentionOperands &operands) {
  auto keys = dyn_cast<AffineConstantExpr>(keysOf(operands));
  return isShortReal(operands.storage()) && !(keys && keys.getValue() <= operands.chunkKeys);
}

void QueryGradients::plan(Kernel &kernel, KernelSequence &sequence, const AttentionOperands &operands,
                          const WantedGradients &wanted) {
  if (!maySum(operands))
    return;
  SmallVector<AffineExpr> sizes = sizesOf(cast<RankedTensorType>(operands.query.getType()));
  AffineExpr bytes = sizes[0] * sizes[1] * (operands.heads() * sumWidth(operands) * elementBytes(operands.element()));
  // 0 with at most a chunk of keys, else 1: nobody has more than 2^30.
  AffineExpr several = keysOf(operands).floorDiv(operands.chunkKeys + 1).ceilDiv(int64_t(1) << 20);
  for (Value result : {wanted.query, wanted.positionQuery})
    if (result)
      kernel.temporaries.push_back(sequence.temporary(bytes * several));
}

void QueryGradients::enter(Value itsBatch, Value itsHead, Value itsGrads) { batch = itsBatch, head = itsHead, grads = itsGrads; }

Value QueryGradients::sumOf(Value result, Value query) {
  unsigned number =
      operands.anyTable() ? 1 + TableGradients::temporaries(wanted) : 0; // behind the packed tables and their gradients
  if (result == wanted.positionQuery && wanted.query)
    ++number;
  return on.at(code.temporary(number), on.rowIndex(batch, on.queries, query, head, sumWidth(operands)));
}

void QueryGradients::add(const Block &block, Value result) {
  if (!result)
    return;
  const int64_t stride = AttentionCode::sumWidth(code.tier, on.element, on.keyWidth);
  auto write = [&](llvm::function_ref<Elements(Value)> rowOf, bool adds) {
    emit.loop(emit.constant(0), block.rows, 1, [&](Value row) {
      on.copyRow(on.at(grads, emit.mul(row, stride)), rowOf(emit.add(block.firstQuery, row)), on.keyWidth, adds);
    });
  };
  auto inResult = [&](Value query) { return on.row(result, batch, on.queries, query, head, on.keyWidth); };
  auto inSum = [&](Value query) { return on.inScratch(sumOf(result, query)); };
  auto sum = [&](llvm::function_ref<Elements(Value)> rowOf) {
    emit.branch(emit.equal(block.start, emit.constant(0)), [&] { write(rowOf, false); }, [&] { write(rowOf, true); });
  };
  if (!isShort)
    return sum(inResult);
  if (!maySum(operands))
    return write(inResult, false);
  emit.branch(severalChunks(), [&] { sum(inSum); }, [&] { write(inResult, false); });
}

void QueryGradients::store() {
  if (!maySum(operands))
    return;
  emit.branch(severalChunks(), [&] {
    for (Value result : {wanted.query, wanted.positionQuery})
      if (result)
        emit.loop(emit.constant(0), on.queries, 1, [&](Value query) {
          on.copyRow(sumOf(result, query), on.row(result, batch, on.queries, query, head, on.keyWidth), on.keyWidth, false);
        });
  });
}

} // namespace tenon::cpu
