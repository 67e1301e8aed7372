// tenon.gemm of bf16 and f16 by warpgroups of an H100: a block per tile of rows and columns. One warp has boxes of both operands
// brought into a ring of stages in shared memory; two warpgroups, of 64 rows each, multiply what has come. Each sum is one chain
// of products in the order of the depth, 16 at a time, as in TensorGemm.cpp, so that tiles change no bits.
#include "dialect/TensorSizes.h"
#include "lowering/code/LinearReads.h"
#include "lowering/code/Parameters.h"
#include "lowering/gpu/GemmForm.h"
#include "lowering/gpu/Warpgroups.h"
#include <limits>

using namespace mlir;

namespace tenon::gpu {
namespace {

/// A row of WarpgroupTiles.def.
struct Tile {
  int64_t rows, columns, depth, stages, registers, shared;
};
constexpr Tile kTiles[] = {
#define TILE(...) {__VA_ARGS__},
#include "lowering/gpu/WarpgroupTiles.def"
};
/// Of each row, on an H200.
struct Rate {
  double alone, together, behind;
};
constexpr Rate kRates[] = {
#define RATE(...) {__VA_ARGS__},
#include "lowering/gpu/WarpgroupTiles.def"
};
static_assert(std::size(kRates) == std::size(kTiles));

constexpr int64_t kWarp = 32, kLines = 64; // of a warpgroup, and of a piece of an operand

/// Dims of an operand that are neighbours in memory and of one part of the product are one dim of its map.
struct Run {
  enum Part { Lines, Depth, Batch } part;
  Labels labels;
  AffineExpr stride; // of the last one
};

/// Whether each entry of a dim lies behind the one before it: the driver asks that of the dims of a map, which reads of windows,
/// or backwards, have not.
bool liesApart(const GemmForm &form, ArrayRef<Run> runs) {
  for (auto [outer, inner] : llvm::zip(runs.drop_back(), runs.drop_front()))
    if (!isNatural(outer.stride - inner.stride * form.sizeOf(inner.labels)))
      return false;
  return true;
}

/// Outermost first. Empty where the engine of copies cannot bring tiles of the operand: it is computed, its dims overlap, lines
/// or depth lie in pieces that are not known to be a multiple of 64, or neighbours in memory are not known to be one of 16 bytes.
SmallVector<Run> runsOf(const GemmForm &form, const GemmSide &side) {
  constexpr int64_t chunk = 8, mostDims = 5;
  const AffineExpr zero = getAffineConstantExpr(0, side.type.getContext());
  if (!side.tensor || side.aligned(chunk) != chunk || llvm::is_contained(side.strides, zero))
    return {};
  const Labels *parts[] = {&side == &form.a ? &form.rows : &form.columns, &form.depth, &form.batch};
  size_t next[3] = {0, 0, 0}; // label of each part
  SmallVector<Run> runs;
  for (auto [label, stride] : llvm::zip_equal(side.labels, side.strides)) {
    const auto part =
        Run::Part(llvm::find_if(parts, [&, l = label](const Labels *of) { return llvm::is_contained(*of, l); }) - parts);
    const size_t number = size_t(llvm::find(*parts[part], label) - parts[part]->begin());
    if (part != Run::Batch && number != next[part])
      return {};
    const bool goesOn = !runs.empty() && runs.back().part == part && number == next[part];
    if (!goesOn || runs.back().stride != stride * form.sizeOf({label}))
      runs.push_back({part, {}, {}});
    next[part] = number + 1;
    runs.back().labels.push_back(label);
    runs.back().stride = stride;
  }
  for (const Run &run : ArrayRef(runs).drop_front()) {
    const Run &first = *llvm::find_if(runs, [&](const Run &other) { return other.part == run.part; });
    if (run.part != Run::Batch && &first != &run && !form.sizeOf(run.labels).isMultipleOf(kLines))
      return {};
  }
  const bool fits = next[Run::Lines] > 0 && next[Run::Depth] > 0 && runs.back().part != Run::Batch;
  return fits && int64_t(runs.size()) <= mostDims && (!side.isView || liesApart(form, runs)) ? runs : SmallVector<Run>();
}

class WarpgroupGemmKernel {
public:
  WarpgroupGemmKernel(const GemmForm &form, const Tile &tile, int64_t slices)
      : form(form), tile(tile), slices(slices), sides{&form.a, &form.b}, runs{runsOf(form, form.a), runsOf(form, form.b)},
        operands{{runs[0].back().part == Run::Depth}, {runs[1].back().part == Run::Depth}} {}

  static int64_t sharedOf(const Tile &tile) {
    return std::max(tile.stages * stageBytes(tile), 4 * tile.rows * sumsWidth(tile.columns)) + StageRing::bytesOf(tile.stages);
  }

  LogicalResult generate(LaunchSequence &sequence) {
    const std::string name = "gemm_warpgroups_" + std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
    Launch launch = form.launchOf(name, tile.rows, tile.columns, slices);
    launch.threads = consumers() + kWarp;
    launch.registers = tile.registers;
    launch.shared = sharedOf(tile);
    launch.maps = {mapOf(0), mapOf(1)};
    bool good = true;
    launch.body = [&](KernelCode &code) { good = emitTile(code); };
    return success(succeeded(form.addLaunches(sequence, launch, slices)) && good);
  }

private:
  static int64_t stageBytes(const Tile &tile) { return (tile.rows + tile.columns) * tile.depth * 2; }
  int64_t linesOf(int side) const { return side == 0 ? tile.rows : tile.columns; }
  int64_t consumers() const { return tile.rows / kLines * kWarpgroup; }
  SmallVector<Run> runsOfPart(int side, Run::Part part) const {
    SmallVector<Run> result;
    llvm::copy_if(runs[side], std::back_inserter(result), [&](const Run &run) { return run.part == part; });
    return result;
  }
  /// Boxes of a stage, which differ in their lines.
  int64_t piecesOf(int side) const {
    return operands[side].alongDepth && runsOfPart(side, Run::Lines).size() == 1 ? 1 : linesOf(side) / kLines;
  }

  TensorMap mapOf(int side) {
    TensorMap map{sides[side]->tensor, sides[side]->offset, {}, {}, {}};
    bool seen[] = {false, false};
    for (const Run &run : llvm::reverse(runs[side])) {
      map.sizes.push_back(form.sizeOf(run.labels));
      map.strides.push_back(run.stride);
      const bool isOne = run.part == Run::Batch || std::exchange(seen[run.part], true);
      map.box.push_back(isOne ? 1 : run.part == Run::Lines ? linesOf(side) / piecesOf(side) : kLines);
    }
    return map;
  }

  Value bytesFrom(KernelCode &code, Value memory, Value bytes) {
    return elementAddress(code.builder, memory, code.builder.getI8Type(), bytes);
  }
  Value stageAt(KernelCode &code, Value stage) {
    return bytesFrom(code, memory, multiply(code.builder, stage, constant(code.builder, stageBytes(tile))));
  }
  /// Loops over the steps of the slice, each in the next stage of the ring. `carried` values go from step to step.
  SmallVector<Value> overStages(KernelCode &code, GemmCode &gemm, ValueRange carried,
                                llvm::function_ref<SmallVector<Value>(Value step, StageRing::Turn, ValueRange)> body) {
    auto &builder = code.builder;
    SmallVector<Value> start(carried);
    const StageRing::Turn initial = ring->first();
    start.append({initial.stage, initial.parity});
    auto [first, end] = gemm.steps(tile.depth);
    auto loop = scf::ForOp::create(builder, first, end, constant(builder, 1), start);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange before = loop.getRegionIterArgs();
    const StageRing::Turn turn{before[before.size() - 2], before.back()};
    SmallVector<Value> after = body(loop.getInductionVar(), turn, before.drop_back(2));
    const StageRing::Turn next = ring->after(turn);
    after.append({next.stage, next.parity});
    scf::YieldOp::create(builder, after);
    return SmallVector<Value>(loop.getResults().drop_back(2));
  }

  /// One thread: waits until a stage is free, and has both operands brought there.
  void produce(KernelCode &code, GemmCode &gemm) {
    auto &builder = code.builder;
    overStages(code, gemm, {}, [&](Value step, StageRing::Turn turn, ValueRange) {
      Value full = ring->claim(turn, stageBytes(tile));
      Value to = stageAt(code, turn.stage), depth = multiply(builder, step, constant(builder, tile.depth));
      for (int side = 0; side < 2; ++side) {
        bring(code, gemm, side, to, full, depth);
        to = bytesFrom(code, to, constant(builder, linesOf(side) / kLines * WarpgroupOperand::kPiece));
      }
      return SmallVector<Value>();
    });
  }

  void bring(KernelCode &code, GemmCode &gemm, int side, Value to, Value full, Value depth) {
    auto &builder = code.builder;
    for (int64_t piece = 0; piece < piecesOf(side); ++piece) {
      Value line = add(builder, side == 0 ? gemm.firstRow : gemm.firstColumn, constant(builder, piece * kLines));
      SmallVector<Value> ofLines = placesIn(code, side, Run::Lines, line), ofDepth = placesIn(code, side, Run::Depth, depth);
      SmallVector<Value> places;
      for (const Run &run : llvm::reverse(runs[side]))
        places.push_back(run.part == Run::Batch   ? gemm.batchPlace(run.labels)
                         : run.part == Run::Depth ? ofDepth.pop_back_val()
                                                  : ofLines.pop_back_val());
      copyBox(builder, bytesFrom(code, to, constant(builder, piece * WarpgroupOperand::kPiece)), full, code.map(unsigned(side)),
              places);
    }
  }

  /// Of number `number` in the lines or the depth, in each run of these; what is behind the last one is outside of the first.
  SmallVector<Value> placesIn(KernelCode &code, int side, Run::Part part, Value number) {
    auto &builder = code.builder;
    const SmallVector<Run> all = runsOfPart(side, part);
    SmallVector<Value> places(all.size());
    for (size_t i = all.size() - 1; i > 0; --i) {
      Value size = code.size(form.sizeOf(all[i].labels));
      places[i] = remainder(builder, number, size);
      number = divide(builder, number, size);
    }
    places[0] = number;
    return places;
  }

  /// A warpgroup: while it multiplies a stage, the products of the one before end, which is free then.
  void consume(KernelCode &code, GemmCode &gemm) {
    auto &builder = code.builder;
    Value group = divide(builder, code.thread(), constant(builder, kWarpgroup));
    Value lane = remainder(builder, code.thread(), constant(builder, kWarp));
    Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane, constant(builder, 0));
    Value zero = arith::ConstantOp::create(builder, builder.getF32FloatAttr(0));
    SmallVector<Value> sums(size_t(tile.columns / 2), zero);
    Value firstStep = gemm.steps(tile.depth).first;
    sums = overStages(code, gemm, sums, [&](Value step, StageRing::Turn turn, ValueRange before) {
      SmallVector<Value> after(before);
      ring->waitFull(turn);
      Value a = stageAt(code, turn.stage),
            b = bytesFrom(code, a, constant(builder, tile.rows / kLines * WarpgroupOperand::kPiece));
      a = bytesFrom(code, a, multiply(builder, group, constant(builder, WarpgroupOperand::kPiece)));
      Value places[] = {operands[0].descriptor(builder, a), operands[1].descriptor(builder, b)};
      openProducts(builder);
      for (int64_t i = 0; i < tile.depth / 16; ++i)
        multiplyAsync(builder, form.stored, add(builder, places[0], constant(builder, i * operands[0].perStep())),
                      add(builder, places[1], constant(builder, i * operands[1].perStep())), operands, after);
      commitProducts(builder);
      waitForProducts(builder, 1);
      Value isLater = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, step, firstStep);
      code.ifThen(arith::AndIOp::create(builder, isFirst, isLater), [&] { ring->release(ring->before(turn)); });
      return after;
    });
    waitForProducts(builder, 0);
    holdBehind(builder, sums);
    Value number = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(1));
    barrierOf(builder, number, consumers()); // the sums take the place of the stages, which nobody reads any more
    Value warp = divide(builder, code.thread(), constant(builder, kWarp));
    gemm.storeSums(sums, tile.columns, multiply(builder, warp, constant(builder, 16)), constant(builder, 0), memory,
                   sumsWidth(tile.columns));
  }

  bool emitTile(KernelCode &code) {
    auto &builder = code.builder;
    GemmCode gemm(form, code, tile.rows, tile.columns, slices);
    memory = code.dynamicShared();
    ring.emplace(builder, bytesFrom(code, memory, constant(builder, sharedOf(tile) - StageRing::bytesOf(tile.stages))),
                 tile.stages);
    emitRoles(
        code, consumers(), [&] { ring->init(consumers() / kWarp); }, [&] { consume(code, gemm); }, [&] { produce(code, gemm); });
    code.barrier();
    gemm.emitResults(memory, sumsWidth(tile.columns), gemm.firstRow, tile.rows, tile.columns, 8);
    return gemm.good;
  }

  const GemmForm &form;
  const Tile tile;
  const int64_t slices;
  const GemmSide *const sides[2];
  const SmallVector<Run> runs[2];
  const WarpgroupOperand operands[2];
  Value memory; // stages, then sums; barriers behind them
  std::optional<StageRing> ring;
};

/// Microseconds on an H200, by the figures of the table: rounds of blocks on its 132 processors, in the last of which a processor
/// has what is left; launches; with slices, their sums, written and read.
double costOf(const Tile &tile, const Rate &rate, int64_t slices, int64_t batch, int64_t rows, int64_t columns, int64_t depth) {
  constexpr int64_t processors = 132;
  constexpr double launch = 3, bytesOfTime = 3e6;
  auto tiles = [](int64_t count, int64_t size) { return (count + size - 1) / size; };
  const int64_t atOnce = kMostShared / (WarpgroupGemmKernel::sharedOf(tile) + 1024);
  const int64_t blocks = slices * batch * tiles(rows, tile.rows) * tiles(columns, tile.columns);
  const int64_t steps = tiles(tiles(depth, tile.depth), slices) * tile.depth;
  auto blocksOfProcessor = [&](int64_t count) {
    const double operations = 2e-6 * double(tile.rows * tile.columns * steps);
    return double(count) * (operations / (count > 1 ? rate.together : rate.alone) + rate.behind);
  };
  const int64_t whole = blocks / (processors * atOnce), rest = blocks % (processors * atOnce);
  const double adding = slices == 1 ? 0 : launch + double(8 * slices * batch) * double(rows) * double(columns) / bytesOfTime;
  return double(whole) * blocksOfProcessor(atOnce) + blocksOfProcessor(tiles(rest, processors)) + launch + adding;
}

/// The tile and how many slices.
std::pair<Tile, int64_t> cheapest(int64_t batch, int64_t rows, int64_t columns, int64_t depth) {
  std::pair<Tile, int64_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t slices = 1; slices <= kMostSlices; ++slices)
    for (auto [tile, rate] : llvm::zip_equal(kTiles, kRates))
      if (const double cost = costOf(tile, rate, slices, batch, rows, columns, depth); cost < least) {
        least = cost;
        best = {tile, slices};
      }
  return best;
}

} // namespace

ChoiceForm warpgroupForm() {
  return {kWarpgroupForm,
          {{"rows", 64, 256, 64, true},
           {"columns", 64, 256, 64, true},
           {"depth", 64, 64},
           {"stages", 2, 8},
           {"registers", 32, 255},
           {"slices", 1, kMostSlices}}};
}

DictionaryAttr chooseWarpgroupGemm(const GemmForm &form) {
  constexpr int64_t least = 64; // of rows and columns, for which a smaller tile of the first rung wastes less
  auto count = [&](const Labels &labels) { return nominalSize(form.sizeOf(labels)); };
  const int64_t rows = count(form.rows), columns = count(form.columns);
  if (rows < least || columns < least || count(form.depth) < least || runsOf(form, form.a).empty() ||
      runsOf(form, form.b).empty())
    return {};
  const auto [tile, slices] = cheapest(count(form.batch), rows, columns, count(form.depth));
  return makeChoice(GemmOp(form.op).getContext(), kWarpgroupForm,
                    {{"rows", tile.rows},
                     {"columns", tile.columns},
                     {"depth", tile.depth},
                     {"stages", tile.stages},
                     {"registers", tile.registers},
                     {"slices", slices}});
}

LogicalResult generateWarpgroupGemm(const GemmForm &form, const Choice &choice, LaunchSequence &sequence) {
  GemmOp op = form.op;
  auto number = [&](StringRef name) { return *choice.number(name); };
  const Tile tile{number("rows"), number("columns"), number("depth"), number("stages"), number("registers"), 0};
  if (runsOf(form, form.a).empty() || runsOf(form, form.b).empty())
    return op->emitOpError("expects in ")
           << kChosen << " another form than " << kWarpgroupForm // S11
           << ": an operand is computed, its lines or depth lie in pieces that are not known to be a multiple of 64, or its "
              "innermost size is not known to be one of 8";
  if (failed(checkBlock(op, tile.rows / kLines * kWarpgroup + kWarp, WarpgroupGemmKernel::sharedOf(tile), kMostShared)))
    return failure();
  return WarpgroupGemmKernel(form, tile, number("slices")).generate(sequence);
}

} // namespace tenon::gpu
