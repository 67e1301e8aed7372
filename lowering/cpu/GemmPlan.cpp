#include "lowering/cpu/GemmPlan.h"
#include "lowering/cpu/StreamRows.h"
#include "lowering/cpu/TileKernel.h"

#include <set>

using namespace mlir;

namespace tenon::cpu {

int64_t panelWidth(Tier tier, Type storage) { return microTile(tier).vectors * tierLanes(tier, elementModel(storage).compute); }

int64_t stepsOfBlocks(Tier tier, Type storage) { return multipliesTiles(tier, storage) ? kTileSteps : 16; }

int64_t streamedPanels(Tier tier) { return kStreamedBytes / (microTile(tier).vectors * tierVectorBits(tier) / 8); }

GemmLimits gemmLimits(Tier tier, Type storage) {
  constexpr int64_t kManyEntries = 16;
  const int64_t staged = hasHighStrips(tier) ? 2 : 4; // panels for which rows are copied: 64 columns of f32
  // Tiles multiply 16 times as fast as pairs: a panel of B stays in the nearest cache (32 KiB), which alone keeps up beside rows
  // of A from the second, and a tile of work has more to do. It takes more panels, too: each tile reads its rows of A from
  // behind the second cache once for all of them, or transposes them (gradients of weights).
  if (multipliesTiles(tier, storage))
    return {/*rows=*/384, /*whole=*/512, /*depth=*/512, /*panels=*/16, /*split=*/4, /*work=*/int64_t(8) << 20,
            staged,       kManyEntries};
  int64_t bytes = multipliesPairs(tier, storage) ? 2 : elementBytes(elementModel(storage).compute); // of what micro-kernels read
  return {/*rows=*/384,
          /*whole=*/768 * 4 / bytes,
          /*depth=*/512 * 4 / bytes,
          /*panels=*/8,
          /*split=*/8,
          /*work=*/(int64_t(2) << 20) * 4 / bytes,
          staged,
          kManyEntries};
}

namespace {

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

template <class Numbers>
GemmCut<Numbers>::GemmCut(Numbers &emit, const GemmAccess &access, const GemmLimits &limits, Number m, Number n, Number k,
                          const Number *leastPanels) {
  const int64_t width = panelWidth(access.tier, access.storage);
  rowBlocks = emit.ceilDiv(m, limits.rows);
  const bool hasTiles = cpu::multipliesTiles(access.tier, access.storage);
  rowsPerBlock = emit.ceilDiv(m, emit.max(rowBlocks, 1));
  multipliesTiles = hasTiles ? emit.lessEqual(emit.constant(kFewestRows), m) : emit.flag(false);
  if (hasTiles) // one strip that is not full at most
    rowsPerBlock = emit.min(emit.roundUp(rowsPerBlock, kStripRows), m);
  streamsRight = access.mayStreamRight() ? emit.lessEqual(m, emit.constant(kFewRows)) : emit.flag(false);
  // Nothing of few rows times weights in panels is in scratch but the sums: each panel is read from one end to the other.
  Condition few = access.mayBeWhole() ? emit.lessEqual(m, emit.constant(kFewRows)) : streamsRight;
  Condition isWhole = emit.select(few, emit.flag(true), emit.lessEqual(k, emit.constant(limits.whole)));
  depthBlocks = emit.select(isWhole, emit.constant(1), emit.ceilDiv(k, limits.depth));
  depthPerBlock = emit.roundUp(emit.ceilDiv(k, depthBlocks), stepsOfBlocks(access.tier, access.storage));

  panels = emit.ceilDiv(n, width);
  // Enough panels that the tile is worth a task; then spread evenly over an even number of tiles, so that two threads balance.
  Number workPerPanel = emit.max(emit.mul(emit.mul(rowsPerBlock, k), width), 1);
  Number wanted = emit.ceilDiv(emit.constant(limits.work), workPerPanel);
  wanted = emit.max(wanted, emit.select(isWhole, emit.constant(1), emit.ceilDiv(panels, limits.split)));
  if (access.hasRuns)
    wanted = emit.max(wanted, GemmRuns::mostColumns / width);
  // All of a tile where the rows are computed, or transposed for tiles, which takes as long as to multiply three panels with
  // them.
  if (!access.readsLeftInPlace())
    wanted = emit.max(wanted, access.computesA || hasTiles ? limits.panels : limits.staged);
  if (leastPanels)
    wanted = emit.max(wanted, *leastPanels);
  const int64_t streamed = streamedPanels(access.tier);
  wanted = emit.min(wanted, emit.select(streamsRight, emit.constant(streamed), emit.constant(limits.panels)));
  Number blocks = emit.ceilDiv(panels, wanted);
  Number even = emit.mul(emit.div(emit.add(blocks, 1), 2), 2);
  blocks = emit.max(emit.select(emit.less(emit.constant(1), blocks), emit.min(even, panels), blocks), 1);
  panelsPerBlock = emit.max(emit.ceilDiv(panels, blocks), 1);
  columnBlocks = emit.ceilDiv(panels, panelsPerBlock);
  tiles = emit.mul(rowBlocks, columnBlocks);
}

template <class Numbers> NumberOf<Numbers> leastPanelsOf(Numbers &emit, const GemmLimits &limits, NumberOf<Numbers> batch) {
  return emit.select(emit.less(batch, emit.constant(limits.many)), emit.constant(1), emit.constant(limits.panels));
}

template <class Numbers>
NumberOf<Numbers> entriesPerTile(Numbers &emit, const GemmLimits &limits, NumberOf<Numbers> work, NumberOf<Numbers> batch,
                                 NumberOf<Numbers> tilesEach) {
  auto wanted = emit.min(emit.ceilDiv(emit.constant(limits.work), work), emit.max(batch, 1));
  auto groups = emit.ceilDiv(batch, wanted);
  auto shared = emit.ceilDiv(batch, emit.max(groups, 1));
  return emit.select(emit.less(emit.constant(1), tilesEach), emit.constant(1), emit.max(shared, 1));
}

template struct GemmCut<KnownNumbers>;
template struct GemmCut<Emitter>;
template int64_t leastPanelsOf(KnownNumbers &, const GemmLimits &, int64_t);
template Value leastPanelsOf(Emitter &, const GemmLimits &, Value);
template int64_t entriesPerTile(KnownNumbers &, const GemmLimits &, int64_t, int64_t, int64_t);
template Value entriesPerTile(Emitter &, const GemmLimits &, Value, Value, Value);

void GemmPlan::takeChoice(Emitter &emit, const GemmSpec &spec) {
  const GemmChoice &choice = *spec.choice;
  const bool streams = choice.form == GemmChoice::Form::Streams;
  rowsPerBlock = streams ? spec.m : emit.constant(choice.rows);
  rowBlocks = emit.ceilDiv(spec.m, emit.max(rowsPerBlock, 1));
  depthPerBlock = streams ? emit.roundUp(spec.k, 16) : emit.constant(choice.depth);
  depthBlocks = streams ? emit.constant(1) : emit.max(emit.ceilDiv(spec.k, depthPerBlock), 1);
  panels = emit.ceilDiv(spec.n, width);
  panelsPerBlock = emit.constant(choice.panels);
  columnBlocks = emit.ceilDiv(panels, panelsPerBlock);
  tiles = emit.mul(rowBlocks, columnBlocks);
  streamsRight = emit.flag(streams);
  multipliesTiles = emit.flag(choice.form == GemmChoice::Form::Tiles);
}

GemmPlan::GemmPlan(Emitter &emit, const GemmSpec &spec, Value leastPanels) {
  stripRows = spec.choice && spec.choice->strip ? spec.choice->strip : microTile(spec.tier).rows;
  width = panelWidth(spec.tier, spec.storage);
  panelsPerRun = GemmRuns::mostColumns / width;
  if (spec.choice && spec.choice->form != GemmChoice::Form::BySize)
    takeChoice(emit, spec);
  else
    static_cast<GemmCut<Emitter> &>(*this) =
        GemmCut<Emitter>(emit, spec.access(), spec.limits(), spec.m, spec.n, spec.k, leastPanels ? &leastPanels : nullptr);

  auto isAlways = [](Value condition) { return Emitter::constantOf(condition).value_or(0) != 0; };
  if (!isAlways(multipliesTiles) && !isAlways(streamsRight)) {
    const bool hasTiles = cpu::multipliesTiles(spec.tier, spec.storage);
    stripHeights =
        stripHeightsOf(spec.listed && spec.listed.ofRows ? std::nullopt : Emitter::constantOf(spec.m),
                       Emitter::constantOf(rowBlocks), Emitter::constantOf(rowsPerBlock), hasTiles ? kFewestRows - 1 : stripRows,
                       spec.readsLeftInPlace() ? spec.rangesOfA : GemmRanges());
  }
}

} // namespace tenon::cpu
