// tenon.optimize, first part: tables, the mean of several batches, norms, factors of clipping.
#include "lowering/code/LearningRate.h"
#include "lowering/gpu/OptimizerKernels.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {

LogicalResult OptimizerKernels::generate() {
  auto tabulated = tabulate(op, sequence.allParameters());
  if (failed(tabulated))
    return failure();
  table = std::move(*tabulated);
  collectTables();
  auto take = [&](int64_t count) { return std::exchange(areas.count, areas.count + count); };
  areas.squares = take(tileCount());
  areas.clips = take(int64_t(table.bounds.size()));
  areas.norm = take(1);
  areas.inverse = take(1);
  areas.tensors = take(table.perTensor ? segmentCount() : 0);
  const bool comparesTensors = hasRatios() || isFactored();
  areas.parameters = take(comparesTensors ? tileCount() : 0);
  areas.directions = take(comparesTensors ? tileCount() : 0);
  areas.ratios = take(comparesTensors ? segmentCount() : 0);
  areas.scales = take(isFactored() ? segmentCount() : 0);
  areas.rowMeans = take(isFactored() ? segmentCount() : 0);
  areas.columns = take(isFactored() ? countColumnSums() : 0);
  area = sequence.temporary(getAffineConstantExpr(8 * areas.count, op.getContext()));
  if (op.accumulate() > 1)
    forParts("accumulate", [&](Launch &launch) { addAccumulation(launch); });
  forParts("gradient_norm", [&](Launch &launch) { addNorm(launch); });
  addScalars();
  if (isFactored())
    addFactoredUpdate();
  else
    addUpdate();
  return success();
}

/// Per tile its segment; per segment offset, elements, first tile, norm, the means of squares and the three factors.
void OptimizerKernels::collectTables() {
  int64_t sums = 0;
  for (const OptimizerPart &each : table.parts)
    for (size_t i = each.first; i < each.first + each.count; ++i) {
      const OptimizerSegment &segment = table.segments[i];
      firstTiles.push_back(tileCount());
      const int64_t bytes = elementBytes(each.element);
      whole.append({segment.offset / bytes, segment.count, tileCount(), segment.norm});
      if (isFactored()) {
        const OptimizerSegment::Means &means = segment.means;
        whole.append({means.rows / bytes, means.columns / bytes, means.rowCount, means.columnCount, sums});
        sums += columnSumsOf(segment);
      }
      factors.append({segment.rate, segment.gradient, segment.decay});
      tileSegments.append(size_t(llvm::divideCeil(segment.count, kTileElements)), int32_t(i));
    }
}

Value OptimizerKernels::segmentOf(KernelCode &code, Value tile) {
  Type i32 = code.builder.getI32Type();
  Value segment = entryOf<int32_t>(code, "optimize_tiles", i32, tileSegments, tile);
  return arith::ExtUIOp::create(code.builder, code.builder.getI64Type(), segment);
}

Value OptimizerKernels::wholeOf(KernelCode &code, Value segment, int64_t column) {
  auto &builder = code.builder;
  return entryOf<int64_t>(
      code, "optimize_places", builder.getI64Type(), whole,
      add(builder, multiply(builder, segment, constant(builder, isFactored() ? 9 : 4)), constant(builder, column)));
}

Value OptimizerKernels::factorOf(KernelCode &code, Value segment, int64_t column) {
  auto &builder = code.builder;
  return entryOf<double>(code, "optimize_factors", builder.getF64Type(), factors,
                         add(builder, multiply(builder, segment, constant(builder, 3)), constant(builder, column)));
}
OptimizerKernels::Piece OptimizerKernels::pieceOf(KernelCode &code) {
  auto &builder = code.builder;
  const int64_t before = firstTile(part.first);
  Value tile = before > 0 ? add(builder, code.block(), constant(builder, before)) : code.block();
  Value segment = segmentOf(code, tile);
  Value first = multiply(builder, subtract(builder, tile, wholeOf(code, segment, 2)), constant(builder, kTileElements));
  Value shrunk;
  if (part.shrunk > 1 && part.stored == part.element)
    shrunk =
        subtract(builder, wholeOf(code, segment, 0), divide(builder, wholeOf(code, segment, 0), constant(builder, part.shrunk)));
  return {add(builder, wholeOf(code, segment, 0), first),
          minimum(builder, constant(builder, kTileElements), subtract(builder, wholeOf(code, segment, 1), first)),
          factorOf(code, segment, 0),
          factorOf(code, segment, 1),
          factorOf(code, segment, 2),
          wholeOf(code, segment, 3),
          segment,
          tile,
          shrunk};
}

Value OptimizerKernels::real(KernelCode &code, double value) {
  return arith::ConstantOp::create(code.builder, code.builder.getF64FloatAttr(value));
}

Value OptimizerKernels::areaAt(KernelCode &code, int64_t area, Value index) {
  auto &builder = code.builder;
  return elementAddress(builder, code.temporary(0), builder.getF64Type(), add(builder, index, constant(builder, area)));
}
Value OptimizerKernels::loadArea(KernelCode &code, int64_t area, Value index) {
  return LLVM::LoadOp::create(code.builder, code.builder.getF64Type(), areaAt(code, area, index), 8);
}
void OptimizerKernels::storeArea(KernelCode &code, int64_t area, Value index, Value value) {
  LLVM::StoreOp::create(code.builder, value, areaAt(code, area, index), 8);
}

Value OptimizerKernels::batchOf(EntryCode &code) {
  return remainder(code.builder, code.field(abi::Step), constant(code.builder, op.accumulate()));
}

Value OptimizerKernels::isBatch(EntryCode &code, int64_t batch) {
  auto &builder = code.builder;
  Value is = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, batchOf(code), constant(builder, batch));
  return arith::ExtUIOp::create(builder, builder.getI64Type(), is);
}
std::function<Value(EntryCode &)> OptimizerKernels::blocks(int64_t count, bool onlyLast) {
  return [this, count, onlyLast](EntryCode &code) -> Value {
    Value all = constant(code.builder, count);
    return onlyLast && op.accumulate() > 1 ? multiply(code.builder, all, isBatch(code, op.accumulate() - 1)) : all;
  };
}

Launch::Number OptimizerKernels::arena(TnArena number) {
  return {LLVM::LLVMPointerType::get(op.getContext(), kGlobal), [number](EntryCode &code) { return code.arena(number); }};
}

Launch OptimizerKernels::launchOf(StringRef name) {
  return {name.str(), op.getLoc(), {}, {}, {}, {area}, {}, blocks(tileCount(), true), kThreads, false, {}};
}

void OptimizerKernels::forParts(StringRef name, llvm::function_ref<void(Launch &)> add) {
  for (const OptimizerPart &each : table.parts) {
    part = each;
    Launch launch = launchOf(table.parts.size() > 1 ? (name + "_" + elementModel(part.stored).name()).str() : name.str());
    launch.blocks = blocks(tileCountOf(part), true);
    add(launch);
  }
}

/// The sum lies in an arena of its own; behind the last batch its mean replaces the gradients.
void OptimizerKernels::addAccumulation(Launch &launch) {
  launch.blocks = blocks(tileCountOf(part), false);
  Type i64 = IntegerType::get(op.getContext(), 64);
  launch.numbers = {arena(TN_ARENA_GRADS),
                    arena(TN_ARENA_SUMS),
                    {i64, [this](EntryCode &code) { return isBatch(code, 0); }},
                    {i64, [this](EntryCode &code) { return isBatch(code, op.accumulate() - 1); }}};
  launch.body = [this](KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, {});
    Piece piece = pieceOf(code);
    auto isSet = [&](unsigned number) -> Value {
      return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, code.number(number), constant(builder, 0));
    };
    Value isFirst = isSet(2), isLast = isSet(3);
    code.overBlock(piece.count, [&](Value number) {
      Value at = add(builder, piece.offset, number);
      auto exact = [&](double value) -> Value {
        return arith::ConstantOp::create(builder, builder.getFloatAttr(part.element, value));
      };
      Value before = arith::SelectOp::create(builder, isFirst, exact(0), scalars.load(part.element, code.number(1), at));
      Value sum = arith::AddFOp::create(builder, before, scalars.load(part.element, code.number(0), at));
      Value mean = arith::MulFOp::create(builder, sum, exact(1.0 / double(op.accumulate())));
      Value target = arith::SelectOp::create(builder, isLast, code.number(0), code.number(1));
      scalars.store(part.element, target, at, arith::SelectOp::create(builder, isLast, mean, sum));
    });
  };
  sequence.add(launch);
}

/// Sums of squares in f64, one per tile.
void OptimizerKernels::addNorm(Launch &launch) {
  launch.numbers = {arena(TN_ARENA_GRADS)};
  launch.body = [this](KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, {});
    Piece piece = pieceOf(code);
    auto loop = scf::ForOp::create(builder, code.thread(), piece.count, constant(builder, kThreads), real(code, 0));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value g = scalars.load(part.element, code.number(0), add(builder, piece.offset, loop.getInductionVar()));
      g = convertReal(builder, builder.getLoc(), g, loop.getRegionIterArgs()[0].getType());
      Value square = arith::MulFOp::create(builder, g, g);
      scf::YieldOp::create(builder, ValueRange{arith::AddFOp::create(builder, loop.getRegionIterArgs()[0], square)});
    }
    Value sum = code.combineBlock(Reduction::sum, loop.getResult(0), 1, /*onlyFirst=*/true);
    ifFirst(code, [&] { storeArea(code, areas.squares, piece.tile, sum); });
  };
  sequence.add(launch);
}

void OptimizerKernels::ifFirst(KernelCode &code, llvm::function_ref<void()> body) {
  auto &builder = code.builder;
  code.ifThen(arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, code.thread(), constant(builder, 0)), body);
}

Value OptimizerKernels::rateOf(EntryCode &code) {
  auto &builder = code.builder;
  Value updates = divide(builder, code.field(abi::Step), constant(builder, op.accumulate()));
  const ScheduleNumbers numbers{arith::UIToFPOp::create(builder, builder.getF64Type(), updates),
                                [&] { return code.field(abi::TotalSteps); }, libraryOf(code)};
  Value lr = arith::ConstantOp::create(builder, builder.getF64FloatAttr(settingOf(op, "lr")));
  return arith::MulFOp::create(builder, lr, scheduleFactor(builder, op, numbers));
}

/// One block: the norms from the partial sums in a fixed order, the factors of clipping; the results.
void OptimizerKernels::addScalars() {
  Launch launch = launchOf("step_scalars");
  launch.blocks = nullptr;
  Type i64 = IntegerType::get(op.getContext(), 64), f64 = Float64Type::get(op.getContext());
  launch.numbers = {{f64, [this](EntryCode &code) { return rateOf(code); }},
                    {i64, [this](EntryCode &code) { return isBatch(code, op.accumulate() - 1); }}};
  if (op.isScaled())
    launch.numbers.push_back(arena(TN_ARENA_LOSS_SCALE));
  for (Value result : op.getResults())
    if (sequence.bufferOf(result))
      launch.writes.push_back(result);
  launch.body = [this](KernelCode &code) { emitScalars(code); };
  sequence.add(launch);
}

void OptimizerKernels::emitScalars(KernelCode &code) {
  auto &builder = code.builder;
  const int64_t count = int64_t(table.bounds.size());
  LossScale scale; // read by all threads before the barriers of the sum, written behind them
  if (op.isScaled())
    scale = readLossScale(builder, code.number(2));
  Value mine = sumOfTiles(code, code.thread(), kThreads, {});
  Value norm = scale.unscaled(
      builder, math::SqrtOp::create(builder, code.combineBlock(Reduction::sum, mine, 1, /*onlyFirst=*/count == 1)));
  Value last = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, code.number(1), constant(builder, 0));
  if (op.accumulate() > 1)
    norm = arith::SelectOp::create(builder, last, norm, real(code, 0));
  code.overBlock(constant(builder, count), [&](Value i) {
    Value own = norm;
    if (count > 1) // each is the norm of its own parameters
      own = scale.unscaled(builder, math::SqrtOp::create(builder, sumOfTiles(code, constant(builder, 0), 1, i)));
    Value bound = entryOf<double>(code, "optimize_bounds", builder.getF64Type(), table.bounds, i);
    storeArea(code, areas.clips, i, clipFactor(code, own, bound, clipEpsilon(op)));
  });
  if (table.perTensor) {
    code.barrier(); // factors are there
    emitOwnClips(code, scale);
  }
  ifFirst(code, [&] {
    storeArea(code, areas.norm, constant(builder, 0), norm);
    if (op.isScaled()) {
      storeArea(code, areas.inverse, constant(builder, 0), scale.inverse);
      emitNextScale(builder, op, scale, isFinite(builder, norm), last);
    }
    for (auto [result, value] : {std::pair(op.getNorm(), norm), std::pair(op.getRate(), code.number(0))})
      if (sequence.bufferOf(result)) {
        Type to = cast<RankedTensorType>(result.getType()).getElementType();
        LLVM::StoreOp::create(builder, convertReal(builder, builder.getLoc(), value, to), code.pointer(result),
                              unsigned(elementBytes(to)));
      }
  });
}

/// Per tensor: the sum of squares for its ratio, or the factor of a rule that clips each tensor, behind all other factors.
void OptimizerKernels::emitOwnClips(KernelCode &code, const LossScale &scale) {
  auto &builder = code.builder;
  const double bound = settingOf(op, "clip_each");
  code.overBlock(constant(builder, segmentCount()), [&](Value segment) {
    Value number = sumOfSegment(code, areas.squares, segment);
    if (bound > 0) {
      Value norm = scale.unscaled(builder, math::SqrtOp::create(builder, number));
      Value clip = loadArea(code, areas.clips, wholeOf(code, segment, 3));
      norm = arith::MulFOp::create(builder, norm, arith::MulFOp::create(builder, clip, factorOf(code, segment, 1)));
      number = clipFactor(code, norm, real(code, bound), kClipEpsilon);
    }
    storeArea(code, areas.tensors, segment, number);
  });
}

/// Of the tiles from `first` on in steps of `step`; with `norm`, of those whose norm it is.
Value OptimizerKernels::sumOfTiles(KernelCode &code, Value first, int64_t step, Value norm) {
  auto &builder = code.builder;
  auto loop = scf::ForOp::create(builder, first, constant(builder, tileCount()), constant(builder, step), real(code, 0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar(), square = loadArea(code, areas.squares, tile);
  if (norm) {
    Value own = wholeOf(code, segmentOf(code, tile), 3);
    square = arith::SelectOp::create(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, own, norm), square,
                                     real(code, 0));
  }
  scf::YieldOp::create(builder, ValueRange{arith::AddFOp::create(builder, loop.getRegionIterArgs()[0], square)});
  return loop.getResult(0);
}

/// Of a segment's tiles, in their order.
Value OptimizerKernels::sumOfSegment(KernelCode &code, int64_t area, Value segment) {
  auto &builder = code.builder;
  Value first = wholeOf(code, segment, 2),
        tiles = ceilDivide(builder, wholeOf(code, segment, 1), constant(builder, kTileElements));
  auto loop = scf::ForOp::create(builder, first, add(builder, first, tiles), constant(builder, 1), real(code, 0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value more = loadArea(code, area, loop.getInductionVar());
  scf::YieldOp::create(builder, ValueRange{arith::AddFOp::create(builder, loop.getRegionIterArgs()[0], more)});
  return loop.getResult(0);
}

/// min(1, bound / (norm + epsilon)), 1 for a bound of 0. NaN stays NaN.
Value OptimizerKernels::clipFactor(KernelCode &code, Value norm, Value bound, double epsilon) {
  auto &builder = code.builder;
  Value one = real(code, 1);
  Value ratio = arith::DivFOp::create(builder, bound, arith::AddFOp::create(builder, norm, real(code, epsilon)));
  Value large = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, ratio, one);
  Value none = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, bound, real(code, 0));
  return arith::SelectOp::create(builder, arith::OrIOp::create(builder, large, none), one, ratio);
}

LogicalResult generateOptimize(OptimizeOp op, LaunchSequence &sequence) { return OptimizerKernels(op, sequence).generate(); }

} // namespace tenon::gpu
