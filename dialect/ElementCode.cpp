#include "dialect/ElementCode.h"

using namespace mlir;

namespace tenon {

Value ElementCode::lookup(Value value, ValueRange indices) {
  auto it = known.find(value);
  if (it == known.end())
    return {};
  for (const Known &element : llvm::reverse(it->second)) {
    if (!llvm::equal(element.indices, indices))
      continue;
    for (Block *scope = builder.getInsertionBlock(); scope;
         scope = scope->getParentOp() ? scope->getParentOp()->getBlock() : nullptr)
      if (scope == element.block)
        return element.scalar;
  }
  return {};
}

void ElementCode::define(Value value, ValueRange indices, Value scalar) {
  known[value].push_back({builder.getInsertionBlock(), llvm::to_vector<4>(indices), scalar});
}

Value ElementCode::element(Value value, ValueRange indices) {
  if (Value scalar = lookup(value, indices))
    return scalar;
  Value scalar;
  if (Value tensor = memory(value)) {
    scalar = AtOp::create(builder, value.getLoc(), tensor, indices);
  } else {
    auto op = cast<ElementOpInterface>(value.getDefiningOp());
    scalar = op.buildElement(builder, cast<OpResult>(value).getResultNumber(), indices,
                             [&](Value operand, ValueRange place) { return element(operand, place); });
  }
  define(value, indices, scalar);
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
