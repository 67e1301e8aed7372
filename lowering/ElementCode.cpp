#include "lowering/ElementCode.h"

using namespace mlir;

namespace tenon {

Value ElementCode::lookup(const Key &key) {
  for (auto &[block, knownKey, scalar] : llvm::reverse(known)) {
    if (knownKey != key)
      continue;
    for (Block *scope = builder.getInsertionBlock(); scope; scope = scope->getParentOp() ? scope->getParentOp()->getBlock() : nullptr)
      if (scope == block)
        return scalar;
  }
  return {};
}

void ElementCode::define(Value value, ValueRange indices, Value scalar) {
  known.emplace_back(builder.getInsertionBlock(), Key(value, llvm::to_vector(indices)), scalar);
}

Value ElementCode::element(Value value, ValueRange indices) {
  Key key(value, llvm::to_vector(indices));
  if (Value scalar = lookup(key))
    return scalar;
  Value scalar;
  if (Value tensor = memory(value)) {
    scalar = AtOp::create(builder, value.getLoc(), tensor, indices);
  } else {
    auto op = cast<ElementOpInterface>(value.getDefiningOp());
    scalar = op.buildElement(builder, cast<OpResult>(value).getResultNumber(), indices,
                             [&](Value operand, ValueRange place) { return element(operand, place); });
  }
  known.emplace_back(builder.getInsertionBlock(), std::move(key), scalar);
  return scalar;
}

static bool dependsOn(Operation *op, Block *block) {
  WalkResult result = op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      Block *owner = operand.getParentBlock();
      if (owner == block)
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

void hoistInvariants(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(body))
    for (Region &region : op.getRegions())
      for (Block &inner : region) {
        hoistInvariants(inner);
        for (Operation &candidate : llvm::make_early_inc_range(inner))
          if (isPure(&candidate) && !candidate.hasTrait<OpTrait::IsTerminator>() && !dependsOn(&candidate, &inner))
            candidate.moveBefore(&op);
      }
}

} // namespace tenon
