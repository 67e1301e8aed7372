// tenon.optimize, second part: moments and parameters. A rule with a ratio per tensor takes two passes, since the norms of what
// the first computes are needed in the second, which computes the directions again.
#include "lowering/code/Halves.h"
#include "lowering/gpu/OptimizerKernels.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;

namespace tenon::gpu {

void OptimizerKernels::addUpdate() {
  if (hasRatios()) {
    forParts("moments", [&](Launch &launch) { addStep(launch, &OptimizerKernels::emitMoments); });
    addRatios();
  }
  forParts("update", [&](Launch &launch) { addStep(launch, &OptimizerKernels::emitUpdate); });
}

/// A step whose norm is not finite leaves parameters and moments as they are.
void OptimizerKernels::addStep(Launch &launch, void (OptimizerKernels::*emit)(KernelCode &)) {
  Type f64 = Float64Type::get(op.getContext());
  const int moments = momentCount(op);
  launch.numbers = {arena(TN_ARENA_PARAMS),
                    arena(TN_ARENA_GRADS),
                    arena(moments >= 1 ? TN_ARENA_MOMENT1 : TN_ARENA_PARAMS),
                    arena(moments >= 2 ? TN_ARENA_MOMENT2 : TN_ARENA_PARAMS),
                    {f64, [this](EntryCode &code) { return rateOf(code); }}};
  for (Value RuleNumbers::*part : {&RuleNumbers::updates, &RuleNumbers::fading1, &RuleNumbers::fading2})
    launch.numbers.push_back({f64, [this, part](EntryCode &code) -> Value {
                                RuleNumbers numbers = ruleNumbers(code.builder, op, code.field(abi::Step), libraryOf(code));
                                return numbers.*part ? numbers.*part : numbers.updates; // what the rule does not read
                              }});
  if (part.isSplit || part.copies) // number 8
    launch.numbers.push_back(arena(part.isSplit ? TN_ARENA_REMAINDERS : TN_ARENA_COPIES));
  launch.body = [this, emit](KernelCode &code) {
    code.ifThen(isFinite(code.builder, loadArea(code, areas.norm)), [&] { (this->*emit)(code); });
  };
  sequence.add(launch);
}

RuleCode OptimizerKernels::rulesOf(KernelCode &code, Value rate, Value decay) {
  return RuleCode(code.builder, op, part.element, {code.number(5), code.number(6), code.number(7)}, rate, decay);
}

ElementMoments OptimizerKernels::readMoments(KernelCode &code, ScalarCode &scalars, Value at) {
  auto load = [&](unsigned arena) { return scalars.load(part.element, code.number(arena), at); };
  const int moments = momentCount(op);
  return {moments >= 1 ? load(2) : Value(), moments >= 2 ? load(3) : Value()};
}
void OptimizerKernels::writeMoments(KernelCode &code, ScalarCode &scalars, Value at, ElementMoments moments) {
  if (moments.first)
    scalars.store(part.element, code.number(2), at, moments.first);
  if (moments.second)
    scalars.store(part.element, code.number(3), at, moments.second);
}

/// Moments, and per tile the sums of squares of parameters and directions.
void OptimizerKernels::emitMoments(KernelCode &code) {
  auto &builder = code.builder;
  ScalarCode scalars(code, {});
  Piece piece = pieceOf(code);
  RuleCode rules = rulesOf(code, code.number(4), piece.decay);
  std::function<Value(Value)> clipped = clipping(code, piece);
  auto loop = scf::ForOp::create(builder, code.thread(), piece.count, constant(builder, kThreads),
                                 ValueRange{real(code, 0), real(code, 0)});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value at = add(builder, piece.offset, loop.getInductionVar()), p = readParameter(code, scalars, piece, at);
    RuleCode::Step step = rules.step(p, clipped(scalars.load(part.element, code.number(1), at)), readMoments(code, scalars, at));
    writeMoments(code, scalars, at, step.moments);
    auto more = [&](Value sum, Value x) -> Value {
      x = convertReal(builder, builder.getLoc(), x, sum.getType());
      return arith::AddFOp::create(builder, sum, arith::MulFOp::create(builder, x, x));
    };
    Value direction = rules.comparedDirection(p, step.moments, step.direction);
    scf::YieldOp::create(builder, ValueRange{more(loop.getRegionIterArgs()[0], p), more(loop.getRegionIterArgs()[1], direction)});
  }
  Value parameters = code.combineBlock(Reduction::sum, loop.getResult(0), 1, /*onlyFirst=*/true);
  Value directions = code.combineBlock(Reduction::sum, loop.getResult(1), 1, /*onlyFirst=*/true);
  ifFirst(code, [&] {
    storeArea(code, areas.parameters, piece.tile, parameters);
    storeArea(code, areas.directions, piece.tile, directions);
  });
}

/// A thread per tensor.
void OptimizerKernels::addRatios() {
  Launch launch = launchOf("ratios");
  launch.blocks = blocks(llvm::divideCeil(segmentCount(), kThreads), true);
  launch.body = [this](KernelCode &code) {
    auto &builder = code.builder;
    code.overGrid(constant(builder, segmentCount()), [&](Value segment) {
      auto norm = [&](int64_t area) -> Value { return math::SqrtOp::create(builder, sumOfSegment(code, area, segment)); };
      Value ratio = trustRatio(builder, formOf(op).trust, norm(areas.parameters), norm(areas.directions),
                               loadArea(code, areas.tensors, segment), factorOf(code, segment, 2));
      storeArea(code, areas.ratios, segment, ratio);
    });
  };
  // Sums of tiles are there where the norm is finite.
  launch.body = [this, body = launch.body](KernelCode &code) {
    code.ifThen(isFinite(code.builder, loadArea(code, areas.norm)), [&] { body(code); });
  };
  sequence.add(launch);
}

void OptimizerKernels::emitUpdate(KernelCode &code) {
  auto &builder = code.builder;
  ScalarCode scalars(code, {});
  Piece piece = pieceOf(code);
  Value rate = arith::MulFOp::create(builder, code.number(4), piece.rate);
  if (hasRatios())
    rate = arith::MulFOp::create(builder, rate, loadArea(code, areas.ratios, piece.segment));
  RuleCode rules = rulesOf(code, rate, piece.decay);
  std::function<Value(Value)> clipped;
  if (!hasRatios())
    clipped = clipping(code, piece);
  code.overBlock(piece.count, [&](Value number) {
    Value at = add(builder, piece.offset, number), p = readParameter(code, scalars, piece, at);
    ElementMoments before = readMoments(code, scalars, at);
    Value direction;
    if (hasRatios()) {
      direction = rules.direction(p, before);
    } else {
      RuleCode::Step step = rules.step(p, clipped(scalars.load(part.element, code.number(1), at)), before);
      writeMoments(code, scalars, at, step.moments);
      direction = step.direction;
    }
    writeParameter(code, scalars, piece, at, rules.moved(p, direction));
  });
}

Value OptimizerKernels::readParameter(KernelCode &code, ScalarCode &scalars, const Piece &piece, Value at) {
  auto &builder = code.builder;
  Value p = scalars.load(part.stored, code.number(0), piece.shrunk ? subtract(builder, at, piece.shrunk) : at);
  if (part.isSplit) {
    const Type rest = remainderType(builder.getContext());
    return joinHalves(builder, builder.getLoc(), arith::BitcastOp::create(builder, rest, p),
                      scalars.load(rest, code.number(8), at));
  }
  return part.stored == part.element ? p : arith::ExtFOp::create(builder, part.element, p).getResult();
}
void OptimizerKernels::writeParameter(KernelCode &code, ScalarCode &scalars, const Piece &piece, Value at, Value value) {
  auto &builder = code.builder;
  auto rounded = [&](Type to) -> Value { return arith::TruncFOp::create(builder, to, value); };
  if (part.isSplit) {
    auto [upper, remainder] = splitHalves(builder, value);
    scalars.store(part.stored, code.number(0), at, arith::BitcastOp::create(builder, part.stored, upper));
    scalars.store(remainder.getType(), code.number(8), at, remainder);
    return;
  }
  scalars.store(part.stored, code.number(0), piece.shrunk ? subtract(builder, at, piece.shrunk) : at,
                part.stored == part.element ? value : rounded(part.stored));
  if (part.copies)
    scalars.store(part.copies, code.number(8), at, rounded(part.copies));
}

std::function<Value(Value)> OptimizerKernels::clipping(KernelCode &code, const Piece &piece) {
  auto &builder = code.builder;
  auto rounded = [this, &builder](Value value) -> Value { return convertReal(builder, builder.getLoc(), value, part.element); };
  Value clip = loadArea(code, areas.clips, piece.norm);
  if (op.isScaled())
    clip = arith::MulFOp::create(builder, clip, loadArea(code, areas.inverse));
  Value share = piece.gradient;
  if (settingOf(op, "clip_each") > 0)
    share = arith::MulFOp::create(builder, share, loadArea(code, areas.tensors, piece.segment));
  const double bound = op.number("clip_value", 0);
  if (bound == 0) {
    Value scale = rounded(arith::MulFOp::create(builder, clip, share));
    return [&builder, scale](Value g) -> Value { return arith::MulFOp::create(builder, g, scale); };
  }
  // Norms of groups have numbers from 1 on, and clip what they are of instead.
  Value own = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, piece.norm, constant(builder, 0));
  Value high = arith::SelectOp::create(builder, own, real(code, bound), real(code, std::numeric_limits<double>::infinity()));
  Value first = rounded(clip), most = rounded(high), least = rounded(arith::NegFOp::create(builder, high)),
        second = rounded(share);
  return [&builder, first, most, least, second](Value g) -> Value {
    g = arith::MulFOp::create(builder, g, first);
    g = arith::MaximumFOp::create(builder, arith::MinimumFOp::create(builder, g, most), least);
    return arith::MulFOp::create(builder, g, second);
  };
}

} // namespace tenon::gpu
