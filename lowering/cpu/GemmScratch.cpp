#include "lowering/cpu/GemmScratch.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/Pack.h"
#include "lowering/cpu/ShortReals.h"
#include "lowering/cpu/TileKernel.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Steps of the longest block of K: pairs where pairs are multiplied. Panels and rows in scratch take as many elements of the
/// sums' size.
int64_t mostSteps(Tier tier, Type storage) { return gemmLimits(tier, storage).whole / (multipliesPairs(tier, storage) ? 2 : 1); }

/// Elements of the packed panel in scratch: one whole square of rows more than its depth, which the transposing form may clear.
int64_t panelElements(Tier tier, Type storage) {
  return (mostSteps(tier, storage) + tierLanes(tier, elementModel(storage).compute)) * panelWidth(tier, storage);
}

/// Elements of the sums of a whole tile.
int64_t sumElements(Tier tier, Type storage) {
  GemmLimits limits = gemmLimits(tier, storage);
  return limits.rows * panelWidth(tier, storage) * limits.panels;
}

/// Elements of the rows of A that a tile reads for one block of K, where they are in scratch. What is read in place by tiles has
/// its last steps there.
int64_t leftElements(Tier tier, Type storage, bool inPlace) {
  if (inPlace)
    return multipliesTiles(tier, storage) ? gemmLimits(tier, storage).rows * kTileBytes / 4 : 0;
  int64_t rows = gemmLimits(tier, storage).rows, steps = mostSteps(tier, storage);
  return std::max(rows * stagedPitch(steps), steps * stagedPitch(rows));
}

/// Bytes of the block of A, or panel of B, that is computed into scratch, in either direction; a multiple of 64.
int64_t computedBytes(Tier tier, Type storage, int64_t lines) {
  const int64_t steps = gemmLimits(tier, storage).whole;
  return std::max(lines * stagedPitch(steps), steps * stagedPitch(lines)) * elementBytes(storage);
}
int64_t computedBytesOfA(Tier tier, Type storage) { return computedBytes(tier, storage, gemmLimits(tier, storage).rows); }
int64_t computedBytesOfB(Tier tier, Type storage) { return computedBytes(tier, storage, panelWidth(tier, storage)); }

} // namespace

GemmScratch::GemmScratch(Emitter &emit, const GemmSpec &spec, Value base)
    : packed(base), sums(emit.at(base, spec.element(), panelElements(spec.tier, spec.storage))),
      staged(emit.at(sums, spec.element(), sumElements(spec.tier, spec.storage))),
      computedB(emit.at(staged, spec.element(), leftElements(spec.tier, spec.storage, spec.readsLeftInPlace()))),
      computedA(emit.at(computedB, emit.builder.getI8Type(),
                        spec.elementsOfB.areComputed ? computedBytesOfB(spec.tier, spec.storage) : 0)),
      runs(emit.at(computedA, emit.builder.getI8Type(),
                   spec.elementsOfA.areComputed ? computedBytesOfA(spec.tier, spec.storage) : 0)) {}

Value pitchInScratch(Emitter &emit, Value steps) { return emit.add(emit.roundUp(steps, kStagedPad), kStagedPad); }

GemmOperand computeLines(Emitter &emit, const GemmElements &elements, Type storage, Value first, Value lines, Value start,
                         Value steps, Value target, Value pitch) {
  Value outer = lines, inner = steps, outerStart = first, innerStart = start;
  if (!elements.alongDepth)
    std::swap(outer, inner), std::swap(outerStart, innerStart);
  if (!pitch)
    pitch = pitchInScratch(emit, inner);
  if (elements.computeBlock)
    elements.computeBlock(emit.builder, emit.location, outerStart, outer, innerStart, inner, target, pitch);
  else
    emit.loop(emit.constant(0), outer, 1, [&](Value number) {
      elements.compute(emit.builder, emit.location, emit.add(outerStart, number), innerStart, inner,
                       emit.at(target, memoryType(storage), emit.mul(number, pitch)));
    });
  Value one = emit.constant(1);
  return elements.alongDepth ? GemmOperand{target, pitch, one} : GemmOperand{target, one, pitch};
}

int64_t gemmScratchBytes(Tier tier, Type storage, int64_t runBytes, bool inPlace, bool computesA, bool computesB) {
  Type element = elementModel(storage).compute;
  int64_t elements = panelElements(tier, storage) + sumElements(tier, storage) + leftElements(tier, storage, inPlace);
  return elements * elementBytes(element) + (computesA ? computedBytesOfA(tier, storage) : 0) +
         (computesB ? computedBytesOfB(tier, storage) : 0) + gemmLimits(tier, storage).rows * runBytes;
}

} // namespace tenon::cpu
