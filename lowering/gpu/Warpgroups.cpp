#include "lowering/gpu/Warpgroups.h"
#include "dialect/ElementModel.h"

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

/// A barrier in shared memory (8 bytes) for `arrivals` of each phase, which one thread makes; fenceBarriers shows it to the
/// engine of copies, a barrier of the block to other threads.
static void initBarrier(ImplicitLocOpBuilder &builder, Value barrier, int64_t arrivals) {
  call(builder, "mbarrier.init.shared", {}, {barrier, word(builder, arrivals)});
}
static void fenceBarriers(ImplicitLocOpBuilder &builder) { call(builder, "fence.mbarrier_init.release.cluster", {}, {}); }

static void arriveAt(ImplicitLocOpBuilder &builder, Value barrier) {
  call(builder, "mbarrier.arrive.scope.cta.space.cta", builder.getI64Type(), {barrier, word(builder, 1)});
}
/// Arrives, and lets the phase last until so many bytes have come, too.
static void arriveExpecting(ImplicitLocOpBuilder &builder, Value barrier, int64_t bytes) {
  call(builder, "mbarrier.arrive.expect.tx.scope.cta.space.cta", builder.getI64Type(), {barrier, word(builder, bytes)});
}

/// Until the phase of this parity (i32, 0 for the first one) is complete. The one before the first has parity 1 and is. The
/// instruction may give up before.
static void waitAt(ImplicitLocOpBuilder &builder, Value barrier, Value parity) {
  auto loop = scf::WhileOp::create(builder, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loop.getBefore());
  Value done = call(builder, "mbarrier.try.wait.parity.scope.cta.space.cta", builder.getI1Type(), {barrier, parity}).getResult(0);
  Value yes = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  scf::ConditionOp::create(builder, arith::XOrIOp::create(builder, done, yes), ValueRange());
  builder.createBlock(&loop.getAfter());
  scf::YieldOp::create(builder, ValueRange());
}

/// i1: true in one lane of a warp, all of which get here.
static Value electLane(ImplicitLocOpBuilder &builder) {
  Type i32 = builder.getI32Type();
  Type both = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, builder.getI1Type()});
  return LLVM::ExtractValueOp::create(builder, call(builder, "elect.sync", both, word(builder, -1)).getResult(0), 1);
}

void barrierOf(ImplicitLocOpBuilder &builder, Value number, int64_t threads) {
  call(builder, "barrier.cta.sync.aligned.count", {}, {number, word(builder, threads)});
}
void arriveAtBarrierOf(ImplicitLocOpBuilder &builder, Value number, int64_t threads) {
  call(builder, "barrier.cta.arrive.aligned.count", {}, {number, word(builder, threads)});
}

void barrierOfWarp(ImplicitLocOpBuilder &builder) { call(builder, "bar.warp.sync", {}, word(builder, -1)); }

// ---- rings

Value StageRing::barrier(Value stage, bool isFull) {
  Value number = isFull ? stage : add(builder, stage, constant(builder, stages));
  return elementAddress(builder, barriers, builder.getI64Type(), number);
}

void StageRing::init(int64_t readers) {
  for (int64_t stage = 0; stage < stages; ++stage) {
    initBarrier(builder, barrier(constant(builder, stage), true), 1);
    initBarrier(builder, barrier(constant(builder, stage), false), readers);
  }
}

static Value isStage(ImplicitLocOpBuilder &builder, Value stage, int64_t number) {
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, stage, constant(builder, number));
}
static Value flipped(ImplicitLocOpBuilder &builder, Value parity) {
  return arith::XOrIOp::create(builder, parity, word(builder, 1));
}

StageRing::Turn StageRing::first() { return {constant(builder, 0), word(builder, 0)}; }

StageRing::Turn StageRing::after(Turn turn) {
  Value next = add(builder, turn.stage, constant(builder, 1)), isLast = isStage(builder, next, stages);
  return {arith::SelectOp::create(builder, isLast, constant(builder, 0), next),
          arith::SelectOp::create(builder, isLast, flipped(builder, turn.parity), turn.parity)};
}

StageRing::Turn StageRing::before(Turn turn) {
  return {arith::SelectOp::create(builder, isStage(builder, turn.stage, 0), constant(builder, stages - 1),
                                  subtract(builder, turn.stage, constant(builder, 1))),
          {}};
}

StageRing::Turn StageRing::afterSteps(Turn turn, Value count) {
  Value number = add(builder, turn.stage, count), size = constant(builder, stages);
  Value rounds = arith::AndIOp::create(builder, divide(builder, number, size), constant(builder, 1));
  Value flips = arith::TruncIOp::create(builder, builder.getI32Type(), rounds);
  return {remainder(builder, number, size), arith::XOrIOp::create(builder, turn.parity, flips)};
}

SmallVector<Value> StageRing::overSteps(std::pair<Value, Value> steps, Turn &turn, ValueRange carried,
                                        llvm::function_ref<SmallVector<Value>(Value, Turn, ValueRange)> body) {
  SmallVector<Value> start(carried);
  start.append({turn.stage, turn.parity});
  auto loop = scf::ForOp::create(builder, steps.first, steps.second, constant(builder, 1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ValueRange before = loop.getRegionIterArgs();
  const Turn at{before[before.size() - 2], before.back()};
  SmallVector<Value> left = body(loop.getInductionVar(), at, before.drop_back(2));
  const Turn next = after(at);
  left.append({next.stage, next.parity});
  scf::YieldOp::create(builder, left);
  ValueRange results = loop.getResults();
  turn = {results[results.size() - 2], results.back()};
  return SmallVector<Value>(results.drop_back(2));
}

Value StageRing::claim(Turn turn, int64_t bytes) {
  waitAt(builder, barrier(turn.stage, false), flipped(builder, turn.parity));
  Value full = barrier(turn.stage, true);
  arriveExpecting(builder, full, bytes);
  return full;
}

void StageRing::waitFull(Turn turn) { waitAt(builder, barrier(turn.stage, true), turn.parity); }
void StageRing::release(Turn turn) { arriveAt(builder, barrier(turn.stage, false)); }

// ---- the parts of a block

constexpr int64_t kLeast = 24, kMost = 240; // registers that a warpgroup can change to

static constexpr int64_t inEights(int64_t count) { return count / 8 * 8; }
RegisterShares::RegisterShares(int64_t consumers, int64_t consumer)
    : start(std::min(inEights(kLaneRegisters / (consumers / kWarpgroup + 1)), kMost)),
      producer(std::min(start * (consumers / kWarpgroup + 1) - consumers / kWarpgroup * consumer, start)), consumer(consumer) {}

bool RegisterShares::fit() const { return consumer % 8 == 0 && consumer <= kMost && producer >= kLeast; }

/// From here on a thread has so many registers of the `before` that it had; all threads of a warpgroup get here.
static void changeRegisters(ImplicitLocOpBuilder &builder, int64_t before, int64_t registers) {
  if (before != registers)
    call(builder, Twine("setmaxnreg.") + (registers > before ? "inc" : "dec") + ".sync.aligned.u32", {},
         word(builder, registers));
}

void emitRoles(KernelCode &code, int64_t consumers, llvm::function_ref<void()> init, llvm::function_ref<void()> consume,
               llvm::function_ref<void()> produce, std::optional<RegisterShares> shares) {
  auto &builder = code.builder;
  code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, code.thread(), constant(builder, 0)), [&] {
    init();
    fenceBarriers(builder);
  });
  code.barrier();
  Value isConsumer = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, code.thread(), constant(builder, consumers));
  auto branch = scf::IfOp::create(builder, TypeRange(), isConsumer, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  if (shares)
    changeRegisters(builder, shares->start, shares->consumer);
  consume();
  builder.setInsertionPointToStart(branch.elseBlock());
  if (!shares)
    return code.ifThen(electLane(builder), produce);
  changeRegisters(builder, shares->start, shares->producer);
  code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, code.thread(), constant(builder, consumers)), produce);
}

// ---- copies

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
  const int64_t fixed = turned | (rows >> chunk) << 32 | (alongDepth ? 1 : steps * kRow >> chunk) << 16;
  Value address = LLVM::PtrToIntOp::create(builder, builder.getI32Type(), memory);
  Value chunks =
      arith::AndIOp::create(builder, arith::ShRUIOp::create(builder, address, word(builder, chunk)), word(builder, 0x3fff));
  return arith::OrIOp::create(builder, arith::ExtUIOp::create(builder, builder.getI64Type(), chunks), constant(builder, fixed));
}

/// Assembly whose results are registers that it also reads, if `text` says so.
static void assemble(ImplicitLocOpBuilder &builder, const std::string &text, std::string constraints, ArrayRef<Value> inputs,
                     MutableArrayRef<Value> sums, bool readsSums) {
  std::string results;
  SmallVector<Value> values(inputs);
  const Type type = readsSums ? sums.front().getType() : builder.getF32Type();
  for (size_t i = 0; i < sums.size(); ++i) {
    results += type.isF32() ? "=f," : "=r,";
    if (readsSums)
      constraints += (constraints.empty() ? "" : ",") + std::to_string(i);
  }
  if (readsSums)
    values.append(sums.begin(), sums.end());
  Type all = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(sums.size(), type));
  auto made = LLVM::InlineAsmOp::create(builder, all, values, text, results + constraints, /*has_side_effects=*/true,
                                        /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = LLVM::ExtractValueOp::create(builder, made.getRes(), int64_t(i));
}

/// "{$n, $n+1, ..}"
static std::string registers(size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < first + count; ++i)
    text += (i > first ? ", $" : "$") + std::to_string(i);
  return "{" + text + "}";
}

/// For which LLVM has no intrinsic.
void multiplyAsync(ImplicitLocOpBuilder &builder, Type element, ArrayRef<Value> a, Value b, const WarpgroupOperand (&operands)[2],
                   MutableArrayRef<Value> sums, bool isFirst) {
  const size_t count = sums.size();
  const bool isFragment = a.size() == 4;
  const std::string type = elementModel(element).name().str(); // PTX has the names of the table
  auto order = [&](int side) { return std::string(operands[side].alongDepth ? ", 0" : ", 1"); };
  const std::string text = "{ .reg .pred p; setp.ne.b32 p, " + std::string(isFirst ? "0" : "1") +
                           ", 0; wgmma.mma_async.sync.aligned.m64n" + std::to_string(2 * count) + "k16.f32." + type + "." + type +
                           " " + registers(0, count) + ", " + (isFragment ? registers(count, 4) : "$" + std::to_string(count)) +
                           ", $" + std::to_string(count + a.size()) + ", p, 1, 1" + (isFragment ? "" : order(0)) + order(1) +
                           "; }";
  SmallVector<Value> inputs(a);
  inputs.push_back(b);
  assemble(builder, text, isFragment ? "r,r,r,r,l" : "l,l", inputs, sums, !isFirst);
}

void holdBehind(ImplicitLocOpBuilder &builder, MutableArrayRef<Value> sums) { assemble(builder, "", "", {}, sums, true); }

Value heldBehind(ImplicitLocOpBuilder &builder, Value number) {
  Value held = arith::TruncIOp::create(builder, builder.getI32Type(), number);
  holdBehind(builder, held);
  return arith::ExtUIOp::create(builder, number.getType(), held);
}

void openProducts(ImplicitLocOpBuilder &builder) { call(builder, "wgmma.fence.sync.aligned", {}, {}); }
void commitProducts(ImplicitLocOpBuilder &builder) { call(builder, "wgmma.commit_group.sync.aligned", {}, {}); }
void waitForProducts(ImplicitLocOpBuilder &builder, int64_t newest) {
  call(builder, "wgmma.wait_group.sync.aligned", {}, constant(builder, newest));
}

} // namespace tenon::gpu
