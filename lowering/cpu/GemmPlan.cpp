#include "lowering/cpu/GemmPlan.h"
#include "lowering/cpu/StreamRows.h"
#include "lowering/cpu/TileKernel.h"

#include <set>

using namespace mlir;

namespace tenon::cpu {

GemmLimits gemmLimits(Tier tier, Type storage) {
  // Tiles multiply 16 times as fast as pairs: a panel of B stays in the nearest cache (32 KiB), which alone keeps up beside rows
  // of A from the second, and a tile of work has more to do.
  if (multipliesTiles(tier, storage))
    return {/*rows=*/384, /*whole=*/512, /*depth=*/512, /*panels=*/8, /*split=*/8, /*work=*/int64_t(8) << 20};
  int64_t bytes = multipliesPairs(tier, storage) ? 2 : elementBytes(elementModel(storage).compute); // of what micro-kernels read
  return {/*rows=*/384,
          /*whole=*/768 * 4 / bytes,
          /*depth=*/512 * 4 / bytes,
          /*panels=*/8,
          /*split=*/8,
          /*work=*/(int64_t(2) << 20) * 4 / bytes};
}

namespace {

/// Panels that share the rows of A in scratch, at least; all of a tile where the rows are computed, or transposed for tiles,
/// which takes as long as to multiply three panels with them.
constexpr int64_t kStagedPanels = 2;

/// Calls `body` with the number of rows of each range's part of rows [first, end).
void forParts(const GemmRanges &ranges, int64_t first, int64_t end, llvm::function_ref<void(int64_t)> body) {
  if (!ranges)
    return body(end - first);
  const int64_t period = ranges.starts->back();
  for (int64_t begin = period > 0 ? first / period * period : end; begin < end; begin += period)
    for (size_t i = 0; i + 1 < ranges.starts->size(); ++i)
      if (int64_t rows = std::min(end, begin + (*ranges.starts)[i + 1]) - std::max(first, begin + (*ranges.starts)[i]); rows > 0)
        body(rows);
}

/// M is cut evenly into strips of the register tile's rows or one less, so that no strip is too short to hide the FMA latency;
/// each range of it by itself.
SmallVector<int64_t> stripHeightsOf(std::optional<int64_t> m, std::optional<int64_t> rowBlocks,
                                    std::optional<int64_t> rowsPerBlock, int64_t tileRows, const GemmRanges &ranges) {
  std::set<int64_t> heights;
  if (m && rowBlocks && rowsPerBlock && (!ranges || ranges.starts)) {
    for (int64_t start = 0; start < *m; start += *rowsPerBlock)
      forParts(ranges, start, std::min(*m, start + *rowsPerBlock), [&](int64_t rows) {
        int64_t strips = (rows + tileRows - 1) / tileRows;
        heights.insert(rows / strips);
        heights.insert((rows + strips - 1) / strips);
      });
  } else {
    for (int64_t height = 1; height <= tileRows; ++height)
      heights.insert(height);
  }
  return SmallVector<int64_t>(heights.begin(), heights.end());
}

} // namespace

GemmPlan::GemmPlan(Emitter &emit, const GemmSpec &spec, Value leastPanels) {
  GemmLimits limits = gemmLimits(spec.tier, spec.storage);
  MicroTile tile = microTile(spec.tier);
  width = tile.vectors * tierLanes(spec.tier, spec.element());
  panelsPerRun = GemmRuns::mostColumns / width;
  const int64_t streamedPanels = kStreamedBytes / (width * elementBytes(spec.element()));

  rowBlocks = emit.ceilDiv(spec.m, limits.rows);
  const bool hasTiles = cpu::multipliesTiles(spec.tier, spec.storage);
  rowsPerBlock = emit.ceilDiv(spec.m, emit.max(rowBlocks, 1));
  multipliesTiles = hasTiles ? emit.lessEqual(emit.constant(kFewestRows), spec.m) : emit.flag(false);
  if (hasTiles) // one strip that is not full at most
    rowsPerBlock = emit.min(emit.roundUp(rowsPerBlock, kStripRows), spec.m);
  streamsRight = spec.mayStreamRight() ? emit.lessEqual(spec.m, emit.constant(kFewRows)) : emit.flag(false);
  // Nothing of few rows times weights in panels is in scratch but the sums: each panel is read from one end to the other.
  const bool mayBeWhole = spec.readsRightInPlace() && spec.readsLeftInPlace();
  Value few = mayBeWhole ? emit.lessEqual(spec.m, emit.constant(kFewRows)) : streamsRight;
  Value isWhole = emit.select(few, emit.flag(true), emit.lessEqual(spec.k, emit.constant(limits.whole)));
  depthBlocks = emit.select(isWhole, emit.constant(1), emit.ceilDiv(spec.k, limits.depth));
  depthPerBlock = emit.roundUp(emit.ceilDiv(spec.k, depthBlocks), hasTiles ? kTileSteps : 16);

  panels = emit.ceilDiv(spec.n, width);
  // Enough panels that the tile is worth a task; then spread evenly over an even number of tiles, so that two threads balance.
  Value workPerPanel = emit.max(emit.mul(emit.mul(rowsPerBlock, spec.k), width), 1);
  Value wanted = emit.ceilDiv(emit.constant(limits.work), workPerPanel);
  wanted = emit.max(wanted, emit.select(isWhole, emit.constant(1), emit.ceilDiv(panels, limits.split)));
  if (spec.runs.bytes > 0)
    wanted = emit.max(wanted, panelsPerRun);
  if (!spec.readsLeftInPlace())
    wanted = emit.max(wanted, spec.elementsOfA.areComputed || hasTiles ? limits.panels : kStagedPanels);
  if (leastPanels)
    wanted = emit.max(wanted, leastPanels);
  wanted = emit.min(wanted, emit.select(streamsRight, emit.constant(streamedPanels), emit.constant(limits.panels)));
  Value blocks = emit.ceilDiv(panels, wanted);
  Value even = emit.mul(emit.div(emit.add(blocks, 1), 2), 2);
  blocks = emit.max(emit.select(emit.less(emit.constant(1), blocks), emit.min(even, panels), blocks), 1);
  panelsPerBlock = emit.max(emit.ceilDiv(panels, blocks), 1);
  columnBlocks = emit.ceilDiv(panels, panelsPerBlock);
  tiles = emit.mul(rowBlocks, columnBlocks);

  auto isAlways = [](Value condition) { return Emitter::constantOf(condition).value_or(0) != 0; };
  if (!isAlways(multipliesTiles) && !isAlways(streamsRight))
    stripHeights =
        stripHeightsOf(Emitter::constantOf(spec.m), Emitter::constantOf(rowBlocks), Emitter::constantOf(rowsPerBlock),
                       hasTiles ? kFewestRows - 1 : tile.rows, spec.readsLeftInPlace() ? spec.rangesOfA : GemmRanges());
}

} // namespace tenon::cpu
