// The entry function: the sequence of kernels, stack loops, copies to sinks.
#include "dialect/TensorSizes.h"
#include "dialect/Refusal.h"
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Generators.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {

/// An entry that walks an axis writes behind the places that are kept, so it must not run where the new ones do not fit: failed check 1.
void KernelSequence::emitWalkCheck() {
  auto walk = source->getAttrOfType<DictionaryAttr>("tenon.walk");
  if (!walk)
    return;
  auto &builder = entry->builder;
  auto number = [&](StringRef name) { return walk.getAs<IntegerAttr>(name).getInt(); };
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value kept = LLVM::LoadOp::create(builder, i32, entry->address({Buffer::Base::States, number("position"), {}}), 4);
  kept = arith::ExtSIOp::create(builder, i64, kept);
  Value count = entry->scalar(source.getArgument(number("count")));
  Value room = subtract(builder, entry->size(walk.getAs<AffineMapAttr>("capacity").getValue().getResult(0)), count);
  Value negative = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, kept, constant(builder, 0));
  Value beyond = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, kept, room);
  Value bad = arith::OrIOp::create(builder, negative, beyond);
  Block *before = builder.getInsertionBlock(), *fails = new Block, *runs = new Block;
  before->getParent()->push_back(fails);
  before->getParent()->push_back(runs);
  LLVM::CondBrOp::create(builder, bad, fails, runs);
  builder.setInsertionPointToStart(fails);
  LLVM::ReturnOp::create(builder, ValueRange{arith::ConstantOp::create(builder, builder.getI32IntegerAttr(1))});
  builder.setInsertionPointToStart(runs);
}

LogicalResult KernelSequence::emit(StringRef symbol) {
  prefix = source.getName().str();
  ImplicitLocOpBuilder builder(source.getLoc(), target.getContext());
  builder.setInsertionPointToEnd(target.getBody());
  Type address = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
  auto function = LLVM::LLVMFuncOp::create(builder, symbol, LLVM::LLVMFunctionType::get(builder.getI32Type(), {address}));
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  call = LLVM::AllocaOp::create(builder, address, i64, constant(builder, abi::CallBytes / 8), 64);
  LLVM::MemcpyOp::create(builder, call, block->getArgument(0), constant(builder, abi::ContextBytes), false);
  FunctionCode code(*this, builder, call);
  code.isEntry = true;
  entry = &code;
  emitWalkCheck();
  LogicalResult result = emitBlock(source.getBody().front());
  LLVM::ReturnOp::create(builder, ValueRange{arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0))});
  entry = nullptr;
  return result;
}

LogicalResult KernelSequence::emitBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<func::ReturnOp, YieldOp>(op))
      continue;
    entry->builder.setLoc(op.getLoc());
    current = &op;
    nextTemporary = 0;
    if (failed(emitOp(op)))
      return failure();
  }
  return success();
}

LogicalResult KernelSequence::emitOp(Operation &op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (op.hasTrait<Address>() || isa<SizeValueOp>(op) || (isa<arith::ArithDialect>(op.getDialect()) && llvm::none_of(op.getResultTypes(), isTensor)))
    return success(); // addresses, and scalars that kernels repeat
  if (auto stack = dyn_cast<StackOp>(op))
    return emitStack(stack);
  auto bytes = [](Value value) { return tensorBytes(cast<RankedTensorType>(value.getType())); };
  if (auto write = dyn_cast<WriteGradientOp>(op)) {
    ParameterOp parameter = allParameters().lookup(write.getParameter());
    Buffer sink{Buffer::Base::Gradients, int64_t(parameter.getOffset()), {}};
    sink.steps = depthSteps(write.getDepths(), cast<RankedTensorType>(parameter.getType()).getShape(),
                            getAffineConstantExpr(parameter.getStride(), op.getContext()));
    return emitSink(op, write.getGradient(), sink);
  }
  if (auto write = dyn_cast<WriteStateOp>(op)) {
    Buffer sink{Buffer::Base::NextStates, int64_t(write.getIndex()), {}};
    if (!write.getDepths().empty())
      sink.steps = stateSteps(source, write.getIndex(), write.getDepths(), bytes(write.getValue()));
    return emitSink(op, write.getValue(), sink);
  }
  if (auto output = dyn_cast<OutputOp>(op))
    return emitSink(op, output.getValue(), {Buffer::Base::Output, int64_t(output.getIndex()), {}});
  if (auto kernel = dyn_cast<CpuKernelOpInterface>(op))
    return kernel.generate(*this);
  return notSupported(&op) << op.getName() << " in the kernel form of the CPU";
}

LogicalResult KernelSequence::emitSink(Operation &op, Value value, const Buffer &sink) {
  return copy(op, value.getType(), *bufferOf(value), sink);
}

LogicalResult KernelSequence::copy(Operation &op, Type type, const Buffer &from, const Buffer &to) {
  if (from.samePlace(to))
    return success();
  constexpr int64_t tileBytes = 256 << 10; // about 20 us at 12 GB/s
  AffineExpr bytes = tensorBytes(cast<RankedTensorType>(type));
  Kernel kernel{"copy", op.getLoc(), {}, {}, {from, to}, {}, 0, {}, {}};
  kernel.tiles = [bytes](FunctionCode &code) {
    return ceilDivide(code.builder, code.size(bytes), constant(code.builder, tileBytes));
  };
  kernel.body = [bytes](FunctionCode &code) {
    auto &builder = code.builder;
    Value low = multiply(builder, code.tile, constant(builder, tileBytes));
    Value count = minimum(builder, constant(builder, tileBytes), subtract(builder, code.size(bytes), low));
    LLVM::MemcpyOp::create(builder, byteAddress(builder, code.place(1), low), byteAddress(builder, code.place(0), low), count,
                           false);
  };
  add(kernel);
  return success();
}

/// The carry arguments hold the values of the current depth. At the end of the body each new carry is brought to where the
/// argument lies at the next depth; nothing moves when the planner placed it there.
LogicalResult KernelSequence::emitYield(StackOp stack, ArrayRef<Buffer> arguments) {
  Block &block = stack.getBody().front();
  auto yield = cast<YieldOp>(block.getTerminator());
  const unsigned carries = stack.getCarries().size();
  const int64_t direction = stack.getReverse() ? -1 : 1;
  // Saved values first: they may be carries of this depth, whose place the new carry is about to take.
  const unsigned count = yield.getNumOperands();
  for (unsigned next = 0; next < count; ++next) {
    const unsigned i = (next + carries) % count;
    Value value = yield.getOperand(i);
    auto from = bufferOf(value);
    assert(from && "its op has a place");
    Buffer to;
    if (i < carries) {
      to = arguments[i];
      for (Buffer::Step &step : to.steps)
        if (step.depth == block.getArgument(0))
          step.shift += direction;
    } else {
      auto whole = bufferOf(stack.getResult(i));
      if (!whole) { // nobody reads it
        assert(stack.getResult(i).use_empty() && "its op has a place");
        continue;
      }
      to = *whole;
      to.steps.push_back({block.getArgument(0), tensorBytes(cast<RankedTensorType>(value.getType())), -int64_t(stack.getFirst())});
    }
    if (failed(copy(*stack, value.getType(), *from, to)))
      return failure();
  }
  return success();
}

LogicalResult KernelSequence::emitStack(StackOp stack) {
  auto &builder = entry->builder;
  Block &block = stack.getBody().front();
  const unsigned carries = stack.getCarries().size();
  if (int64_t(depths.size()) == abi::maxDepths)
    return notSupported(stack) << "more than " << abi::maxDepths << " nested stacks";
  SmallVector<Buffer> arguments;
  for (unsigned i = 0; i < carries; ++i) {
    auto buffer = bufferOf(block.getArgument(i + 1));
    assert(buffer && "the planner gives every carry a place");
    arguments.push_back(*buffer);
  }
  const int64_t count = stack.getCount(), lowest = stack.getFirst(), first = lowest + (stack.getReverse() ? count - 1 : 0);
  Value depthAddress = byteAddress(builder, call, constant(builder, abi::DepthValues + 8 * int64_t(depths.size())));
  LLVM::StoreOp::create(builder, constant(builder, first), depthAddress, 8);
  for (unsigned i = 0; i < carries; ++i)
    if (failed(copy(*stack, stack.getCarries()[i].getType(), *bufferOf(stack.getCarries()[i]), arguments[i])))
      return failure();
  depths.push_back(block.getArgument(0));
  LogicalResult result = success();
  forLoop(builder, constant(builder, 0), constant(builder, count), [&](Value iteration) {
    Value depth = stack.getReverse() ? subtract(builder, constant(builder, first), iteration) : cpu::add(builder, constant(builder, first), iteration);
    LLVM::StoreOp::create(builder, depth, depthAddress, 8);
    if (failed(emitBlock(block)) || failed(emitYield(stack, arguments)))
      result = failure();
  });
  depths.pop_back();
  if (failed(result))
    return failure();
  // After the loop the depth variable still names the last depth; the last carries lie one step further.
  for (unsigned i = 0; i < carries; ++i) {
    if (stack.getResult(i).use_empty())
      continue;
    Buffer last = arguments[i];
    for (Buffer::Step &step : last.steps)
      if (step.depth == block.getArgument(0))
        step.shift += stack.getReverse() ? -1 : 1;
    if (failed(copy(*stack, stack.getResult(i).getType(), last, *bufferOf(stack.getResult(i)))))
      return failure();
  }
  return success();
}

} // namespace tenon::cpu
