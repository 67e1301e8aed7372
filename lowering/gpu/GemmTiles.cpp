#include "lowering/gpu/GemmTiles.h"
#include <algorithm>

namespace tenon::gpu {
namespace {

constexpr GemmTile kTiles[] = {
#define TILE(...) {__VA_ARGS__},
#include "lowering/gpu/GemmTiles.def"
};

// Of the smallest chip that the kernels are for, an A100.
constexpr int64_t kProcessors = 108, kRegisters = 65536, kShared = 163 << 10, kThreads = 2048;

int64_t ceilOf(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Time in units of no meaning: rounds of blocks on all processors, each as long as the blocks that share one take together.
double costOf(const GemmTile &tile, int64_t batch, int64_t rows, int64_t columns, int64_t depth) {
  const double blocks = double(batch) * double(ceilOf(rows, tile.rows)) * double(ceilOf(columns, tile.columns));
  const int64_t atOnce = std::max<int64_t>(
      std::min({kShared / tile.shared, kRegisters / (tile.threads() * tile.registers), kThreads / tile.threads()}), 1);
  const double each = std::max(blocks / double(kProcessors), 1.0); // of a processor
  const double rounds = double(int64_t((each + double(atOnce) - 1) / double(atOnce)));
  const double together = std::min(each, double(atOnce));
  // What a warp reads from shared memory per product, beside the product; filling the ring, before the first product.
  const double perStep = 1 + 16.0 / double(tile.warpRows) + 16.0 / double(tile.warpColumns);
  const double steps = double((ceilOf(depth, tile.depth) + tile.stages) * tile.depth);
  return rounds * together * double(tile.rows * tile.columns) * steps * perStep;
}

} // namespace

GemmTile chooseGemmTile(int64_t batch, int64_t rows, int64_t columns, int64_t depth) {
  return *std::min_element(std::begin(kTiles), std::end(kTiles), [&](const GemmTile &one, const GemmTile &other) {
    return costOf(one, batch, rows, columns, depth) < costOf(other, batch, rows, columns, depth);
  });
}

} // namespace tenon::gpu
