#include "lowering/cpu/GemmLeft.h"
#include "lowering/cpu/GemmRight.h"
#include "lowering/cpu/Pack.h"
#include "lowering/cpu/PackPairs.h"
#include "lowering/cpu/ShortReals.h"
#include "lowering/cpu/TileKernel.h"

using namespace mlir;

namespace tenon::cpu {

static bool isOne(Value value) { return Emitter::constantOf(value) == int64_t(1); }

void GemmLeft::stage(Value start, Value steps) {
  startDepth = start, depth = steps;
  if (multipliesTiles(spec.tier, spec.storage))
    stageTiles();
  else if (!spec.readsLeftInPlace())
    stageRows();
}

/// A's rows of this tile and block of K into scratch: of the micro-kernels' type along the direction in which they are
/// neighbours in memory, or as pairs.
void GemmLeft::stageRows() {
  GemmOperand a = spec.a;
  if (spec.elementsOfA.areComputed) {
    a = computeLines(emit, spec.elementsOfA, spec.storage, firstRow, rows, startDepth, depth, scratch.computedA);
    if (!isShortReal(spec.storage)) {
      memory = a;
      return;
    }
  } else if (!spec.rangesOfA) {
    a.base =
        emit.at(a.base, memoryType(spec.storage), emit.add(emit.mul(firstRow, a.rowStride), emit.mul(startDepth, a.colStride)));
  }
  Value source = a.base;
  bool isTransposed = isOne(a.rowStride) && !isOne(a.colStride);
  Value one = emit.constant(1);
  if (multipliesPairs(spec.tier, spec.storage)) {
    Value pitch = pitchInScratch(emit, isTransposed ? rows : emit.ceilDiv(depth, 2));
    func::FuncOp function = getPairRows(emit.builder, emit.location, spec.tier, isTransposed);
    func::CallOp::create(emit.builder, emit.location, function,
                         ValueRange{rows, depth, source, a.rowStride, a.colStride, scratch.staged, pitch});
    memory = isTransposed ? GemmOperand{scratch.staged, one, pitch} : GemmOperand{scratch.staged, emit.mul(pitch, 2), one};
    return;
  }
  Value outer = rows, inner = depth, outerStride = a.rowStride, innerStride = a.colStride;
  if (isTransposed)
    std::swap(outer, inner), std::swap(outerStride, innerStride);
  Value pitch = pitchInScratch(emit, inner);
  FormOfA form = isTransposed ? FormOfA::AlongRows : isOne(innerStride) ? FormOfA::AlongDepth : FormOfA::Strided;
  func::FuncOp function = getWidenRows(emit.builder, emit.location, spec.tier, spec.storage, form, depthOrderOf(spec.storage));
  auto widen = [&](Value lines, Value from, Value to) {
    func::CallOp::create(emit.builder, emit.location, function,
                         ValueRange{lines, inner, from, outerStride, innerStride, to, pitch});
  };
  if (spec.rangesOfA)
    forRanges([&](Value row, Value count) {
      widen(count, addressInRange(row, startDepth), emit.at(scratch.staged, spec.element(), emit.mul(row, pitch)));
    });
  else
    widen(outer, source, scratch.staged);
  memory = isTransposed ? GemmOperand{scratch.staged, one, pitch} : GemmOperand{scratch.staged, pitch, one};
}

/// A's rows of this tile and block of K, row-major: where they are in memory, or computed, but for the steps behind the last
/// whole 32, as far as K is contiguous there; otherwise in scratch. What is in scratch ends in zeros: behind a row may be NaN.
void GemmLeft::stageTiles() {
  GemmOperand a = spec.a;
  if (spec.elementsOfA.areComputed)
    a = computeLines(emit, spec.elementsOfA, spec.storage, firstRow, rows, startDepth, depth, scratch.computedA);
  else if (!spec.rangesOfA)
    a.base =
        emit.at(a.base, memoryType(spec.storage), emit.add(emit.mul(firstRow, a.rowStride), emit.mul(startDepth, a.colStride)));
  Value steps = depth, source = a.base, pitch = emit.constant(kTileSteps);
  FormOfRows form = FormOfRows::AlongDepth;
  if (isOne(a.colStride)) {
    memory = a;
    if (Emitter::constantOf(plan.multipliesTiles) == int64_t(0)) // pairs are read up to the end of a row
      return;
    wholeSteps = emit.div(depth, kTileSteps);
    Value whole = emit.mul(wholeSteps, kTileSteps);
    steps = emit.sub(depth, whole);
    if (spec.rangesOfA)
      return stageRests(whole, steps);
    source = emit.at(source, memoryType(spec.storage), whole);
  } else {
    // An odd number of lines from row to row, so that rows do not share the sets of a cache.
    pitch = emit.mul(emit.add(emit.mul(emit.ceilDiv(depth, 2 * kTileSteps), 2), 1), kTileSteps);
    form = isOne(a.rowStride) ? FormOfRows::AlongRows : FormOfRows::Strided;
    memory = {scratch.staged, pitch, emit.constant(1)};
    wholeSteps = emit.ceilDiv(depth, kTileSteps);
  }
  if (Emitter::constantOf(steps) == int64_t(0))
    return;
  func::FuncOp function = getTileRows(emit.builder, emit.location, spec.tier, form);
  func::CallOp::create(emit.builder, emit.location, function,
                       ValueRange{rows, steps, source, a.rowStride, a.colStride, scratch.staged, pitch});
}

/// The steps behind the last whole 32 of rows that lie in several ranges.
void GemmLeft::stageRests(Value whole, Value steps) {
  if (Emitter::constantOf(steps) == int64_t(0))
    return;
  Value pitch = emit.constant(kTileSteps);
  func::FuncOp function = getTileRows(emit.builder, emit.location, spec.tier, FormOfRows::AlongDepth);
  forRanges([&](Value row, Value count) {
    func::CallOp::create(emit.builder, emit.location, function,
                         ValueRange{count, steps, addressInRange(row, emit.add(startDepth, whole)), spec.a.rowStride,
                                    spec.a.colStride,
                                    emit.at(scratch.staged, emit.builder.getI8Type(), emit.mul(row, kTileBytes)), pitch});
  });
}

void GemmLeft::forRanges(llvm::function_ref<void(Value, Value)> body) {
  spec.rangesOfA.visit(emit.builder, emit.location, firstRow, emit.add(firstRow, rows),
                       [&](Value low, Value high, Value address) {
                         rangeRow = emit.sub(low, firstRow);
                         rangeBase = address;
                         body(rangeRow, emit.sub(high, low));
                       });
}

Value GemmLeft::addressInRange(Value row, Value step) {
  Value place = emit.add(emit.mul(emit.sub(row, rangeRow), spec.a.rowStride), emit.mul(step, spec.a.colStride));
  return emit.at(rangeBase, memoryType(spec.storage), place);
}

bool GemmLeft::hasStripsInRanges() const {
  return spec.rangesOfA && (multipliesTiles(spec.tier, spec.storage) || spec.readsLeftInPlace());
}

} // namespace tenon::cpu
