// The entry function: the schedule as calls of kernels, loops and copies.
#include "dialect/Refusal.h"
#include "dialect/Rounds.h"
#include "dialect/TensorSizes.h"
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Generators.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {

/// An entry that walks an axis writes behind the places that are kept, so it must not run where the new ones do not fit: failed
/// check 1.
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
  // The gradients half is what stands before the optimizer, the update half the rest. Values lie in memory, so each half may be
  // a call of its own.
  Block &body = source.getBody().front();
  auto optimize = llvm::find_if(body, [](Operation &op) { return isa<OptimizeOp>(op); });
  LogicalResult result = success();
  if (optimize == body.end())
    result = emitOps(body.begin(), body.end());
  else if (succeeded(result = emitHalf(body.begin(), optimize, TN_UPDATE_ONLY)))
    result = emitHalf(optimize, body.end(), TN_GRADIENTS_ONLY);
  LLVM::ReturnOp::create(builder, ValueRange{arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0))});
  entry = nullptr;
  return result;
}

/// Ops that run unless only the other half is asked for.
LogicalResult KernelSequence::emitHalf(Block::iterator begin, Block::iterator end, int64_t otherHalf) {
  auto &builder = entry->builder;
  Value other = arith::AndIOp::create(builder, entry->field(abi::Flags), constant(builder, otherHalf));
  LogicalResult result = success();
  ifThen(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, other, constant(builder, 0)), {},
         [&]() -> SmallVector<Value> {
           result = emitOps(begin, end);
           return {};
         });
  return result;
}

LogicalResult KernelSequence::emitBlock(Block &block) { return emitOps(block.begin(), block.end()); }
LogicalResult KernelSequence::emitOps(Block::iterator begin, Block::iterator end) {
  for (Operation &op : llvm::make_range(begin, end)) {
    if (isa<func::ReturnOp>(op))
      continue;
    entry->builder.setLoc(op.getLoc());
    if (auto skip = dyn_cast<SkipOp>(op)) {
      auto &builder = entry->builder;
      Value when = LLVM::LoadOp::create(builder, builder.getI8Type(), entry->pointer(skip.getWhen()), 1);
      Value runs = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, when,
                                         arith::ConstantOp::create(builder, builder.getI8IntegerAttr(0)));
      LogicalResult rest = success();
      ifThen(builder, runs, {}, [&]() -> SmallVector<Value> {
        rest = emitOps(std::next(op.getIterator()), end);
        return {};
      });
      return rest;
    }
    current = &op;
    nextTemporary = 0;
    if (failed(emitOp(op)))
      return failure();
    if (lacksTemporary)
      return op.emitOpError("expects places for at least ") << nextTemporary << " temporaries";
  }
  return success();
}

LogicalResult KernelSequence::emitOp(Operation &op) {
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (isa<PlaceOp, SizeValueOp>(op) ||
      (isa<arith::ArithDialect>(op.getDialect()) && llvm::none_of(op.getResultTypes(), isTensor)))
    return success(); // addresses, and scalars that kernels repeat
  if (auto loop = dyn_cast<LoopOp>(op))
    return emitLoop(loop);
  if (auto copy = dyn_cast<CopyOp>(op)) {
    emitCopy(copy);
    return success();
  }
  if (auto ready = dyn_cast<ReadyOp>(op)) {
    emitReady(ready);
    return success();
  }
  if (auto sum = dyn_cast<SumSlicesOp>(op)) {
    auto slices = source->getAttrOfType<IntegerAttr>(kSlices);
    generateSumSlices(sum, tenon::bufferOf(sum.getAt(), sum, *arenas), slices ? slices.getInt() : 1, *this);
    return success();
  }
  if (auto kernel = dyn_cast<CpuKernelOpInterface>(op))
    return kernel.generate(*this);
  return notSupported(&op) << op.getName() << " in the schedule form of the CPU";
}

void KernelSequence::emitCopy(CopyOp copy) {
  constexpr int64_t tileBytes = 256 << 10; // about 20 us at 12 GB/s
  AffineExpr bytes = tensorBytes(cast<RankedTensorType>(copy.getFrom().getType()));
  Kernel kernel{
      "copy", copy.getLoc(), {}, {}, {*bufferOf(copy.getFrom()), tenon::bufferOf(copy.getTo(), copy, *arenas)}, {}, 0, {}, {}};
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
}

/// Tells whoever asked; else it costs a load and a branch.
void KernelSequence::emitReady(ReadyOp ready) {
  auto &builder = entry->builder;
  Value asked = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, entry->field(abi::GroupReady), constant(builder, 0));
  ifThen(builder, asked, {}, [&]() -> SmallVector<Value> {
    SmallVector<Value> indices;
    for (Value index : ready.getIndices())
      indices.push_back(entry->scalar(index));
    Value callee = entry->pointerField(abi::GroupReady), number = evaluateSize(builder, ready.getNumber().getResult(0), indices);
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {callee.getType(), builder.getI64Type()});
    LLVM::CallOp::create(builder, type, ValueRange{callee, call, number});
    return {};
  });
}

LogicalResult KernelSequence::emitLoop(LoopOp loop) {
  auto &builder = entry->builder;
  if (loops == abi::maxDepths)
    return notSupported(loop) << "more than " << abi::maxDepths << " nested stacks";
  Value count = entry->size(loop.getCount().getResult(0)), lowest = constant(builder, loop.getFirst());
  Value indexAddress = byteAddress(builder, call, constant(builder, abi::DepthValues + 8 * int64_t(loops)));
  ++loops;
  LogicalResult result = success();
  forLoop(builder, constant(builder, 0), count, [&](Value iteration) {
    Value steps = loop.getReverse() ? subtract(builder, subtract(builder, count, constant(builder, 1)), iteration) : iteration;
    LLVM::StoreOp::create(builder, tenon::add(builder, lowest, steps), indexAddress, 8);
    result = emitBlock(loop.getBody().front());
  });
  --loops;
  return result;
}

} // namespace tenon::cpu
