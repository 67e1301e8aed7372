#include "lowering/gpu/GemmTiles.h"
#include "lowering/gpu/GemmForm.h"
#include <algorithm>
#include <limits>

namespace tenon::gpu {
namespace {

constexpr GemmTile kTiles[] = {
#define TILE(...) {__VA_ARGS__},
#include "lowering/gpu/GemmTiles.def"
};

// Of the smallest chip that the kernels are for, an A100.
constexpr int64_t kProcessors = 108, kRegisters = 65536, kShared = 163 << 10, kThreads = 2048;

int64_t ceilOf(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Of slices: a byte of their sums, written and read, and the launch of the kernel that adds them, in multiply-adds of a
// processor.
constexpr double kPerByte = 1, kLaunch = 4e6;

/// Time in multiply-adds of a processor: rounds of blocks on all processors, each as long as the blocks that share one take
/// together.
double costOf(const GemmCut &cut, int64_t batch, int64_t rows, int64_t columns, int64_t depth) {
  const GemmTile &tile = cut.tile;
  const double slices = double(cut.slices);
  const double blocks = slices * double(batch) * double(ceilOf(rows, tile.rows)) * double(ceilOf(columns, tile.columns));
  const int64_t atOnce = std::max<int64_t>(
      std::min({kShared / tile.shared, kRegisters / (tile.threads() * tile.registers), kThreads / tile.threads()}), 1);
  const double each = std::max(blocks / double(kProcessors), 1.0); // of a processor
  const double rounds = double(int64_t((each + double(atOnce) - 1) / double(atOnce)));
  const double together = std::min(each, double(atOnce));
  // What a warp reads from shared memory per product, beside the product; filling the ring, before the first product.
  const double perStep = 1 + 16.0 / double(tile.warpRows) + 16.0 / double(tile.warpColumns);
  const double steps = double((ceilOf(ceilOf(depth, tile.depth), cut.slices) + tile.stages) * tile.depth);
  const double adding = cut.slices == 1 ? 0 : kLaunch + kPerByte * 8 * slices * double(batch) * double(rows) * double(columns);
  return rounds * together * double(tile.rows * tile.columns) * steps * perStep + adding;
}

} // namespace

GemmCut chooseGemmTile(int64_t batch, int64_t rows, int64_t columns, int64_t depth) {
  GemmCut best{};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t slices = 1; slices <= kMostSlices; ++slices)
    for (const GemmTile &tile : kTiles)
      if (const double cost = costOf({tile, slices}, batch, rows, columns, depth); cost < least) {
        least = cost;
        best = {tile, slices};
      }
  return best;
}

} // namespace tenon::gpu
