#include "lowering/gpu/Warpgroups.h"

using namespace mlir;

namespace tenon::gpu {

static LLVM::CallIntrinsicOp call(ImplicitLocOpBuilder &builder, const Twine &name, Type result, ValueRange operands) {
  auto intrinsic = builder.getStringAttr("llvm.nvvm." + name);
  return result ? LLVM::CallIntrinsicOp::create(builder, result, intrinsic, operands)
                : LLVM::CallIntrinsicOp::create(builder, intrinsic, operands);
}

static Value word(ImplicitLocOpBuilder &builder, int64_t value) {
  return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(value)));
}

void initBarrier(ImplicitLocOpBuilder &builder, Value barrier, int64_t arrivals) {
  call(builder, "mbarrier.init.shared", {}, {barrier, word(builder, arrivals)});
}
void fenceBarriers(ImplicitLocOpBuilder &builder) { call(builder, "fence.mbarrier_init.release.cluster", {}, {}); }

void arriveAt(ImplicitLocOpBuilder &builder, Value barrier) {
  call(builder, "mbarrier.arrive.scope.cta.space.cta", builder.getI64Type(), {barrier, word(builder, 1)});
}
void arriveExpecting(ImplicitLocOpBuilder &builder, Value barrier, int64_t bytes) {
  call(builder, "mbarrier.arrive.expect.tx.scope.cta.space.cta", builder.getI64Type(), {barrier, word(builder, bytes)});
}

/// The instruction may give up before the phase is complete.
void waitAt(ImplicitLocOpBuilder &builder, Value barrier, Value parity) {
  auto loop = scf::WhileOp::create(builder, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loop.getBefore());
  Value done = call(builder, "mbarrier.try.wait.parity.scope.cta.space.cta", builder.getI1Type(), {barrier, parity}).getResult(0);
  Value yes = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  scf::ConditionOp::create(builder, arith::XOrIOp::create(builder, done, yes), ValueRange());
  builder.createBlock(&loop.getAfter());
  scf::YieldOp::create(builder, ValueRange());
}

Value electLane(ImplicitLocOpBuilder &builder) {
  Type i32 = builder.getI32Type();
  Type both = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, builder.getI1Type()});
  return LLVM::ExtractValueOp::create(builder, call(builder, "elect.sync", both, word(builder, -1)).getResult(0), 1);
}

void barrierOf(ImplicitLocOpBuilder &builder, int64_t number, int64_t threads) {
  call(builder, "barrier.cta.sync.aligned.count", {}, {word(builder, number), word(builder, threads)});
}

void copyBox(ImplicitLocOpBuilder &builder, Value to, Value barrier, Value map, ArrayRef<Value> places) {
  constexpr unsigned ofCluster = 7; // a space of addresses of which the block's own is part
  Type i1 = builder.getI1Type(), i16 = builder.getI16Type(), i64 = builder.getI64Type();
  auto number = [&](Type type) -> Value { return arith::ConstantOp::create(builder, builder.getZeroAttr(type)); };
  SmallVector<Value> operands{
      LLVM::AddrSpaceCastOp::create(builder, LLVM::LLVMPointerType::get(builder.getContext(), ofCluster), to), barrier, map};
  for (Value place : places)
    operands.push_back(arith::TruncIOp::create(builder, builder.getI32Type(), place));
  operands.append({number(i16), number(i64), number(i1), number(i1), word(builder, 0)}); // to this block, no hint for caches
  call(builder, "cp.async.bulk.tensor.g2s.tile." + Twine(places.size()) + "d", {}, operands);
}

/// The bits: the address, from one piece of 64 lines to the next, from 8 rows to the next 8, each in chunks of 16 bytes; the
/// order of chunks in rows of 128 bytes (1 << 62).
Value WarpgroupOperand::descriptor(ImplicitLocOpBuilder &builder, Value memory) const {
  constexpr int64_t chunk = 4, turned = int64_t(1) << 62, rows = 8 * kRow;
  const int64_t fixed = turned | (rows >> chunk) << 32 | (alongDepth ? 1 : kPiece >> chunk) << 16;
  Value address = LLVM::PtrToIntOp::create(builder, builder.getI32Type(), memory);
  Value chunks =
      arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, address, word(builder, chunk)), word(builder, 0x3fff));
  return arith::OrIOp::create(builder, arith::ExtUIOp::create(builder, builder.getI64Type(), chunks), constant(builder, fixed));
}

/// Assembly, for which LLVM has no intrinsic: sums are registers that it reads and writes.
void multiplyAsync(ImplicitLocOpBuilder &builder, Type element, Value a, Value b, const WarpgroupOperand (&operands)[2],
                   MutableArrayRef<Value> sums) {
  const size_t count = sums.size();
  const std::string type = element.isF16() ? "f16" : "bf16";
  std::string text = "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n" + std::to_string(2 * count) +
                     "k16.f32." + type + "." + type + " {";
  std::string results, ties;
  for (size_t i = 0; i < count; ++i) {
    text += (i ? ", $" : "$") + std::to_string(i);
    results += "=f,";
    ties += "," + std::to_string(i);
  }
  text += "}, $" + std::to_string(count) + ", $" + std::to_string(count + 1) + ", p, 1, 1, " +
          (operands[0].alongDepth ? "0" : "1") + ", " + (operands[1].alongDepth ? "0" : "1") + "; }";
  SmallVector<Value> values{a, b};
  values.append(sums.begin(), sums.end());
  Type all = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(count, builder.getF32Type()));
  auto made = LLVM::InlineAsmOp::create(builder, all, values, text, results + "l,l" + ties, /*has_side_effects=*/true,
                                        /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  for (size_t i = 0; i < count; ++i)
    sums[i] = LLVM::ExtractValueOp::create(builder, made.getRes(), int64_t(i));
}

void openProducts(ImplicitLocOpBuilder &builder) { call(builder, "wgmma.fence.sync.aligned", {}, {}); }
void commitProducts(ImplicitLocOpBuilder &builder) { call(builder, "wgmma.commit_group.sync.aligned", {}, {}); }
void waitForProducts(ImplicitLocOpBuilder &builder, int64_t newest) {
  call(builder, "wgmma.wait_group.sync.aligned", {}, constant(builder, newest));
}

} // namespace tenon::gpu
