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
  LogicalResult result = emitHalves();
  LLVM::ReturnOp::create(builder, ValueRange{arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0))});
  entry = nullptr;
  return result;
}

Value KernelSequence::goesOn(SkipOp skip) {
  auto &builder = entry->builder;
  Value when = LLVM::LoadOp::create(builder, builder.getI8Type(), entry->pointer(skip.getWhen()), 1);
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, when,
                               arith::ConstantOp::create(builder, builder.getI8IntegerAttr(0)));
}

LogicalResult KernelSequence::emitKernels(Operation *op) {
  if (isa<CpuKernelOpInterface>(op))
    return generate(op);
  return notSupported(op) << op->getName() << " in the schedule form of the CPU";
}

void KernelSequence::emitSumSlices(SumSlicesOp sum, const Buffer &gradient, int64_t slices) {
  generateSumSlices(sum, gradient, slices, *this);
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

/// Kernels read it behind their copy of the context.
LogicalResult KernelSequence::startRound(Value index) {
  const int64_t level = int64_t(loops.size()) - 1;
  assert(level < abi::maxDepths && "more loops are refused before there is code");
  auto &builder = entry->builder;
  LLVM::StoreOp::create(builder, index, byteAddress(builder, call, constant(builder, abi::DepthValues + 8 * level)), 8);
  return success();
}

} // namespace tenon::cpu
