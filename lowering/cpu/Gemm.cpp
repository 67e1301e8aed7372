#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/GemmTile.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/ShortReals.h"

using namespace mlir;

namespace tenon::cpu {

static bool isOne(Value value) { return Emitter::constantOf(value) == int64_t(1); }

bool rowsShareSet(Tier tier, Type storage, int64_t rowStride) {
  return microTile(tier).rows > 8 && rowStride > 0 && rowStride * elementBytes(storage) % 4096 == 0;
}

bool GemmSpec::mayStreamRight() const {
  if (elementsOfA.areComputed || elementsOfB.areComputed || rangesOfA || rangesOfB || panelsOfB ||
      !(isOne(b.colStride) || isOne(b.rowStride)))
    return false;
  return !isShortReal(storage) || (multipliesPairs(tier, storage) && isOne(a.colStride));
}

bool GemmSpec::readsRightInPlace() const {
  return panelsOfB && !panelsOfB.acrossDepth && (!isShortReal(storage) || multipliesPairs(tier, storage));
}

bool GemmSpec::readsLeftInPlace() const {
  if (elementsOfA.areComputed)
    return false;
  if (isShortReal(storage))
    return multipliesPairs(tier, storage) && isOne(a.colStride);
  std::optional<int64_t> rowStride = Emitter::constantOf(a.rowStride);
  return !isOne(a.colStride) || !rowStride || !rowsShareSet(tier, storage, *rowStride);
}

Value gemmTileCount(OpBuilder &builder, Location location, const GemmSpec &spec) {
  Emitter emit(builder, location);
  return GemmPlan(emit, spec).tiles;
}

void emitGemmTile(OpBuilder &builder, Location location, const GemmSpec &spec, Value tile, Value scratch) {
  Emitter emit(builder, location);
  GemmPlan plan(emit, spec);
  withTiles(emit, spec, plan, [&] { emitTileOfGemm(emit, spec, plan, scratch, tile); });
}

Value emitVectorLoad(OpBuilder &builder, Location location, VectorType type, Value pointer, Value mask) {
  Emitter emit(builder, location);
  unsigned alignment = type.getElementTypeBitWidth() / 8;
  if (!mask)
    return emit.load(type, pointer, alignment);
  return LLVM::MaskedLoadOp::create(builder, location, type, pointer, mask, emit.zero(type), alignment);
}

void emitVectorStore(OpBuilder &builder, Location location, Value vector, Value pointer, Value mask) {
  Emitter emit(builder, location);
  unsigned alignment = cast<VectorType>(vector.getType()).getElementTypeBitWidth() / 8;
  if (!mask)
    return emit.store(vector, pointer, alignment);
  LLVM::MaskedStoreOp::create(builder, location, vector, pointer, mask, alignment);
}

namespace {

/// Batch entries beyond which they alone keep all threads busy: tiles then take more columns and read A fewer times.
constexpr int64_t kManyEntries = 16;

/// Tiles of a batch: either each contraction has several tiles, or several contractions share one.
struct BatchPlan {
  BatchPlan(Emitter &emit, const BatchedGemmSpec &spec) : inner(spec.specOf(emit.builder, emit.location, emit.constant(0))) {
    GemmLimits limits = gemmLimits(inner.tier, inner.storage);
    leastPanels = emit.select(emit.less(spec.batch, emit.constant(kManyEntries)), emit.constant(1), emit.constant(limits.panels));
    each.emplace(emit, inner, leastPanels);
    tilesEach = each->tiles;
    Value work = emit.max(emit.mul(emit.mul(inner.m, inner.n), inner.k), 1);
    Value wanted = emit.min(emit.ceilDiv(emit.constant(limits.work), work), emit.max(spec.batch, 1));
    Value groups = emit.ceilDiv(spec.batch, wanted);
    Value shared = emit.ceilDiv(spec.batch, emit.max(groups, 1));
    entriesPerTile = emit.select(emit.less(emit.constant(1), tilesEach), emit.constant(1), emit.max(shared, 1));
    groupCount = emit.ceilDiv(spec.batch, entriesPerTile);
    tiles = emit.mul(groupCount, tilesEach);
  }

  GemmSpec inner; ///< the first one
  std::optional<GemmPlan> each;
  Value leastPanels, tilesEach, entriesPerTile, groupCount, tiles;
};

} // namespace

Value batchedGemmTileCount(OpBuilder &builder, Location location, const BatchedGemmSpec &spec) {
  Emitter emit(builder, location);
  return BatchPlan(emit, spec).tiles;
}

void emitBatchedGemmTile(OpBuilder &builder, Location location, const BatchedGemmSpec &spec, Value tile, Value scratch) {
  Emitter emit(builder, location);
  BatchPlan plan(emit, spec);
  Value group = emit.div(tile, emit.max(plan.tilesEach, 1));
  Value inner = emit.sub(tile, emit.mul(group, plan.tilesEach));
  Value first = emit.mul(group, plan.entriesPerTile);
  Value end = emit.min(emit.add(first, plan.entriesPerTile), spec.batch);
  withTiles(emit, plan.inner, *plan.each, [&] {
    emit.loop(first, end, 1, [&](Value index) {
      GemmSpec single = spec.specOf(builder, location, index);
      emitTileOfGemm(emit, single, GemmPlan(emit, single, plan.leastPanels), scratch, inner);
    });
  });
}

} // namespace tenon::cpu
