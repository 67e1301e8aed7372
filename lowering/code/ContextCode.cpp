#include "lowering/code/ContextCode.h"
#include "lowering/artifact/Abi.h"
#include "lowering/artifact/Bind.h"

using namespace mlir;

namespace tenon {

Value indexCode(ImplicitLocOpBuilder &builder, Value index, llvm::function_ref<Value(BlockArgument)> ofArgument) {
  if (!index.getType().isIndex())
    return {};
  if (auto number = asConstant(index))
    return constant(builder, *number);
  if (auto argument = dyn_cast<BlockArgument>(index))
    return ofArgument(argument);
  Operation *op = index.getDefiningOp();
  if (!isa<arith::AddIOp, arith::MulIOp>(op))
    return {};
  Value left = indexCode(builder, op->getOperand(0), ofArgument), right = indexCode(builder, op->getOperand(1), ofArgument);
  if (!left || !right)
    return {};
  return isa<arith::AddIOp>(op) ? add(builder, left, right) : multiply(builder, left, right);
}

ContextCode::ContextCode(func::FuncOp entry, ImplicitLocOpBuilder &builder, Value context)
    : builder(builder), context(context), entry(entry) {
  dims = loadDims(builder, entry, pointerField(abi::Dims));
}

Value ContextCode::field(int64_t offset) {
  return LLVM::LoadOp::create(builder, builder.getI64Type(), byteAddress(builder, context, constant(builder, offset)), 8);
}

Value ContextCode::pointerField(int64_t offset) {
  return LLVM::LoadOp::create(builder, pointer(builder), byteAddress(builder, context, constant(builder, offset)), 8);
}

Value ContextCode::scalar(Value index) {
  return indexCode(builder, index, [&](BlockArgument argument) -> Value {
    return argument.getOwner()->getParentOp() == entry ? dims[argument.getArgNumber()] : loopIndex(argument);
  });
}

Value ContextCode::arena(TnArena number) {
  Value table = pointerField(abi::Arenas);
  return LLVM::LoadOp::create(builder, pointer(builder), byteAddress(builder, table, constant(builder, 8 * number)), 8);
}

Value ContextCode::address(const Buffer &buffer) {
  auto slotOf = [&](int64_t table, Type type) -> Value {
    Value base = pointerField(table);
    return LLVM::LoadOp::create(builder, type, byteAddress(builder, base, constant(builder, 8 * buffer.slot)), 8);
  };
  auto inArena = [&](TnArena number) { return byteAddress(builder, arena(number), constant(builder, buffer.slot)); };
  auto planned = [&](TnArena number) {
    Value base = arena(number);
    return byteAddress(builder, base, slotOf(abi::Offsets, builder.getI64Type()));
  };
  auto baseOf = [&]() -> Value {
    switch (buffer.base) {
    case Buffer::Base::Parameters:
      return inArena(TN_ARENA_PARAMS);
    case Buffer::Base::Copies:
      return inArena(TN_ARENA_COPIES);
    case Buffer::Base::Remainders:
      return inArena(TN_ARENA_REMAINDERS);
    case Buffer::Base::Gradients:
      return inArena(TN_ARENA_GRADS);
    case Buffer::Base::States:
      return planned(TN_ARENA_STATES);
    case Buffer::Base::NextStates:
      return planned(TN_ARENA_NEXT_STATES);
    case Buffer::Base::KeptStates:
      return planned(TN_ARENA_KEPT_STATES);
    case Buffer::Base::Workspace:
      return planned(TN_ARENA_WORKSPACE);
    case Buffer::Base::Input:
      return slotOf(abi::Inputs, pointer(builder));
    case Buffer::Base::Output:
      return slotOf(abi::Outputs, pointer(builder));
    case Buffer::Base::LossScale:
      return arena(TN_ARENA_LOSS_SCALE);
    }
    llvm_unreachable("all memories are named");
  };
  Value base = baseOf();
  for (const Buffer::Step &step : buffer.steps) {
    Value depth = constant(builder, step.shift);
    if (step.depth)
      depth = add(builder, scalar(step.depth), depth);
    base = byteAddress(builder, base, multiply(builder, depth, size(step.bytes)));
  }
  return base;
}

} // namespace tenon
