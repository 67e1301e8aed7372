// tenon.running_sum: one pass along the dimension. Rows, or strips of columns where further dimensions follow, are independent of
// each other.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Cut.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// One pass with one addition per element; the contraction with a triangle that the op decomposes into takes T of them. With the
/// sizes before and behind the dimension as outer and inner: x and y are [outer, size, inner].
class RunningSumKernel {
public:
  explicit RunningSumKernel(RunningSumOp op) : op(op) {
    SmallVector<AffineExpr> sizes = sizesOf(cast<RankedTensorType>(op.getX().getType()));
    const size_t dim = op.getDim();
    outer = product(ArrayRef(sizes).take_front(dim), op.getContext());
    size = sizes[dim];
    inner = product(ArrayRef(sizes).drop_front(dim + 1), op.getContext());
    alongRows = dim + 1 == sizes.size();
    element = cast<RankedTensorType>(op.getX().getType()).getElementType();
    rowCut = {outer, size};
    columnCut = {inner};
  }

  DictionaryAttr choose() { return alongRows ? rowCut.choose() : columnCut.choose(); }

  LogicalResult generate(KernelSequence &sequence) {
    if (failed(alongRows ? rowCut.take(op, sequence.tier()) : columnCut.take(op, sequence.tier())))
      return failure();
    Kernel kernel{"running_sum", op.getLoc(), {op.getX()}, {op.getY()}, {}, {}, 0, {}, {}};
    kernel.cut = alongRows ? SmallVector<CutSide>{rowCut.side()} : SmallVector<CutSide>{{outer, 1}, columnCut.side()};
    kernel.tiles = [&](FunctionCode &code) {
      auto &builder = code.builder;
      return alongRows ? ceilDivide(builder, code.size(outer), rowCut.rowsOfTile(code))
                       : multiply(builder, code.size(outer), columnCut.strips(code));
    };
    kernel.body = [&](FunctionCode &code) { alongRows ? emitRows(code) : emitStrip(code); };
    sequence.add(kernel);
    return success();
  }

private:
  static constexpr int64_t rowsAtOnce = 4; // an addition takes four cycles: as many chains as hide that

  /// Reals are summed in f64, so that the last of many places is as exact as the first; integers in their own width.
  Type accumulatorOf(FunctionCode &code) { return isa<FloatType>(element) ? Type(code.builder.getF64Type()) : element; }
  Value sumOf(ImplicitLocOpBuilder &builder, Value sum, Value term) {
    if (isa<IntegerType>(element))
      return arith::AddIOp::create(builder, sum, term);
    return arith::AddFOp::create(builder, sum, convertReal(builder, builder.getLoc(), term, getElementTypeOrSelf(sum.getType())));
  }

  /// Sums that do not depend on each other, side by side. `places(i)` are the element numbers of their places i; `accumulator` is
  /// a scalar, or a vector of the lanes.
  void emitSums(FunctionCode &code, LaneCode &lanes, Type accumulator, int64_t count,
                llvm::function_ref<LaneValue(Value place, int64_t which)> elementAt) {
    auto &builder = code.builder;
    const bool isVector = isa<VectorType>(accumulator);
    Value zero = arith::ConstantOp::create(builder, cast<TypedAttr>(builder.getZeroAttr(accumulator))), length = code.size(size);
    Value last = subtract(builder, length, constant(builder, 1));
    forLoop(builder, constant(builder, 0), length, constant(builder, 1), SmallVector<Value>(count, zero),
            [&](Value i, ValueRange sums) {
              Value place = op.getReverse() ? subtract(builder, last, i) : i;
              SmallVector<Value> next;
              for (int64_t which = 0; which < count; ++which) {
                LaneValue index = elementAt(place, which), loaded = lanes.load(element, code.pointer(op.getX()), index);
                Value term = isVector ? lanes.lanesOf(loaded) : loaded.base, sum = sumOf(builder, sums[which], term);
                Value result =
                    sum.getType() == term.getType() ? sum : Value(arith::TruncFOp::create(builder, term.getType(), sum));
                lanes.store(element, code.pointer(op.getY()), index,
                            isVector ? LaneValue::lanes(result) : LaneValue::uniform(result));
                next.push_back(sum);
              }
              return next;
            });
  }

  void emitRows(FunctionCode &code) {
    auto &builder = code.builder;
    LaneCode lanes(code, {}, 1);
    Value low = multiply(builder, code.tile, rowCut.rowsOfTile(code));
    Value high = minimum(builder, add(builder, low, rowCut.rowsOfTile(code)), code.size(outer));
    Value together = subtract(builder, high, remainder(builder, subtract(builder, high, low), constant(builder, rowsAtOnce)));
    auto rowsFrom = [&](Value from, Value to, int64_t count) {
      forLoop(builder, from, to, constant(builder, count), {}, [&](Value row, ValueRange) -> SmallVector<Value> {
        SmallVector<Value> first;
        for (int64_t which = 0; which < count; ++which)
          first.push_back(multiply(builder, add(builder, row, constant(builder, which)), code.size(size)));
        emitSums(code, lanes, accumulatorOf(code), count,
                 [&](Value place, int64_t which) { return LaneValue::uniform(add(builder, first[which], place)); });
        return {};
      });
    };
    rowsFrom(low, together, rowsAtOnce);
    rowsFrom(together, high, 1);
  }

  void emitStrip(FunctionCode &code) {
    auto &builder = code.builder;
    LaneCode lanes(code, {}, element.getIntOrFloatBitWidth() == 64 ? 8 : 16);
    Value strip = remainder(builder, code.tile, columnCut.strips(code)),
          block = divide(builder, code.tile, columnCut.strips(code));
    Value low = multiply(builder, strip, columnCut.width(code));
    Value high = minimum(builder, add(builder, low, columnCut.width(code)), code.size(inner));
    Value first = multiply(builder, block, code.size(size));
    lanes.forLanes(low, high, [&](LaneValue column) {
      emitSums(code, lanes, VectorType::get({lanes.lanes()}, accumulatorOf(code)), 1, [&](Value place, int64_t) {
        Value row = multiply(builder, add(builder, first, place), code.size(inner));
        return lanes.addValues(column, LaneValue::uniform(row));
      });
    });
  }

  RunningSumOp op;
  RowCut rowCut;
  ColumnCut columnCut;
  AffineExpr outer, size, inner;
  Type element;
  bool alongRows; // nothing behind the dimension
};

} // namespace

DictionaryAttr chooseRunningSum(Operation *op, Tier) { return RunningSumKernel(cast<RunningSumOp>(op)).choose(); }
LogicalResult generateRunningSum(Operation *op, KernelSequence &sequence) {
  return RunningSumKernel(cast<RunningSumOp>(op)).generate(sequence);
}

} // namespace tenon::cpu
