// The entry function: the schedule as launches, loops and copies.
#include "dialect/Refusal.h"
#include "dialect/Rounds.h"
#include "dialect/TensorSizes.h"
#include "lowering/artifact/Abi.h"
#include "lowering/gpu/Generators.h"
#include "lowering/gpu/ScalarCode.h"

using namespace mlir;

namespace tenon::gpu {

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
  spans = LLVM::AllocaOp::create(builder, address, i64, argumentCount, 8);
  EntryCode code(*this, builder, block->getArgument(0));
  entry = &code;
  LogicalResult result = emitHalves();
  LLVM::ReturnOp::create(builder, ValueRange{arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0))});
  argumentCount.setValueAttr(builder.getI64IntegerAttr(mostArguments));
  entry = nullptr;
  return result;
}

/// The host launches the rest of the round in any case: unlessSkipped.
Value LaunchSequence::goesOn(SkipOp skip) {
  skips.push_back({loops.back(), skip.getWhen()});
  return arith::ConstantOp::create(entry->builder, entry->builder.getBoolAttr(true));
}

/// The host does not wait to know whether a round goes on: its kernels ask. Where an earlier condition holds nobody made the
/// later ones.
Launch LaunchSequence::unlessSkipped(Launch launch) {
  for (auto [loop, skip] : llvm::reverse(skips)) {
    if (!llvm::is_contained(loops, loop))
      continue;
    launch.reads.push_back(skip);
    launch.body = [skip = skip, body = launch.body](KernelCode &code) {
      auto &builder = code.builder;
      Value when = LLVM::LoadOp::create(builder, builder.getI8Type(), code.pointer(skip), 1);
      Value none = arith::ConstantOp::create(builder, builder.getI8IntegerAttr(0));
      code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, when, none), [&] { body(code); });
    };
  }
  return launch;
}

LogicalResult LaunchSequence::emitKernels(Operation *op) {
  if (auto kernel = dyn_cast<GpuKernelOpInterface>(op))
    return kernel.generate(*this);
  return notSupported(op) << op->getName() << " in the schedule form of a GPU";
}

void LaunchSequence::emitSumSlices(SumSlicesOp sum, const Buffer &gradient, int64_t slices) {
  generateSumSlices(sum, gradient, slices, *this);
}

void LaunchSequence::emitCopy(CopyOp copy) {
  auto type = cast<RankedTensorType>(copy.getFrom().getType());
  AffineExpr count = product(sizesOf(type), copy.getContext());
  const int64_t bytes = elementBytes(type.getElementType());
  const Launch::Place from{*bufferOf(copy.getFrom()), tensorBytes(type), false};
  const Launch::Place to{tenon::bufferOf(copy.getTo(), copy, *arenas), tensorBytes(type), true};
  Launch launch{"copy", copy.getLoc(), {}, {}, {from, to}, {}, {}, {}, threadsFor(count), false, {}};
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

LogicalResult LaunchSequence::startRound(Value index) {
  entry->loopIndices[loops.back().getBody().getArgument(0)] = index;
  return success();
}

} // namespace tenon::gpu
