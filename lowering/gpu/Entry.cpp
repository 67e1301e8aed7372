// The entry function: the schedule as launches, loops and copies.
#include "dialect/Refusal.h"
#include "dialect/Rounds.h"
#include "dialect/TensorSizes.h"
#include "lowering/artifact/Abi.h"
#include "lowering/gpu/ScalarCode.h"

using namespace mlir;

namespace tenon::gpu {

static void branch(ImplicitLocOpBuilder &builder, Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, TypeRange(), condition, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// What an entry that walks has room for is checked by the runtime (Context::checkRoom): the host does not read the state.
LogicalResult LaunchSequence::emit(StringRef symbol) {
  ImplicitLocOpBuilder builder(source.getLoc(), host.getContext());
  builder.setInsertionPointToEnd(host.getBody());
  Type address = tenon::pointer(builder), i64 = builder.getI64Type();
  auto function = LLVM::LLVMFuncOp::create(builder, symbol, LLVM::LLVMFunctionType::get(builder.getI32Type(), {address}));
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  argumentCount = arith::ConstantOp::create(builder, builder.getI64IntegerAttr(1));
  argumentValues = LLVM::AllocaOp::create(builder, address, i64, argumentCount, 8);
  argumentPointers = LLVM::AllocaOp::create(builder, address, address, argumentCount, 8);
  EntryCode code(*this, builder, block->getArgument(0));
  entry = &code;
  // The gradients half is what stands before the optimizer, the update half the rest.
  Block &body = source.getBody().front();
  auto optimize = llvm::find_if(body, [](Operation &op) { return isa<OptimizeOp>(op); });
  LogicalResult result = success();
  if (optimize == body.end())
    result = emitOps(body.begin(), body.end());
  else if (succeeded(result = emitHalf(body.begin(), optimize, TN_UPDATE_ONLY)))
    result = emitHalf(optimize, body.end(), TN_GRADIENTS_ONLY);
  LLVM::ReturnOp::create(builder, ValueRange{arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0))});
  argumentCount.setValueAttr(builder.getI64IntegerAttr(mostArguments));
  entry = nullptr;
  return result;
}

/// Ops that run unless only the other half is asked for.
LogicalResult LaunchSequence::emitHalf(Block::iterator begin, Block::iterator end, int64_t otherHalf) {
  auto &builder = entry->builder;
  Value other = arith::AndIOp::create(builder, entry->field(abi::Flags), constant(builder, otherHalf));
  LogicalResult result = success();
  branch(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, other, constant(builder, 0)),
         [&] { result = emitOps(begin, end); });
  return result;
}

LogicalResult LaunchSequence::emitOps(Block::iterator begin, Block::iterator end) {
  for (Operation &op : llvm::make_range(begin, end)) {
    if (isa<func::ReturnOp>(op))
      continue;
    entry->builder.setLoc(op.getLoc());
    current = &op;
    nextTemporary = 0;
    if (failed(emitOp(op)))
      return failure();
    if (lacksTemporary)
      return op.emitOpError("expects places for at least ") << nextTemporary << " temporaries";
  }
  return success();
}

LogicalResult LaunchSequence::emitOp(Operation &op) {
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
  if (isa<SkipOp>(op))
    return notSupported(&op) << "a loop that ends when its condition holds, on a GPU";
  if (auto sum = dyn_cast<SumSlicesOp>(op)) {
    auto slices = source->getAttrOfType<IntegerAttr>(kSlices);
    generateSumSlices(sum, tenon::bufferOf(sum.getAt(), sum, *arenas), slices ? slices.getInt() : 1, *this);
    return success();
  }
  if (hasKernel(&op))
    return generateKernel(&op, *this);
  return notSupported(&op) << op.getName() << " in the schedule form of a GPU";
}

void LaunchSequence::emitCopy(CopyOp copy) {
  auto type = cast<RankedTensorType>(copy.getFrom().getType());
  AffineExpr count = product(sizesOf(type), copy.getContext());
  const int64_t bytes = elementBytes(type.getElementType());
  Launch launch{
      "copy", copy.getLoc(),     {},    {}, {*bufferOf(copy.getFrom()), tenon::bufferOf(copy.getTo(), copy, *arenas)}, {}, {},
      {},     threadsFor(count), false, {}};
  launch.blocks = [=, threads = launch.threads](EntryCode &code) { return blocksFor(code, code.size(count), threads); };
  launch.body = [=](KernelCode &code) {
    auto &builder = code.builder;
    Type word = builder.getIntegerType(unsigned(8 * bytes)); // the bits, whatever they mean
    code.overGrid(code.size(count), [&](Value number) {
      Value value = LLVM::LoadOp::create(builder, word, elementAddress(builder, code.place(0), word, number), unsigned(bytes));
      LLVM::StoreOp::create(builder, value, elementAddress(builder, code.place(1), word, number), unsigned(bytes));
    });
  };
  add(launch);
}

/// Tells whoever asked; the runtime waits for what was launched first.
void LaunchSequence::emitReady(ReadyOp ready) {
  auto &builder = entry->builder;
  Value asked = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, entry->field(abi::GroupReady), constant(builder, 0));
  branch(builder, asked, [&] {
    SmallVector<Value> indices;
    for (Value index : ready.getIndices())
      indices.push_back(entry->scalar(index));
    Value callee = entry->pointerField(abi::GroupReady), number = evaluateSize(builder, ready.getNumber().getResult(0), indices);
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {callee.getType(), builder.getI64Type()});
    LLVM::CallOp::create(builder, type, ValueRange{callee, entry->context, number});
  });
}

LogicalResult LaunchSequence::emitLoop(LoopOp loop) {
  auto &builder = entry->builder;
  Value count = entry->size(loop.getCount().getResult(0)), lowest = constant(builder, loop.getFirst());
  LogicalResult result = success();
  auto steps = scf::ForOp::create(builder, constant(builder, 0), count, constant(builder, 1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(steps.getBody());
  Value iteration = steps.getInductionVar();
  if (loop.getReverse())
    iteration = subtract(builder, subtract(builder, count, constant(builder, 1)), iteration);
  Block &body = loop.getBody().front();
  entry->loopIndices[body.getArgument(0)] = tenon::add(builder, lowest, iteration);
  loops.push_back(loop);
  result = emitOps(body.begin(), body.end());
  loops.pop_back();
  return result;
}

} // namespace tenon::gpu
