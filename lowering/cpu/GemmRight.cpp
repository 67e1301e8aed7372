#include "lowering/cpu/GemmRight.h"
#include "lowering/cpu/PackPairs.h"
#include "lowering/cpu/PackPanels.h"
#include "lowering/cpu/ShortReals.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

bool isOne(Value value) { return Emitter::constantOf(value) == int64_t(1); }

class RightEmitter {
public:
  RightEmitter(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, const BlockOfDepth &block)
      : emit(emit), spec(spec), plan(plan), block(block), isPairs(multipliesPairs(spec.tier, spec.storage)),
        unit(isPairs ? Type(emit.builder.getI16Type()) : spec.element()) {}

  void pack(Value column, Value columns) {
    GemmOperand b = spec.b;
    LayoutOfB layout;
    Value offset;
    if (spec.elementsOfB.areComputed) { // there, rows are columns of B
      b = {block.computed.base, block.computed.colStride, block.computed.rowStride};
      layout = spec.elementsOfB.alongDepth ? LayoutOfB::Transposed : LayoutOfB::RowMajor;
      offset = emit.constant(0);
    } else {
      layout = isOne(b.colStride) ? LayoutOfB::RowMajor : isOne(b.rowStride) ? LayoutOfB::Transposed : LayoutOfB::Strided;
      offset = emit.add(emit.mul(block.start, b.rowStride), emit.mul(column, b.colStride));
    }
    func::FuncOp function = isPairs ? getPackPairs(emit.builder, emit.location, spec.tier, plan.width, layout)
                                    : getPackPanel(emit.builder, emit.location, spec.tier, spec.storage, plan.width, layout,
                                                   depthOrderOf(spec.storage));
    auto packSteps = [&](Value steps, Value source, Value panel) {
      call(function, {steps, columns, source, b.rowStride, b.colStride, panel});
    };
    if (!spec.rangesOfB)
      return packSteps(block.steps, emit.at(b.base, memoryType(spec.storage), offset), block.packed);
    spec.rangesOfB.visit(emit.builder, emit.location, block.start, emit.add(block.start, block.steps),
                         [&](Value low, Value high, Value address) {
                           packSteps(emit.sub(high, low),
                                     emit.at(address, memoryType(spec.storage), emit.mul(column, b.colStride)), packedAt(low));
                         });
  }

  /// Of a column and a step of B in panels.
  Value placeInPanels(Value column, Value step) {
    const GemmPanels &panels = spec.panelsOfB;
    Value line = panels.acrossDepth ? column : step, inPanels = panels.acrossDepth ? step : column;
    Value lines = panels.lines > 0 ? emit.constant(panels.lines) : panels.acrossDepth ? spec.n : spec.k;
    Value panel = emit.div(inPanels, panels.width), inside = emit.sub(inPanels, emit.mul(panel, panels.width));
    // Lines that are asked for begin a group of `steps`.
    Value place = emit.mul(emit.add(emit.mul(panel, lines), line), panels.width);
    return emit.at(spec.b.base, memoryType(spec.storage), emit.add(place, emit.mul(inside, panels.steps)));
  }

  /// A panel of B from panels of other lines, or widened.
  void packPanels(Value column, Value columns) {
    const GemmPanels &panels = spec.panelsOfB;
    if (!panels.acrossDepth)
      return call(getWidenPanel(emit.builder, emit.location, spec.tier, plan.width),
                  {block.steps, placeInPanels(column, block.start), block.packed});
    Value end = emit.add(block.start, block.steps);
    emit.loop(emit.div(block.start, panels.width), emit.ceilDiv(end, panels.width), 1, [&](Value panel) {
      Value begin = emit.mul(panel, panels.width), low = emit.max(begin, block.start);
      Value steps = emit.sub(emit.min(emit.add(begin, panels.width), end), low), from = placeInPanels(column, low);
      if (isShortReal(spec.storage))
        return call(getTurnPanel(emit.builder, emit.location, spec.tier, plan.width), {steps, from, packedAt(low)});
      call(getPackPanel(emit.builder, emit.location, spec.tier, spec.storage, plan.width, LayoutOfB::Transposed,
                        depthOrderOf(spec.storage)),
           {steps, columns, from, emit.constant(1), emit.constant(panels.width), packedAt(low)});
    });
  }

private:
  void call(func::FuncOp function, ValueRange arguments) {
    func::CallOp::create(emit.builder, emit.location, function, arguments);
  }
  /// Of a step of K in scratch, where a pair takes two steps.
  Value packedAt(Value step) { return emit.at(block.packed, unit, emit.mul(emit.sub(step, block.start), plan.width)); }

  Emitter &emit;
  const GemmSpec &spec;
  const GemmPlan &plan;
  const BlockOfDepth &block;
  bool isPairs;
  Type unit;
};

} // namespace

Value placeRight(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, const BlockOfDepth &block, Value column,
                 Value columns) {
  RightEmitter right(emit, spec, plan, block);
  if (spec.readsRightInPlace())
    return right.placeInPanels(column, block.start);
  if (spec.computesPanels())
    return block.computed.base;
  if (spec.panelsOfB)
    right.packPanels(column, columns);
  else
    right.pack(column, columns);
  return block.packed;
}

} // namespace tenon::cpu
