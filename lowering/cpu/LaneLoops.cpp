// each and fold: loops, the rest of a row under a mask, reductions in a fixed order.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::cpu {

Value combineLanes(ImplicitLocOpBuilder &builder, Reduction kind, Value vector) {
  int64_t count = cast<VectorType>(vector.getType()).getDimSize(0);
  while (count > 1) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < count / 2; ++lane)
      low.push_back(lane), high.push_back(lane + count / 2);
    Value first = vector::ShuffleOp::create(builder, vector, vector, low);
    Value second = vector::ShuffleOp::create(builder, vector, vector, high);
    vector = combine(builder, kind, first, second);
    count /= 2;
  }
  return vector::ExtractOp::create(builder, vector, ArrayRef<int64_t>{0});
}

/// Lane i exists when i < count.
static Value maskOf(ImplicitLocOpBuilder &builder, int64_t lanes, Value count) {
  auto type = VectorType::get({lanes}, builder.getI32Type());
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(int32_t(lane));
  Value ramp = arith::ConstantOp::create(builder, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  Value limit = vector::BroadcastOp::create(builder, type, builder.createOrFold<arith::TruncIOp>(builder.getI32Type(), count));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, ramp, limit);
}

void LaneCode::forLanes(Value low, Value high, llvm::function_ref<void(LaneValue)> body) {
  Value one = constant(builder, 1), step = constant(builder, laneCount);
  Value whole = subtract(builder, high, remainder(builder, subtract(builder, high, low), step));
  const bool wasVectorised = vectorised;
  vectorised = true;
  auto wholeCount = asConstant(whole), lowNumber = asConstant(low), highNumber = asConstant(high);
  if (grouped && laneCount == 16 && (!highNumber || !lowNumber || *highNumber - *lowNumber >= 128)) {
    // 128 elements share eight random numbers per lane; what is left over goes one vector at a time.
    Value group = constant(builder, 128);
    Value groups = subtract(builder, high, remainder(builder, subtract(builder, high, low), group));
    forLoop(builder, low, groups, group, {}, [&](Value index, ValueRange) -> SmallVector<Value> {
      randomWords.clear();
      for (int64_t i = 0; i < 8; ++i)
        body(LaneValue::affine(add(builder, index, constant(builder, 16 * i)), one).knowing(128, 16 * i));
      randomWords.clear();
      return {};
    });
    low = groups;
    lowNumber = asConstant(groups);
  }
  if (!wholeCount || !lowNumber || *wholeCount > *lowNumber)
    forLoop(builder, low, whole, step, {}, [&](Value index, ValueRange) -> SmallVector<Value> {
      body(LaneValue::affine(index, one, laneCount));
      return {};
    });
  if (!wholeCount || !highNumber || *wholeCount < *highNumber) {
    Value rest = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, whole, high);
    ifThen(builder, rest, {}, [&]() -> SmallVector<Value> {
      mask = maskOf(builder, laneCount, subtract(builder, high, whole));
      body(LaneValue::affine(whole, one, laneCount));
      mask = {};
      return {};
    });
  }
  vectorised = wasVectorised;
}

/// Neighbouring vectors of columns whose folds run in one loop. A column is one chain of additions, which waits for each of them,
/// and its neighbours lie in the lines that it reads.
constexpr int64_t kStrips = 4;

/// Whether an inner loop folds inside its lanes, in little code and without random numbers, which are drawn for runs of their
/// own.
static bool foldsInLanes(Block &block) {
  constexpr int64_t kMostOps = 48;
  int64_t folds = 0, ops = 0;
  block.walk([&](Operation *op) {
    folds += isa<FoldOp>(op);
    ops += isa<DrawOpInterface>(op) ? kMostOps : 1;
  });
  return folds > 0 && ops < kMostOps;
}

/// One fold of each strip, in one loop.
static void foldTogether(FoldOp fold, MutableArrayRef<LaneCode> strips, FunctionCode &code) {
  auto &builder = code.builder;
  Block &block = fold.getBody().front();
  SmallVector<Value> sizes, sums;
  for (AffineExpr size : fold.getSizes().getResults())
    sizes.push_back(code.size(size));
  const auto lanes = VectorType::get({strips.front().lanes()}, fold.getType());
  for (size_t k = 0; k < strips.size(); ++k)
    sums.push_back(vector::BroadcastOp::create(builder, lanes, neutralElement(builder, fold.getKind(), fold.getType())));
  auto loops = [&](auto &self, unsigned dim, ValueRange carried) -> SmallVector<Value> {
    SmallVector<Value> next(carried);
    if (dim < sizes.size())
      return forLoop(builder, constant(builder, 0), sizes[dim], constant(builder, 1), next, [&](Value index, ValueRange inner) {
        for (LaneCode &strip : strips)
          strip.bind(block.getArgument(dim), LaneValue::uniform(index));
        return self(self, dim + 1, inner);
      });
    for (auto [sum, strip] : llvm::zip_equal(next, strips)) {
      strip.emitOps(block);
      sum = combine(builder, fold.getKind(), sum, strip.lanesOf(strip.get(cast<YieldOp>(block.getTerminator()).getOperand(0))));
    }
    return next;
  };
  for (auto [sum, strip] : llvm::zip_equal(loops(loops, 0, sums), strips))
    strip.bind(fold.getValue(), LaneValue::lanes(sum));
}

/// The body of a loop from `from` on, as far as there are so many columns; returns where they end.
static Value emitStrips(const LaneCode &lanes, FunctionCode &code, Block &body, Value from, Value to) {
  auto &builder = code.builder;
  Value step = constant(builder, kStrips * lanes.lanes());
  Value whole = subtract(builder, to, remainder(builder, subtract(builder, to, from), step));
  forLoop(builder, from, whole, step, {}, [&](Value index, ValueRange) -> SmallVector<Value> {
    std::vector<LaneCode> strips(kStrips, lanes);
    for (auto [k, strip] : llvm::enumerate(strips)) {
      Value first = add(builder, index, constant(builder, int64_t(k) * lanes.lanes()));
      strip.setLanes(true);
      strip.bind(body.getArguments().back(), LaneValue::affine(first, constant(builder, 1), lanes.lanes()));
    }
    for (Operation &op : body)
      if (auto fold = dyn_cast<FoldOp>(op))
        foldTogether(fold, strips, code);
      else
        for (LaneCode &strip : strips)
          strip.emitOp(op);
    return {};
  });
  return whole;
}

void LaneCode::eachLoops(EachOp each, ArrayRef<Value> sizes, unsigned dim, Value low, Value high, bool nested) {
  Block &block = each.getBody().front();
  const bool last = dim + 1 == sizes.size();
  if (sizes.empty())
    return emitOps(block);
  Value from = dim == 0 && low ? low : constant(builder, 0), to = dim == 0 && high ? high : sizes[dim];
  if (last && !nested && !vectorised) {
    if (foldsInLanes(block))
      from = emitStrips(*this, code, block, from, to);
    setGrouped(!block.getOps<RandomKeepOp>().empty());
    forLanes(from, to, [&](LaneValue index) {
      bind(block.getArgument(dim), index);
      emitOps(block);
    });
    setGrouped(false);
    return;
  }
  forLoop(builder, from, to, [&](Value index) {
    bind(block.getArgument(dim), LaneValue::uniform(index));
    return last ? emitOps(block) : eachLoops(each, sizes, dim + 1, low, high, nested);
  });
}

void LaneCode::emitEach(EachOp each, Value low, Value high) {
  SmallVector<Value> sizes;
  for (AffineExpr size : each.getSizes().getResults())
    sizes.push_back(code.size(size));
  bool nested = !each.getBody().front().getOps<EachOp>().empty();
  eachLoops(each, sizes, 0, low, high, nested);
}

/// Inside lanes: every lane folds its own elements, one after the other.
Value LaneCode::foldSequential(FoldOp fold, ArrayRef<Value> sizes, unsigned dim, Value accumulator) {
  Block &block = fold.getBody().front();
  if (dim == sizes.size()) {
    emitOps(block);
    Value term = lanesOf(get(cast<YieldOp>(block.getTerminator()).getOperand(0)));
    return combine(builder, fold.getKind(), accumulator, term);
  }
  return forLoop(builder, constant(builder, 0), sizes[dim], constant(builder, 1), accumulator,
                 [&](Value index, ValueRange carried) {
                   bind(block.getArgument(dim), LaneValue::uniform(index));
                   return SmallVector<Value>{foldSequential(fold, sizes, dim + 1, carried[0])};
                 })[0];
}

/// Outside lanes: the last dimension runs over the lanes of the accumulator, the others are loops around it.
Value LaneCode::foldInLanes(FoldOp fold, ArrayRef<Value> sizes, Value accumulator) {
  Block &block = fold.getBody().front();
  unsigned dim = fold.getSizes().getNumResults() - sizes.size();
  if (sizes.size() > 1)
    return forLoop(builder, constant(builder, 0), sizes[0], constant(builder, 1), accumulator,
                   [&](Value index, ValueRange carried) {
                     bind(block.getArgument(dim), LaneValue::uniform(index));
                     return SmallVector<Value>{foldInLanes(fold, sizes.drop_front(), carried[0])};
                   })[0];
  Value high = sizes[0], step = constant(builder, laneCount), one = constant(builder, 1);
  Value whole = subtract(builder, high, remainder(builder, high, step));
  auto term = [&](Value index, Value sum) {
    bind(block.getArgument(dim), LaneValue::affine(index, one, laneCount));
    emitOps(block);
    Value value = lanesOf(get(cast<YieldOp>(block.getTerminator()).getOperand(0)));
    if (mask) {
      Value neutral =
          vector::BroadcastOp::create(builder, value.getType(), neutralElement(builder, fold.getKind(), fold.getType()));
      value = arith::SelectOp::create(builder, mask, value, neutral);
    }
    return Value(combine(builder, fold.getKind(), sum, value));
  };
  auto wholeCount = asConstant(whole), highNumber = asConstant(high);
  if (!wholeCount || *wholeCount > 0)
    accumulator = forLoop(builder, constant(builder, 0), whole, step, accumulator,
                          [&](Value index, ValueRange carried) { return SmallVector<Value>{term(index, carried[0])}; })[0];
  if (!wholeCount || !highNumber || *wholeCount < *highNumber) {
    Value rest = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, whole, high);
    accumulator = ifThen(builder, rest, accumulator, [&]() {
      mask = maskOf(builder, laneCount, subtract(builder, high, whole));
      Value sum = term(whole, accumulator);
      mask = {};
      return SmallVector<Value>{sum};
    })[0];
  }
  return accumulator;
}

void LaneCode::emitFold(FoldOp fold) {
  SmallVector<Value> sizes;
  for (AffineExpr size : fold.getSizes().getResults())
    sizes.push_back(code.size(size));
  Type element = fold.getType();
  Value neutral = vector::BroadcastOp::create(builder, vectorOf(element), neutralElement(builder, fold.getKind(), element));
  if (vectorised)
    return bind(fold.getValue(), LaneValue::lanes(foldSequential(fold, sizes, 0, neutral)));
  vectorised = true;
  Value sum = foldInLanes(fold, sizes, neutral);
  vectorised = false;
  bind(fold.getValue(), LaneValue::uniform(combineLanes(builder, fold.getKind(), sum)));
}

} // namespace tenon::cpu
