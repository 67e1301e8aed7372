// tenon.scatter_add: the transpose of a gather. Every element of dx belongs to one tile, which adds the rows of dy in their
// order.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Cut.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

class ScatterAddKernel {
public:
  ScatterAddKernel(ScatterAddOp op, KernelSequence &sequence)
      : op(op), sequence(sequence), dy(cast<RankedTensorType>(op.getDy().getType())),
        dx(cast<RankedTensorType>(op.getDx().getType())), index(cast<RankedTensorType>(op.getIndex().getType())),
        dySizes(sizesOf(dy)), dxSizes(sizesOf(dx)) {
    lastDim = dx.getRank() - 1;
    hasColumns = op.getDim() != uint64_t(lastDim);
    onLanes = hasColumns && !llvm::is_contained(op.getIndexDims(), op.getXDims()[lastDim]);
    for (int64_t k = 0; k < dx.getRank(); ++k)
      if (k != int64_t(op.getDim()) && !(hasColumns && k == lastDim))
        outer.push_back(k);
    for (int64_t i = 0; i < dy.getRank(); ++i)
      if (!llvm::is_contained(op.getXDims(), i))
        summed.push_back(i);
    columnCut = {dxSizes[lastDim]};
  }

  /// Without columns a tile is a point of the domain.
  static DictionaryAttr choose(ScatterAddOp op) {
    auto dx = cast<RankedTensorType>(op.getDx().getType());
    return int64_t(op.getDim()) == dx.getRank() - 1 ? DictionaryAttr() : ColumnCut{sizesOf(dx).back()}.choose();
  }

  LogicalResult generate() {
    Kernel kernel{"scatter_add", op.getLoc(), llvm::to_vector(op->getOperands()), {op.getDx()}, {}, {}, 0, {}, {}};
    if (hasColumns && failed(columnCut.take(op, sequence.tier())))
      return failure();
    kernel.cut = {{outerSize(), 1}};
    if (hasColumns)
      kernel.cut.push_back(columnCut.side());
    kernel.tiles = [&](FunctionCode &code) { return multiply(code.builder, code.size(outerSize()), strips(code)); };
    kernel.body = [&](FunctionCode &code) { emitTile(code); };
    sequence.add(kernel);
    return success();
  }

private:
  AffineExpr outerSize() {
    SmallVector<AffineExpr> sizes;
    for (int64_t k : outer)
      sizes.push_back(dxSizes[k]);
    return product(sizes, op.getContext());
  }
  Value strips(FunctionCode &code) { return hasColumns ? columnCut.strips(code) : constant(code.builder, 1); }

  LaneValue linear(LaneCode &lanes, FunctionCode &code, RankedTensorType type, ArrayRef<LaneValue> indices) {
    LaneValue sum = LaneValue::uniform(constant(code.builder, 0));
    for (auto [i, stride] : llvm::enumerate(rowMajorStrides(type)))
      sum = lanes.addValues(sum, lanes.multiplyValues(indices[i], LaneValue::uniform(code.size(stride))));
    return sum;
  }

  /// The base, or zeros, at all rows of a place.
  void startRows(FunctionCode &code, LaneCode &lanes, SmallVector<LaneValue> &place, LaneValue zero,
                 llvm::function_ref<void(llvm::function_ref<void()>)> alongLast) {
    Type element = dx.getElementType();
    forLoop(code.builder, constant(code.builder, 0), code.size(dxSizes[op.getDim()]), [&](Value row) {
      place[op.getDim()] = LaneValue::uniform(row);
      alongLast([&] {
        LaneValue to = linear(lanes, code, dx, place);
        LaneValue first = op.getBase() ? lanes.load(element, code.pointer(op.getBase()), to) : zero;
        lanes.store(element, code.pointer(op.getDx()), to, first);
      });
    });
  }

  void emitTile(FunctionCode &code) {
    auto &builder = code.builder;
    const bool inPlace =
        op.getBase() && sequence.bufferOf(op.getBase())->samePlace(*sequence.bufferOf(op.getDx())); // dx lies where the base lies
    LaneCode lanes(code, {}, elementModel(dx.getElementType()).lanes);
    Value strip = remainder(builder, code.tile, strips(code)), rest = divide(builder, code.tile, strips(code));
    SmallVector<LaneValue> place(dx.getRank(), LaneValue::uniform(constant(builder, 0)));
    for (int64_t k : llvm::reverse(outer)) {
      Value size = code.size(dxSizes[k]);
      place[k] = LaneValue::uniform(remainder(builder, rest, size));
      rest = divide(builder, rest, size);
    }
    Value low, high;
    if (hasColumns) {
      low = multiply(builder, strip, columnCut.width(code));
      high = minimum(builder, add(builder, low, columnCut.width(code)), code.size(dxSizes[lastDim]));
    }
    auto alongLast = [&](llvm::function_ref<void()> body) {
      if (!hasColumns)
        return body();
      if (!onLanes)
        return forLoop(builder, low, high, [&](Value last) {
          place[lastDim] = LaneValue::uniform(last);
          body();
        });
      lanes.forLanes(low, high, [&](LaneValue last) {
        place[lastDim] = last;
        body();
      });
    };
    Type element = dx.getElementType();
    LaneValue zero = LaneValue::uniform(arith::ConstantOp::create(builder, builder.getZeroAttr(element)));
    if (!inPlace)
      startRows(code, lanes, place, zero, alongLast);
    SmallVector<LaneValue> source(dy.getRank());
    for (auto [k, dim] : llvm::enumerate(op.getXDims()))
      if (dim >= 0 && !(hasColumns && int64_t(k) == lastDim))
        source[dim] = place[k];
    sum(code, lanes, 0, source, [&] {
      if (!hasColumns || onLanes) // one place for all columns
        place[op.getDim()] = LaneValue::uniform(target(code, lanes, source));
      alongLast([&] {
        if (hasColumns)
          source[op.getXDims()[lastDim]] = place[lastDim];
        if (hasColumns && !onLanes)
          place[op.getDim()] = LaneValue::uniform(target(code, lanes, source));
        LaneValue to = linear(lanes, code, dx, place);
        LaneValue term = lanes.load(element, code.pointer(op.getDy()), linear(lanes, code, dy, source));
        LaneValue old = lanes.load(element, code.pointer(op.getDx()), to);
        if (onLanes)
          lanes.store(element, code.pointer(op.getDx()), to,
                      LaneValue::lanes(arith::AddFOp::create(builder, lanes.lanesOf(old), lanes.lanesOf(term))));
        else
          lanes.store(element, code.pointer(op.getDx()), to,
                      LaneValue::uniform(arith::AddFOp::create(builder, old.base, term.base)));
      });
    });
  }

  void sum(FunctionCode &code, LaneCode &lanes, size_t next, SmallVectorImpl<LaneValue> &source,
           llvm::function_ref<void()> body) {
    if (next == summed.size())
      return body();
    forLoop(code.builder, constant(code.builder, 0), code.size(dySizes[summed[next]]), [&](Value i) {
      source[summed[next]] = LaneValue::uniform(i);
      sum(code, lanes, next + 1, source, body);
    });
  }

  /// The place along the gathered dimension that the index tensor names; clipped where the op says so.
  Value target(FunctionCode &code, LaneCode &lanes, ArrayRef<LaneValue> source) {
    auto &builder = code.builder;
    SmallVector<LaneValue> indices;
    for (int64_t dim : op.getIndexDims())
      indices.push_back(source[dim]);
    Value at = lanes.load(index.getElementType(), code.pointer(op.getIndex()), linear(lanes, code, index, indices)).base;
    if (!at.getType().isInteger(64))
      at = arith::ExtSIOp::create(builder, builder.getI64Type(), at);
    if (op.getClamp())
      at = maximum(builder, minimum(builder, at, subtract(builder, code.size(dxSizes[op.getDim()]), constant(builder, 1))),
                   constant(builder, 0));
    return at;
  }

  ScatterAddOp op;
  KernelSequence &sequence;
  ColumnCut columnCut;
  RankedTensorType dy, dx, index;
  SmallVector<AffineExpr> dySizes, dxSizes;
  int64_t lastDim;
  bool hasColumns;             // the last dimension of dx is not the gathered one
  bool onLanes;                // and the index is the same along it
  SmallVector<int64_t> outer;  // other dimensions of dx
  SmallVector<int64_t> summed; // dimensions of dy that dx does not have
};

} // namespace

DictionaryAttr chooseScatterAdd(Operation *op, Tier) { return ScatterAddKernel::choose(cast<ScatterAddOp>(op)); }
LogicalResult generateScatterAdd(Operation *op, KernelSequence &sequence) {
  return ScatterAddKernel(cast<ScatterAddOp>(op), sequence).generate();
}

} // namespace tenon::cpu
