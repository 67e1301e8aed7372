// Which tiles a product by warpgroups has: that row of WarpgroupTiles.def, and as many slices of the depth, as take least time by
// the rates that stand there.
#include "dialect/TensorSizes.h"
#include "lowering/gpu/LaneCode.h"
#include "lowering/gpu/WarpgroupOperands.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;

namespace tenon::gpu {
namespace {

/// Rows of WarpgroupTiles.def, and the rates of each.
struct Tile {
  int64_t rows, columns, depth, stages, registers, shared;
};
constexpr Tile kTiles[] = {
#define TILE(...) {__VA_ARGS__},
#include "lowering/gpu/WarpgroupTiles.def"
};
struct Rate {
  double alone, together, behind;
};
constexpr Rate kRates[] = {
#define RATE(...) {__VA_ARGS__},
#include "lowering/gpu/WarpgroupTiles.def"
};
struct TurnsTile {
  int64_t rows, columns, stages, blocks, registers, shared;
};
constexpr TurnsTile kTurns[] = {
#define TURNS(...) {__VA_ARGS__},
#include "lowering/gpu/WarpgroupTiles.def"
};
struct TurnsRate {
  double rate, each, behind;
};
constexpr TurnsRate kTurnsRates[] = {
#define TURNS_RATE(...) {__VA_ARGS__},
#include "lowering/gpu/WarpgroupTiles.def"
};
static_assert(std::size(kRates) == std::size(kTiles) && std::size(kTurnsRates) == std::size(kTurns));

/// What a thread has to do behind the sums. Where one warpgroup does it while the other one's operands come, each read waits for
/// all that is on its way: tiles that take turns are for code without (measured: 107 us where the other form takes 78). Scalar
/// code of many instructions, or results that are no vectors, want many warps: two blocks on a processor.
enum class Behind { Light, Reads, Heavy };

struct Product {
  int64_t batch, rows, columns, depth;
  Behind behind;
};

Behind behindOf(const GemmForm &form) {
  auto isHeavy = [](Operation &op) {
    return isa<math::MathDialect>(op.getDialect()) || isa<DrawOpInterface, InnerLoopOpInterface>(op);
  };
  if (form.lanes() == 1 || llvm::any_of(form.block, isHeavy))
    return Behind::Heavy;
  auto isOfRow = [&](Value index) {
    auto label = dyn_cast<BlockArgument>(index);
    return !label || llvm::is_contained(form.rows, int64_t(label.getArgNumber()));
  };
  const bool reads = llvm::any_of(form.block.getOps<AtOp>(), [&](AtOp at) { return llvm::any_of(at.getIndices(), isOfRow); });
  const bool isWide = llvm::any_of(GemmOp(form.op)->getResultTypes(),
                                   [](Type type) { return elementBytes(cast<RankedTensorType>(type).getElementType()) > 2; });
  return reads || isWide ? Behind::Reads : Behind::Light;
}

int64_t tilesOf(int64_t count, int64_t size) { return (count + size - 1) / size; }

/// Microseconds, as all that follow: of the sums of slices, written and read, and their launch.
double costOfSlices(const Product &product, int64_t slices) {
  constexpr double launch = 3, bytesOfTime = 5e6; // most of them are in the cache of the chip
  return launch + (slices == 1 ? 0
                               : launch + double(8 * slices * product.batch) * double(product.rows) * double(product.columns) /
                                              bytesOfTime);
}

struct Work {
  int64_t tiles;     // of all slices
  double operations; // of one, 10^6
};
Work workOf(const Product &product, int64_t rows, int64_t columns, int64_t slices) {
  constexpr int64_t step = WarpgroupOperands::kDepth;
  const int64_t steps = tilesOf(tilesOf(product.depth, step), slices) * step;
  return {slices * product.batch * tilesOf(product.rows, rows) * tilesOf(product.columns, columns),
          2e-6 * double(rows * columns * steps)};
}

int64_t blocksAtOnce(const Tile &tile) { return kMostShared / (warpgroupShared(tile.rows, tile.columns, tile.stages) + 1024); }

/// Rounds of blocks on the processors, in the last of which a processor has what is left.
double costOf(const Tile &tile, const Rate &rate, const Product &product, int64_t slices) {
  const int64_t atOnce = blocksAtOnce(tile);
  const Work work = workOf(product, tile.rows, tile.columns, slices);
  auto blocksOfProcessor = [&](int64_t count) {
    return double(count) * (work.operations / (count > 1 ? rate.together : rate.alone) + rate.behind);
  };
  const int64_t whole = work.tiles / (kProcessors * atOnce), rest = work.tiles % (kProcessors * atOnce);
  return double(whole) * blocksOfProcessor(atOnce) + blocksOfProcessor(tilesOf(rest, kProcessors)) +
         costOfSlices(product, slices);
}

/// The tiles of a block follow each other; behind the last one is its code.
double costOf(const TurnsTile &tile, const TurnsRate &rate, const Product &product, int64_t slices) {
  const Work work = workOf(product, tile.rows, tile.columns, slices);
  return double(tilesOf(work.tiles, tile.blocks)) * (work.operations / rate.rate + rate.each) + rate.behind +
         costOfSlices(product, slices);
}

DictionaryAttr cheapest(MLIRContext *context, const Product &product) {
  DictionaryAttr best;
  double least = std::numeric_limits<double>::infinity();
  auto offer = [&](double cost, StringRef form, ArrayRef<std::pair<StringRef, int64_t>> numbers) {
    if (cost >= least)
      return;
    least = cost;
    best = makeChoice(context, form, numbers);
  };
  for (int64_t slices = 1; slices <= kMostSlices; ++slices) {
    const Behind behind = slices > 1 ? Behind::Light : product.behind; // which a second kernel has
    for (auto [tile, rate] : llvm::zip_equal(kTiles, kRates))
      if (behind != Behind::Heavy || blocksAtOnce(tile) > 1)
        offer(costOf(tile, rate, product, slices), kWarpgroupForm,
              {{"rows", tile.rows},
               {"columns", tile.columns},
               {"depth", tile.depth},
               {"stages", tile.stages},
               {"registers", tile.registers},
               {"slices", slices}});
    for (auto [tile, rate] : llvm::zip_equal(kTurns, kTurnsRates))
      if (behind == Behind::Light)
        offer(costOf(tile, rate, product, slices), kPingPongForm,
              {{"rows", tile.rows},
               {"columns", tile.columns},
               {"stages", tile.stages},
               {"blocks", tile.blocks},
               {"slices", slices}});
  }
  return best;
}

} // namespace

DictionaryAttr chooseWarpgroupGemm(const GemmForm &form) {
  constexpr int64_t least = 64; // of rows and columns, for which a smaller tile of the first rung wastes less
  auto count = [&](const Labels &labels) { return nominalSize(form.sizeOf(labels)); };
  const Product product{count(form.batch), count(form.rows), count(form.columns), count(form.depth),
                        form.columns.empty() ? Behind::Heavy : behindOf(form)};
  if (product.rows < least || product.columns < least || product.depth < least || !WarpgroupOperands::fit(form))
    return {};
  return cheapest(GemmOp(form.op).getContext(), product);
}

} // namespace tenon::gpu
