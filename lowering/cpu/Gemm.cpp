#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/GemmPlan.h"
#include "lowering/cpu/GemmTile.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/ShortReals.h"

using namespace mlir;

namespace tenon::cpu {

bool hasHighStrips(Tier tier) { return microTile(tier).rows > 8; }

bool GemmAccess::mayStreamRight() const {
  if (computesA || computesB || joinsA || joinsB || panelsOfB || (bColStride != 1 && bRowStride != 1))
    return false;
  return !isShortReal(storage) || (multipliesPairs(tier, storage) && aColStride == 1);
}

bool GemmAccess::readsRightInPlace() const {
  return panelsOfB && !panelsOfB.acrossDepth && (!isShortReal(storage) || multipliesPairs(tier, storage));
}

bool GemmAccess::readsLeftInPlace() const {
  if (computesA || stagesLeft)
    return false;
  return !isShortReal(storage) || (multipliesPairs(tier, storage) && aColStride == 1);
}

bool GemmAccess::mayStageLeft() const {
  return !computesA && !isShortReal(storage) && (hasHighStrips(tier) ? aColStride : aRowStride) == 1;
}

bool GemmAccess::linesShareSet() const {
  const std::optional<int64_t> stride = hasHighStrips(tier) ? aRowStride : aColStride;
  return mayStageLeft() && stride && *stride > 0 && *stride * elementBytes(storage) % 4096 == 0;
}

GemmAccess GemmSpec::access() const {
  auto known = [](Value stride) { return Emitter::constantOf(stride); };
  GemmAccess access{tier,
                    storage,
                    known(a.rowStride),
                    known(a.colStride),
                    known(b.rowStride),
                    known(b.colStride),
                    elementsOfA.areComputed,
                    elementsOfB.areComputed,
                    bool(rangesOfA),
                    bool(rangesOfB),
                    panelsOfB,
                    runs.bytes > 0};
  access.stagesLeft = choice ? choice->staged : access.linesShareSet();
  return access;
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

/// Tiles of a batch: either each contraction has several tiles, or several contractions share one.
struct BatchPlan {
  BatchPlan(Emitter &emit, const BatchedGemmSpec &spec) : inner(spec.specOf(emit.builder, emit.location, emit.constant(0))) {
    const bool bySize = !inner.choice || inner.choice->form == GemmChoice::Form::BySize;
    if (bySize)
      leastPanels = leastPanelsOf(emit, inner.limits(), spec.batch);
    each.emplace(emit, inner, leastPanels);
    tilesEach = each->tiles;
    if (bySize) {
      Value work = emit.max(emit.mul(emit.mul(inner.m, inner.n), inner.k), 1);
      perTile = entriesPerTile(emit, inner.limits(), work, spec.batch, tilesEach);
    } else {
      perTile = emit.constant(inner.choice->entries);
    }
    tiles = emit.mul(emit.ceilDiv(spec.batch, perTile), tilesEach);
  }

  GemmSpec inner; ///< the first one
  std::optional<GemmPlan> each;
  Value leastPanels, tilesEach, perTile, tiles; ///< perTile: entries
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
  Value first = emit.mul(group, plan.perTile);
  Value end = emit.min(emit.add(first, plan.perTile), spec.batch);
  withTiles(emit, plan.inner, *plan.each, [&] {
    emit.loop(first, end, 1, [&](Value index) {
      GemmSpec single = spec.specOf(builder, location, index);
      emitTileOfGemm(emit, single, GemmPlan(emit, single, plan.leastPanels), scratch, inner);
    });
  });
}

} // namespace tenon::cpu
