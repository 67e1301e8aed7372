// tenon.optimize, first part: the mean of several batches, norms, factors of clipping, the rate and the loss scale of the step.
#include "lowering/artifact/Abi.h"
#include "lowering/code/LearningRate.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/OptimizerKernels.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

/// Sums of squares in f64, one per tile; before that the mean of the gradients of several batches.
void OptimizerKernels::emitNorm(FunctionCode &code) {
  Piece piece = pieceOf(code);
  if (op.accumulate() > 1)
    emitAccumulation(code, piece);
  else
    emitSquares(code, piece, {});
}

/// The sum lies in an arena of its own; its mean replaces the gradients of the last batch.
void OptimizerKernels::emitAccumulation(FunctionCode &code, const Piece &piece) {
  auto &builder = code.builder;
  Value batch = remainder(builder, code.field(abi::Step), batchesPerUpdate(code));
  Value sums = arena(code, TN_ARENA_SUMS, piece), gradients = arena(code, TN_ARENA_GRADS, piece);
  auto spread = [&](double value) -> Value {
    return arith::ConstantOp::create(builder, DenseElementsAttr::get(vectorType(), builder.getFloatAttr(part.element, value)));
  };
  auto branch = scf::IfOp::create(builder, TypeRange(), isLast(code), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitSquares(code, piece, [&](LaneCode &lanes, LaneValue index, Value g) -> Value {
    Value mean = arith::MulFOp::create(builder, arith::AddFOp::create(builder, lanes.load(part.element, sums, index).base, g),
                                       spread(1.0 / double(op.accumulate())));
    lanes.store(part.element, gradients, index, LaneValue::lanes(mean));
    return mean;
  });
  builder.setInsertionPointToStart(branch.elseBlock());
  Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, batch, constant(builder, 0));
  LaneCode lanes(code, {}, laneCount());
  lanes.forLanes(constant(builder, 0), piece.count, [&](LaneValue index) {
    Value before = arith::SelectOp::create(builder, isFirst, spread(0), lanes.load(part.element, sums, index).base);
    Value sum = arith::AddFOp::create(builder, before, lanes.load(part.element, gradients, index).base);
    lanes.store(part.element, sums, index, LaneValue::lanes(sum));
  });
}

/// `change` replaces a vector of gradients before it counts; null: as they are.
void OptimizerKernels::emitSquares(FunctionCode &code, const Piece &piece,
                                   llvm::function_ref<Value(LaneCode &, LaneValue, Value)> change) {
  Value gradients = arena(code, TN_ARENA_GRADS, piece);
  LaneCode lanes(code, {}, laneCount());
  SquareSum sum(code, laneCount());
  lanes.forLanes(constant(code.builder, 0), piece.count, [&](LaneValue index) {
    fetchAhead(code, index, gradients);
    Value g = lanes.load(part.element, gradients, index).base; // lanes that do not exist are 0
    sum.add(change ? change(lanes, index, g) : g);
  });
  storeArea(code, areas.squares, piece.tile, sum.total());
}

SquareSum::SquareSum(FunctionCode &code, int64_t lanes)
    : builder(code.builder), wide(VectorType::get({lanes}, code.builder.getF64Type())) {
  // The accumulator lives in memory of this function; LLVM keeps it in registers.
  memory = LLVM::AllocaOp::create(builder, pointer(builder), wide, constant(builder, 1), 64);
  restart();
}
void SquareSum::restart() {
  LLVM::StoreOp::create(builder, arith::ConstantOp::create(builder, builder.getZeroAttr(wide)), memory, 64);
}
void SquareSum::add(Value x) {
  if (x.getType() != wide)
    x = arith::ExtFOp::create(builder, wide, x);
  Value sum = LLVM::LoadOp::create(builder, wide, memory, 64);
  LLVM::StoreOp::create(builder, arith::AddFOp::create(builder, sum, arith::MulFOp::create(builder, x, x)), memory, 64);
}
Value SquareSum::total() { return combineLanes(builder, Reduction::sum, LLVM::LoadOp::create(builder, wide, memory, 64)); }

/// One thread: the norms from the partial sums in their order, the factors of clipping, the rate; results and scalars for the
/// pass.
void OptimizerKernels::addScalars() {
  Kernel kernel{"step_scalars", op.getLoc(), {}, {}, {}, {partials}, 0, {}, {}};
  for (Value result : op.getResults())
    if (sequence.bufferOf(result))
      kernel.writes.push_back(result);
  kernel.body = [this](FunctionCode &code) { emitScalars(code); };
  sequence.add(kernel);
}

void OptimizerKernels::emitScalars(FunctionCode &code) {
  auto &builder = code.builder;
  Type f64 = builder.getF64Type();
  Value sum =
      forLoop(builder, constant(builder, 0), constant(builder, tileCount()), constant(builder, 1), real(code, 0),
              [&](Value tile, ValueRange carried) {
                return SmallVector<Value>{arith::AddFOp::create(builder, carried[0], loadArea(code, areas.squares, tile))};
              })[0];
  LossScale scale;
  if (op.isScaled())
    scale = readLossScale(code);
  Value norm = scale.unscaled(builder, math::SqrtOp::create(builder, sum));
  if (op.accumulate() > 1)
    norm = arith::SelectOp::create(builder, isLast(code), norm, real(code, 0));
  emitClips(code, norm, scale);
  if (table.perTensor)
    emitOwnClips(code, scale);
  Value step = arith::UIToFPOp::create(builder, f64, divide(builder, code.field(abi::Step), batchesPerUpdate(code)));
  const ScheduleNumbers numbers{step, [&] { return code.field(abi::TotalSteps); }, libraryOf(code)};
  Value rate = arith::MulFOp::create(builder, real(code, settingOf(op, "lr")), scheduleFactor(builder, op, numbers));
  auto put = [&](int64_t offset, Value value) {
    LLVM::StoreOp::create(builder, value, byteAddress(builder, code.context, constant(builder, offset)), 8);
  };
  put(normScalar, norm);
  put(rateScalar, rate);
  if (op.isScaled()) {
    put(unscaleScalar, scale.inverse);
    emitNextScale(builder, op, scale, isFinite(builder, norm), isLast(code));
  }
  if (sequence.bufferOf(op.getNorm()))
    storeResult(code, op.getNorm(), norm);
  if (sequence.bufferOf(op.getRate()))
    storeResult(code, op.getRate(), rate);
}

/// `count` sums at `area`: each tile's sum of squares goes to that of its segment, in the order of the tiles.
void OptimizerKernels::emitSums(FunctionCode &code, int64_t area, int64_t count, llvm::function_ref<Value(Value)> placeOf) {
  auto &builder = code.builder;
  forLoop(builder, constant(builder, 0), constant(builder, count), [&](Value i) { storeArea(code, area, i, real(code, 0)); });
  forLoop(builder, constant(builder, 0), constant(builder, tileCount()), [&](Value tile) {
    Value place = placeOf(segmentOf(code, tile));
    storeArea(code, area, place,
              arith::AddFOp::create(builder, loadArea(code, area, place), loadArea(code, areas.squares, tile)));
  });
}

/// min(1, bound / (norm + epsilon)), 1 for a bound of 0. NaN stays NaN.
Value OptimizerKernels::clipFactor(FunctionCode &code, Value norm, Value bound, double epsilon) {
  auto &builder = code.builder;
  Value one = real(code, 1);
  Value ratio = arith::DivFOp::create(builder, bound, arith::AddFOp::create(builder, norm, real(code, epsilon)));
  Value large = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, ratio, one);
  Value none = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, bound, real(code, 0));
  return arith::SelectOp::create(builder, arith::OrIOp::create(builder, large, none), one, ratio);
}

/// The factor of each norm.
void OptimizerKernels::emitClips(FunctionCode &code, Value all, const LossScale &scale) {
  auto &builder = code.builder;
  const int64_t count = int64_t(table.bounds.size());
  if (count > 1) // each is the norm of its own parameters
    emitSums(code, areas.norms, count, [&](Value segment) { return wholeColumn(code, segment, 3); });
  forLoop(builder, constant(builder, 0), constant(builder, count), [&](Value i) {
    Value norm = all;
    if (count > 1)
      norm = scale.unscaled(builder, math::SqrtOp::create(builder, loadArea(code, areas.norms, i)));
    storeArea(code, areas.norms, i, clipFactor(code, norm, loadAt(code, boundTable, builder.getF64Type(), i), clipEpsilon(op)));
  });
}

/// Per tensor: sums of squares for its ratio, or the factor of a rule that clips each tensor, behind all other factors.
void OptimizerKernels::emitOwnClips(FunctionCode &code, const LossScale &scale) {
  auto &builder = code.builder;
  emitSums(code, areas.tensors, segmentCount(), [](Value segment) { return segment; });
  const double bound = settingOf(op, "clip_each");
  if (bound == 0)
    return;
  forLoop(builder, constant(builder, 0), constant(builder, segmentCount()), [&](Value segment) {
    Value norm = scale.unscaled(builder, math::SqrtOp::create(builder, loadArea(code, areas.tensors, segment)));
    Value clip = loadArea(code, areas.norms, wholeColumn(code, segment, 3));
    Value place = add(builder, multiply(builder, segment, constant(builder, 3)), constant(builder, 1));
    Value factor = arith::MulFOp::create(builder, clip, loadAt(code, realTable, builder.getF64Type(), place));
    norm = arith::MulFOp::create(builder, norm, factor);
    storeArea(code, areas.tensors, segment, clipFactor(code, norm, real(code, bound), kClipEpsilon));
  });
}

void OptimizerKernels::storeResult(FunctionCode &code, Value tensor, Value value) {
  Type to = cast<RankedTensorType>(tensor.getType()).getElementType();
  LLVM::StoreOp::create(code.builder, convertReal(code.builder, code.builder.getLoc(), value, to), code.pointer(tensor),
                        elementBytes(to));
}

} // namespace tenon::cpu
