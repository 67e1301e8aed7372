// tenon.optimize, second part: moments and parameters. Each rule reads and writes them in one pass; one with a ratio per tensor
// in two, since the norms of what the first computes are needed in the second, which computes the directions again.
#include "lowering/artifact/Abi.h"
#include "lowering/code/Halves.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/OptimizerKernels.h"
#include "lowering/cpu/ShortReals.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

void OptimizerKernels::addUpdate() {
  if (hasRatios()) {
    addKernels("moments", true, &OptimizerKernels::emitMoments);
    addKernel("ratios", segmentCount(), true, [this](FunctionCode &code) { emitRatio(code); });
  }
  addKernels("update", true, &OptimizerKernels::emitUpdate, /*isUpdate=*/true);
}

VectorType OptimizerKernels::vectorType() { return VectorType::get({laneCount()}, part.element); }

RuleCode OptimizerKernels::rulesOf(FunctionCode &code, Value rate, Value decay) {
  const RuleNumbers numbers = ruleNumbers(code.builder, op, code.field(abi::Step), libraryOf(code));
  return RuleCode(code.builder, op, vectorType(), numbers, rate, decay);
}

Value OptimizerKernels::scalarOf(FunctionCode &code, int64_t offset) {
  auto &builder = code.builder;
  return LLVM::LoadOp::create(builder, builder.getF64Type(), byteAddress(builder, code.context, constant(builder, offset)), 8);
}

std::function<Value(Value)> OptimizerKernels::clipping(FunctionCode &code, const Piece &piece) {
  auto &builder = code.builder;
  auto times = [&](Value a, Value b) -> Value { return arith::MulFOp::create(builder, a, b); };
  auto spread = [this, &builder](Value value) -> Value {
    return vector::BroadcastOp::create(builder, vectorType(), convertReal(builder, builder.getLoc(), value, part.element));
  };
  Value clip = loadArea(code, areas.norms, piece.norm), share = piece.gradient;
  if (op.isScaled())
    clip = times(clip, scalarOf(code, unscaleScalar));
  if (settingOf(op, "clip_each") > 0)
    share = times(share, loadArea(code, areas.tensors, piece.segment));
  const double bound = op.number("clip_value", 0);
  if (bound == 0) {
    Value scale = spread(times(clip, share));
    return [&builder, scale](Value g) -> Value { return arith::MulFOp::create(builder, g, scale); };
  }
  // Norms of groups have numbers from 1 on, and clip what they are of instead.
  Value own = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, piece.norm, constant(builder, 0));
  Value high = arith::SelectOp::create(builder, own, real(code, bound), real(code, std::numeric_limits<double>::infinity()));
  Value first = spread(clip), most = spread(high), least = spread(arith::NegFOp::create(builder, high)), second = spread(share);
  return [&builder, first, most, least, second](Value g) -> Value {
    g = arith::MulFOp::create(builder, g, first);
    g = arith::MaximumFOp::create(builder, arith::MinimumFOp::create(builder, g, most), least);
    return arith::MulFOp::create(builder, g, second);
  };
}

Value OptimizerKernels::widened(FunctionCode &code, LaneCode &lanes, LaneValue index, const Places &places, Value bits) {
  if (part.isSplit)
    return joinHalves(code.builder, op.getLoc(), bits, lanes.load(remainderType(op.getContext()), places.remainders, index).base);
  return widenBits(code.builder, op.getLoc(), code.tier, part.stored, bits);
}
Value OptimizerKernels::narrowed(FunctionCode &code, LaneCode &lanes, LaneValue index, const Places &places, Value value) {
  if (!part.isSplit)
    return narrowToBits(code.builder, op.getLoc(), code.tier, part.stored, value);
  auto [upper, remainder] = splitHalves(code.builder, value);
  lanes.store(remainderType(op.getContext()), places.remainders, index, LaneValue::lanes(remainder));
  return upper;
}
Value OptimizerKernels::readParameter(FunctionCode &code, LaneCode &lanes, LaneValue index, const Places &places) {
  Value p = lanes.load(part.stored, places.parameters, index).base;
  return isShortReal(part.stored) ? widened(code, lanes, index, places, p) : p;
}
void OptimizerKernels::writeParameter(FunctionCode &code, LaneCode &lanes, LaneValue index, const Places &places, Value value) {
  Value p = isShortReal(part.stored) ? narrowed(code, lanes, index, places, value) : value;
  lanes.store(part.stored, places.parameters, index, LaneValue::lanes(p));
  if (part.copies)
    lanes.store(part.copies, places.copies, index,
                LaneValue::lanes(narrowToBits(code.builder, op.getLoc(), code.tier, part.copies, value)));
}
/// Gradients and moments are read once a step, from memory, faster than hardware prefetchers fetch, which stop at each page.
void OptimizerKernels::fetchAhead(FunctionCode &code, LaneValue index, ArrayRef<Value> bases) {
  constexpr int64_t kBytesAhead = 4096;
  auto &builder = code.builder;
  Value later = add(builder, index.base, constant(builder, kBytesAhead / elementBytes(part.element)));
  for (Value base : bases)
    if (base)
      LLVM::Prefetch::create(builder, elementAddress(builder, base, part.element, later), /*rw=*/0, /*hint=*/2, /*cache=*/1);
}
ElementMoments OptimizerKernels::readMoments(LaneCode &lanes, LaneValue index, const Places &places) {
  auto read = [&](Value base) { return base ? lanes.load(part.element, base, index).base : Value(); };
  return {read(places.first), read(places.second)};
}
void OptimizerKernels::writeMoments(LaneCode &lanes, LaneValue index, const Places &places, ElementMoments moments) {
  if (moments.first)
    lanes.store(part.element, places.first, index, LaneValue::lanes(moments.first));
  if (moments.second)
    lanes.store(part.element, places.second, index, LaneValue::lanes(moments.second));
}

/// Moments, and per tile the sums of squares of parameters and directions.
void OptimizerKernels::emitMoments(FunctionCode &code) {
  Piece piece = pieceOf(code);
  Places places = placesOf(code, piece);
  auto clipped = clipping(code, piece);
  RuleCode rules = rulesOf(code, scalarOf(code, rateScalar), piece.decay);
  SquareSum parameters(code, laneCount()), directions(code, laneCount());
  readParameters(code, piece, places, [&](LaneCode &lanes, LaneValue index, Value p) {
    fetchAhead(code, index, {places.gradients, places.first, places.second});
    Value g = clipped(lanes.load(part.element, places.gradients, index).base);
    RuleCode::Step step = rules.step(p, g, readMoments(lanes, index, places));
    writeMoments(lanes, index, places, step.moments);
    parameters.add(p);
    directions.add(rules.comparedDirection(p, step.moments, step.direction));
  });
  storeArea(code, areas.parameters, piece.tile, parameters.total());
  storeArea(code, areas.directions, piece.tile, directions.total());
}

/// Of the tensor whose number is the tile's: sums over its tiles, in their order.
void OptimizerKernels::emitRatio(FunctionCode &code) {
  auto &builder = code.builder;
  Value segment = code.tile, first = wholeColumn(code, segment, 2);
  Value end = add(builder, first, ceilDivide(builder, wholeColumn(code, segment, 1), constant(builder, tileElements)));
  auto sums =
      forLoop(builder, first, end, constant(builder, 1), {real(code, 0), real(code, 0)}, [&](Value tile, ValueRange carried) {
        auto more = [&](Value sum, int64_t area) -> Value {
          return arith::AddFOp::create(builder, sum, loadArea(code, area, tile));
        };
        return SmallVector<Value>{more(carried[0], areas.parameters), more(carried[1], areas.directions)};
      });
  auto root = [&](Value sum) -> Value { return math::SqrtOp::create(builder, sum); };
  Value place = add(builder, multiply(builder, segment, constant(builder, 3)), constant(builder, 2));
  Value decay = loadAt(code, realTable, builder.getF64Type(), place);
  Value ratio = trustRatio(builder, form.trust, root(sums[0]), root(sums[1]), loadArea(code, areas.tensors, segment), decay);
  storeArea(code, areas.ratios, segment, ratio);
}

void OptimizerKernels::emitUpdate(FunctionCode &code) {
  auto &builder = code.builder;
  Piece piece = pieceOf(code);
  Places places = placesOf(code, piece);
  Value rate = arith::MulFOp::create(builder, scalarOf(code, rateScalar), piece.rate);
  if (hasRatios())
    rate = arith::MulFOp::create(builder, rate, loadArea(code, areas.ratios, piece.segment));
  RuleCode rules = rulesOf(code, rate, piece.decay);
  std::function<Value(Value)> clipped;
  if (!hasRatios())
    clipped = clipping(code, piece);
  updateParameters(code, piece, places, [&](LaneCode &lanes, LaneValue index, Value p) {
    if (hasRatios())
      return rules.moved(p, rules.direction(p, readMoments(lanes, index, places)));
    fetchAhead(code, index, {places.gradients, places.first, places.second});
    Value g = clipped(lanes.load(part.element, places.gradients, index).base);
    RuleCode::Step step = rules.step(p, g, readMoments(lanes, index, places));
    writeMoments(lanes, index, places, step.moments);
    return rules.moved(p, step.direction);
  });
}

} // namespace tenon::cpu
