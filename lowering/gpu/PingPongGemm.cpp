// tenon.gemm of bf16 and f16 by warpgroups that take turns: as many blocks as processors, each of which goes through tiles. One
// thread fills a ring of stages with the operands of one tile after the other; two warpgroups have every second tile each, and
// while one has the code behind its sums, the other multiplies. Which block has a tile changes no bits.
#include "lowering/gpu/WarpgroupOperands.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

constexpr int64_t kWarp = 32, kConsumers = 2, kLines = WarpgroupOperands::kLines;
const RegisterShares kShares{kConsumers * kWarpgroup, 232};
// Sums of a warp that go through shared memory at a time.
constexpr int64_t kPartRows = 16, kPartColumns = 64, kPartBytes = 4 * kPartRows * sumsWidth(kPartColumns);

/// Of a tile, of which a warpgroup has every second one.
struct Tile {
  int64_t rows, columns, stages, blocks;
  int64_t sums() const { return rows * columns / kWarpgroup; } // of a thread
  int64_t ringBytes() const { return stages * WarpgroupOperands::bytesOfStage(rows, columns); }
  int64_t sharedBytes() const { return ringBytes() + kConsumers * kWarpgroup / kWarp * kPartBytes + StageRing::bytesOf(stages); }
};

Value compare(ImplicitLocOpBuilder &builder, arith::CmpIPredicate how, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(how, a, b);
}

class PingPongKernel {
public:
  PingPongKernel(const GemmForm &form, const Tile &tile, int64_t slices)
      : form(form), tile(tile), slices(slices), operands(form, tile.rows, tile.columns) {}

  LogicalResult generate(LaunchSequence &sequence) {
    const std::string name = "gemm_pingpong_" + std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
    Launch launch = form.launchOf(name, tile.rows, tile.columns, slices);
    launch.threads = (kConsumers + 1) * kWarpgroup;
    launch.registers = kShares.start;
    launch.shared = tile.sharedBytes();
    launch.maps = operands.maps();
    launch.blocks = [all = launch.blocks, this](EntryCode &code) {
      return minimum(code.builder, all(code), constant(code.builder, tile.blocks));
    };
    launch.body = [this](KernelCode &code) { emitBlock(code); };
    form.addLaunches(sequence, launch, slices);
    return success();
  }

private:
  GemmCode codeOf(KernelCode &code, Value number) { return {form, code, tile.rows, tile.columns, slices, number}; }

  /// Loops over tiles from `first` on, in steps of so many; the turn of the ring goes from one to the next.
  void overTiles(KernelCode &code, Value first, Value step, StageRing::Turn turn,
                 llvm::function_ref<StageRing::Turn(Value number, StageRing::Turn)> body) {
    auto &builder = code.builder;
    Value count = form.tilesOf(code, tile.rows, tile.columns, slices);
    auto loop = scf::ForOp::create(builder, first, count, step, ValueRange{turn.stage, turn.parity});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    const StageRing::Turn next = body(loop.getInductionVar(), {loop.getRegionIterArg(0), loop.getRegionIterArg(1)});
    scf::YieldOp::create(builder, ValueRange{next.stage, next.parity});
  }
  Value stepsOf(KernelCode &code, Value number) {
    auto [first, end] = codeOf(code, number).steps(WarpgroupOperands::kDepth);
    return subtract(code.builder, end, first);
  }

  void produce(KernelCode &code) {
    auto &builder = code.builder;
    overTiles(code, code.block(), code.blocks(), ring->first(), [&](Value number, StageRing::Turn turn) {
      GemmCode gemm = codeOf(code, number);
      ring->overSteps(gemm.steps(WarpgroupOperands::kDepth), turn, {}, [&](Value step, StageRing::Turn at, ValueRange) {
        Value full = ring->claim(at, operands.stageBytes());
        operands.bring(code, gemm, operands.stageAt(builder, memory, at.stage), full, step);
        return SmallVector<Value>();
      });
      return turn;
    });
  }

  /// A warpgroup. Its turn comes when the other one has seen all stages of the tile before, which makes the parities of what it
  /// waits for those of the last round, and it has products to start.
  void consume(KernelCode &code) {
    auto &builder = code.builder;
    Value group = divide(builder, code.thread(), constant(builder, kWarpgroup));
    Value own = add(builder, code.block(), multiply(builder, group, code.blocks()));
    Value isSecond = compare(builder, arith::CmpIPredicate::eq, group, constant(builder, 1));
    const StageRing::Turn first = ring->first(), second = ring->afterSteps(first, stepsOf(code, code.block()));
    auto choose = [&](Value ofSecond, Value ofFirst) -> Value {
      return arith::SelectOp::create(builder, isSecond, ofSecond, ofFirst);
    };
    const StageRing::Turn start{choose(second.stage, first.stage), choose(second.parity, first.parity)};
    Value step = multiply(builder, code.blocks(), constant(builder, kConsumers));
    overTiles(code, own, step, start, [&](Value number, StageRing::Turn turn) {
      GemmCode gemm = codeOf(code, number);
      Value next = add(builder, number, code.blocks());
      multiplyTile(code, gemm, number, next, group, turn);
      return ring->afterSteps(turn, stepsOf(code, next));
    });
  }

  void multiplyTile(KernelCode &code, GemmCode &gemm, Value number, Value next, Value group, StageRing::Turn &turn) {
    auto &builder = code.builder;
    auto barrierOfGroup = [&](Value of) -> Value { // 0 is that of the block
      return arith::TruncIOp::create(builder, builder.getI32Type(), add(builder, of, constant(builder, 1)));
    };
    Value thread = remainder(builder, code.thread(), constant(builder, kWarpgroup));
    gemm.prefetch({gemm.firstRow, gemm.firstColumn, tile.rows, tile.columns, kWarpgroup, thread});
    code.ifThen(compare(builder, arith::CmpIPredicate::ne, number, code.block()),
                [&] { barrierOf(builder, barrierOfGroup(group), kConsumers * kWarpgroup); });
    Value zero = arith::ConstantOp::create(builder, builder.getF32FloatAttr(0));
    SmallVector<Value> sums(size_t(tile.sums()), zero);
    const std::pair<Value, Value> steps = gemm.steps(WarpgroupOperands::kDepth);
    sums = operands.multiplySteps(code, *ring, memory, steps, turn, constant(builder, 0), sums);
    Value count = form.tilesOf(code, tile.rows, tile.columns, slices);
    code.ifThen(compare(builder, arith::CmpIPredicate::slt, next, count), [&] {
      arriveAtBarrierOf(builder, barrierOfGroup(subtract(builder, constant(builder, 1), group)), kConsumers * kWarpgroup);
    });
    waitForProducts(builder, 0);
    holdBehind(builder, sums);
    Value isFirst = compare(builder, arith::CmpIPredicate::eq, remainder(builder, code.thread(), constant(builder, kWarp)),
                            constant(builder, 0));
    Value some = compare(builder, arith::CmpIPredicate::slt, steps.first, steps.second);
    code.ifThen(arith::AndIOp::create(builder, isFirst, some), [&] { ring->release(ring->before(turn)); });
    emitResults(code, gemm, sums);
  }

  /// Each warp has memory of its own for some of its sums; the code behind these stands once.
  void emitResults(KernelCode &code, GemmCode &gemm, MutableArrayRef<Value> sums) {
    auto &builder = code.builder;
    constexpr int64_t elements = 16; // of a thread at a time
    constexpr size_t ofPart = size_t(kPartRows * kPartColumns / kWarp);
    const int64_t lanes = gemm.mostLanes();
    Value warp = divide(builder, code.thread(), constant(builder, kWarp)), zero = constant(builder, 0);
    Value place = add(builder, constant(builder, tile.ringBytes()), multiply(builder, warp, constant(builder, kPartBytes)));
    Value part = elementAddress(builder, memory, builder.getI8Type(), place);
    Value lane = remainder(builder, code.thread(), constant(builder, kWarp)),
          across = constant(builder, tile.columns / kPartColumns);
    Value row = multiply(builder, remainder(builder, warp, constant(builder, kWarpgroup / kWarp)), constant(builder, kPartRows));
    code.strided(zero, constant(builder, 1), constant(builder, int64_t(sums.size() / ofPart)), [&](Value number) {
      for (size_t first = 0; first < sums.size(); first += ofPart)
        code.ifThen(compare(builder, arith::CmpIPredicate::eq, number, constant(builder, int64_t(first / ofPart))),
                    [&] { gemm.storeSums(sums.slice(first, ofPart), kPartColumns, zero, zero, part, sumsWidth(kPartColumns)); });
      barrierOfWarp(builder);
      Value piece = multiply(builder, divide(builder, number, across), constant(builder, kLines));
      Value column = multiply(builder, remainder(builder, number, across), constant(builder, kPartColumns));
      gemm.emitPart({add(builder, gemm.firstRow, add(builder, piece, row)), add(builder, gemm.firstColumn, column), kPartRows,
                     kPartColumns, kWarp, lane, lanes},
                    part, sumsWidth(kPartColumns), elements / lanes);
      barrierOfWarp(builder);
    });
  }

  void emitBlock(KernelCode &code) {
    auto &builder = code.builder;
    memory = code.dynamicShared();
    Value barriers = constant(builder, tile.sharedBytes() - StageRing::bytesOf(tile.stages));
    ring.emplace(builder, elementAddress(builder, memory, builder.getI8Type(), barriers), tile.stages);
    emitRoles(
        code, kConsumers * kWarpgroup, [&] { ring->init(kWarpgroup / kWarp); }, [&] { consume(code); }, [&] { produce(code); },
        kShares);
  }

  const GemmForm &form;
  const Tile tile;
  const int64_t slices;
  const WarpgroupOperands operands;
  Value memory; // stages, behind them sums of each warp, behind these barriers
  std::optional<StageRing> ring;
};

} // namespace

ChoiceForm pingPongForm() {
  return {kPingPongForm,
          {{"rows", 64, 128, 64}, {"columns", 64, 256, 64}, {"stages", 2, 8}, {"blocks", 1, 1024}, {"slices", 1, kMostSlices}}};
}

LogicalResult generatePingPongGemm(const GemmForm &form, const Choice &choice, LaunchSequence &sequence) {
  GemmOp op = form.op;
  auto number = [&](StringRef name) { return *choice.number(name); };
  const Tile tile{number("rows"), number("columns"), number("stages"), number("blocks")};
  if (failed(WarpgroupOperands::check(form, kPingPongForm)))
    return failure();
  constexpr int64_t mostSums = 128; // of a thread, beside what it needs for the code behind them
  if (tile.sums() > mostSums)
    return op->emitOpError("expects in ") << kChosen << " at most " << mostSums << " sums of a thread, got "
                                          << tile.sums(); // S11
  if (failed(checkBlock(op, (kConsumers + 1) * kWarpgroup, tile.sharedBytes(), kMostShared, kShares.start)))
    return failure();
  return PingPongKernel(form, tile, number("slices")).generate(sequence);
}

} // namespace tenon::gpu
