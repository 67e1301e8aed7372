#include "lowering/cpu/PackOp.h"
#include "dialect/Packs.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Cut.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/PackPairs.h"
#include "lowering/cpu/PackPanels.h"
#include "lowering/cpu/ShortReals.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// The code of one panel of the result.
class PackedPanel {
public:
  PackedPanel(Emitter &emit, Tier tier, Type storage, const Panels &panels, ArrayRef<int64_t> sizes, Value number)
      : emit(emit), tier(tier), storage(storage), unit(memoryType(storage)), width(panels.width), k(panels.linesOf(sizes)),
        n(panels.columnsOf(sizes)), isTransposed(panels.transposed), column(emit.mul(number, panels.width)),
        columns(emit.min(emit.sub(emit.constant(panels.columnsOf(sizes)), column), panels.width)),
        multiplies(multipliesPairs(tier, storage)) {}

  /// Of a row-major matrix: [k, n], transposed [n, k].
  void fromRows(Value matrix, Value panel) {
    Value rowStride = emit.constant(isTransposed ? 1 : n), colStride = emit.constant(isTransposed ? k : 1);
    const LayoutOfB layout = isTransposed ? LayoutOfB::Transposed : LayoutOfB::RowMajor;
    Value source = emit.at(matrix, unit, emit.mul(column, colStride));
    // Other tiers have no vectors for pairs: these go element by element.
    func::FuncOp function = isOfPairs(storage)
                                ? getPackPairs(emit.builder, emit.location, tier, width, multiplies ? layout : LayoutOfB::Strided)
                                : getPackPanel(emit.builder, emit.location, tier, storage, width, layout);
    call(function, {emit.constant(k), columns, source, rowStride, colStride, panel});
  }

  /// Of panels whose lines are the columns here, one for each `width` lines of this one: both sides are multiples of that.
  void fromPanels(Value matrix, Value panel) {
    emit.loop(emit.constant(0), emit.constant(k / width), 1, [&](Value number) {
      Value from = emit.at(matrix, unit, emit.mul(emit.add(emit.mul(number, n), column), width));
      Value to = emit.at(panel, unit, emit.mul(number, width * width));
      if (isOfPairs(storage) && multiplies)
        call(getTurnPanel(emit.builder, emit.location, tier, width), {emit.constant(width), from, to});
      else if (isOfPairs(storage))
        turnPairs(from, to);
      else
        call(getPackPanel(emit.builder, emit.location, tier, storage, width, LayoutOfB::Transposed),
             {emit.constant(width), columns, from, emit.constant(1), emit.constant(width), to});
    });
  }

private:
  /// A square of pairs of columns into one of pairs of steps, element by element.
  void turnPairs(Value from, Value to) {
    Value zero = emit.constant(0), end = emit.constant(width);
    auto place = [&](Value line, Value inside) { // of two lines side by side
      Value pair = emit.div(line, 2), which = emit.sub(line, emit.mul(pair, 2));
      return emit.add(emit.mul(emit.add(emit.mul(pair, width), inside), 2), which);
    };
    emit.loop(zero, end, 1, [&](Value step) {
      emit.loop(zero, end, 1, [&](Value inside) {
        emit.store(emit.load(unit, emit.at(from, unit, place(inside, step)), 2), emit.at(to, unit, place(step, inside)), 2);
      });
    });
  }
  void call(func::FuncOp function, ValueRange arguments) {
    func::CallOp::create(emit.builder, emit.location, function, arguments);
  }

  Emitter &emit;
  Tier tier;
  Type storage, unit;
  int64_t width, k, n; // lines are steps of the sums
  bool isTransposed;
  Value column, columns;
  bool multiplies;
};

} // namespace

LogicalResult generatePack(Operation *op, KernelSequence &sequence) {
  auto pack = cast<PackOp>(op);
  auto type = cast<RankedTensorType>(pack.getMatrix().getType());
  const Panels panels = *Panels::of(op);
  const int64_t columns = panels.columnsOf(type.getShape()), lines = panels.linesOf(type.getShape());
  const int64_t length = roomForLines(panels, type.getShape()) * panels.width;
  Value matrix = pack.getMatrix(), packed = pack.getPacked();
  const bool hasPanels = bool(pack.getFromAttr());
  Kernel kernel{"pack", op->getLoc(), {matrix}, {packed}, {}, {}, 0, {}, {}};
  kernel.cut = {{getAffineConstantExpr(columns, op->getContext()), panels.width},
                {getAffineConstantExpr(lines, op->getContext()), std::numeric_limits<int64_t>::max()}};
  kernel.tiles = [=](FunctionCode &code) {
    return constant(code.builder, int64_t(llvm::divideCeil(uint64_t(columns), uint64_t(panels.width))));
  };
  kernel.body = [=](FunctionCode &code) {
    Emitter emit(code.builder, code.builder.getLoc());
    PackedPanel panel(emit, code.tier, type.getElementType(), panels, type.getShape(), code.tile);
    Value to = emit.at(code.pointer(packed), memoryType(type.getElementType()), emit.mul(code.tile, length));
    if (hasPanels)
      panel.fromPanels(code.pointer(matrix), to);
    else
      panel.fromRows(code.pointer(matrix), to);
  };
  sequence.add(kernel);
  return success();
}

} // namespace tenon::cpu
