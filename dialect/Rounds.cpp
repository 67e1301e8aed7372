#include "dialect/Rounds.h"

using namespace mlir;
using namespace tenon;

#define GET_OP_CLASSES
#include "dialect/RoundOps.cpp.inc"

LogicalResult SkipOp::verify() {
  auto isScalar = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank() == 0; };
  if (!isScalar(getWhen())) // C2
    return emitOpError("expects a scalar, got ") << getWhen().getType();
  if (!getRounds())
    return success();
  if (!isScalar(getRounds())) // C3
    return emitOpError("expects a scalar that counts rounds, got ") << getRounds().getType();
  auto argument = dyn_cast<BlockArgument>(getRounds());
  if (isa<StackOp>((*this)->getParentOp()) && (!argument || argument.getOwner() != (*this)->getBlock())) // C3
    return emitOpError("expects a carry of the stack around it to count its rounds");
  return success();
}

bool tenon::mayEndEarly(StackOp stack) { return !stack.getBody().front().getOps<SkipOp>().empty(); }

std::optional<unsigned> tenon::roundsCarry(StackOp stack) {
  for (SkipOp skip : stack.getBody().front().getOps<SkipOp>())
    if (auto carry = dyn_cast_or_null<BlockArgument>(skip.getRounds()))
      return carry.getArgNumber() - 1;
  return std::nullopt;
}
