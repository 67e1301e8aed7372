// tenon.gemm of bf16 and f16 by warpgroups of an H100: a block per tile of rows and columns. One warp has boxes of both operands
// brought into a ring of stages in shared memory; two warpgroups, of 64 rows each, multiply what has come. Each sum is one chain
// of products in the order of the depth, 16 at a time, as in TensorGemm.cpp, so that tiles change no bits.
#include "lowering/gpu/WarpgroupOperands.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

struct Tile {
  int64_t rows, columns, depth, stages, registers;
};

constexpr int64_t kWarp = 32, kLines = WarpgroupOperands::kLines;

class WarpgroupGemmKernel {
public:
  WarpgroupGemmKernel(const GemmForm &form, const Tile &tile, int64_t slices)
      : form(form), tile(tile), slices(slices), operands(form, tile.rows, tile.columns) {}

  static int64_t sharedOf(const Tile &tile) {
    return std::max(tile.stages * WarpgroupOperands::bytesOfStage(tile.rows, tile.columns),
                    4 * tile.rows * sumsWidth(tile.columns)) +
           StageRing::bytesOf(tile.stages);
  }

  LogicalResult generate(LaunchSequence &sequence) {
    const std::string name = "gemm_warpgroups_" + std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
    Launch launch = form.launchOf(name, tile.rows, tile.columns, slices);
    launch.threads = consumers() + kWarp;
    launch.registers = tile.registers;
    launch.shared = sharedOf(tile);
    launch.maps = operands.maps();
    launch.body = [this](KernelCode &code) { emitTile(code); };
    form.addLaunches(sequence, launch, slices);
    return success();
  }

private:
  int64_t consumers() const { return tile.rows / kLines * kWarpgroup; }

  /// One thread: waits until a stage is free, and has both operands brought there.
  void produce(KernelCode &code, GemmCode &gemm) {
    StageRing::Turn turn = ring->first();
    ring->overSteps(gemm.steps(tile.depth), turn, {}, [&](Value step, StageRing::Turn at, ValueRange) {
      Value full = ring->claim(at, operands.stageBytes());
      operands.bring(code, gemm, operands.stageAt(code.builder, memory, at.stage), full, step);
      return SmallVector<Value>();
    });
  }

  /// A warpgroup: while it multiplies a stage, the products of the one before end, which is free then.
  void consume(KernelCode &code, GemmCode &gemm) {
    auto &builder = code.builder;
    gemm.prefetch({gemm.firstRow, gemm.firstColumn, tile.rows, tile.columns, consumers(), code.thread()});
    Value group = divide(builder, code.thread(), constant(builder, kWarpgroup));
    Value zero = arith::ConstantOp::create(builder, builder.getF32FloatAttr(0));
    SmallVector<Value> sums(size_t(tile.columns / 2), zero);
    StageRing::Turn turn = ring->first();
    sums = operands.multiplySteps(code, *ring, memory, gemm.steps(tile.depth), turn, group, sums);
    waitForProducts(builder, 0);
    holdBehind(builder, sums);
    Value number = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(1));
    barrierOf(builder, number, consumers()); // the sums take the place of the stages, which nobody reads any more
    Value warp = divide(builder, code.thread(), constant(builder, kWarp));
    gemm.storeSums(sums, tile.columns, multiply(builder, warp, constant(builder, 16)), constant(builder, 0), memory,
                   sumsWidth(tile.columns));
  }

  void emitTile(KernelCode &code) {
    auto &builder = code.builder;
    GemmCode gemm(form, code, tile.rows, tile.columns, slices);
    memory = code.dynamicShared();
    Value barriers = constant(builder, sharedOf(tile) - StageRing::bytesOf(tile.stages));
    ring.emplace(builder, elementAddress(builder, memory, builder.getI8Type(), barriers), tile.stages);
    emitRoles(
        code, consumers(), [&] { ring->init(consumers() / kWarp); }, [&] { consume(code, gemm); }, [&] { produce(code, gemm); });
    code.barrier();
    const int64_t lanes = gemm.mostLanes(), elements = lanes > 1 ? 16 : 8; // of a thread at a time
    gemm.emitResults(memory, sumsWidth(tile.columns), gemm.firstRow, tile.rows, tile.columns, elements / lanes, lanes);
  }

  const GemmForm &form;
  const Tile tile;
  const int64_t slices;
  const WarpgroupOperands operands;
  Value memory; // stages, then sums; barriers behind them
  std::optional<StageRing> ring;
};

} // namespace

int64_t warpgroupShared(int64_t rows, int64_t columns, int64_t stages) {
  return WarpgroupGemmKernel::sharedOf({rows, columns, WarpgroupOperands::kDepth, stages, 0});
}

ChoiceForm warpgroupForm() {
  return {kWarpgroupForm,
          {{"rows", 64, 256, 64, true},
           {"columns", 64, 256, 64, true},
           {"depth", 64, 64},
           {"stages", 2, 8},
           {"registers", 32, 255},
           {"slices", 1, kMostSlices}}};
}

LogicalResult generateWarpgroupGemm(const GemmForm &form, const Choice &choice, LaunchSequence &sequence) {
  GemmOp op = form.op;
  auto number = [&](StringRef name) { return *choice.number(name); };
  const Tile tile{number("rows"), number("columns"), number("depth"), number("stages"), number("registers")};
  if (failed(WarpgroupOperands::check(form, kWarpgroupForm)) ||
      failed(checkBlock(op, tile.rows / kLines * kWarpgroup + kWarp, WarpgroupGemmKernel::sharedOf(tile), kMostShared,
                        tile.registers)))
    return failure();
  return WarpgroupGemmKernel(form, tile, number("slices")).generate(sequence);
}

} // namespace tenon::gpu
