// Contractions for what is read of them under a condition. See Passes.td.
#include "dialect/Build.h"
#include "dialect/Contractions.h"
#include "dialect/ElementModel.h"
#include "dialect/TensorSizes.h"
#include "lowering/Declined.h"
#include "lowering/Passes.h"
#include "lowering/tensor/InFront.h"
#include "lowering/tensor/Readings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_CONTRACTWHERE
#include "lowering/Passes.h.inc"

namespace {

/// Of a sum per row with fewer columns the list of rows would be the most of the work.
constexpr int64_t kFewestColumns = 4;

constexpr llvm::StringLiteral kRewrite = "contract-where";

/// What hands on how its result is read: element by element.
bool isPassed(Operation *op) { return op->getNumResults() == 1 && (isa<BroadcastOp>(op) || op->hasTrait<Elementwise>()); }

class Rewriter {
public:
  void run(Block &block) {
    contractIn(block);
    shield();
  }

private:
  void contractIn(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) { // readers first
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          contractIn(inner);
      if (auto dot = dyn_cast<DotOp>(op))
        contract(dot);
    }
  }

  bool contract(DotOp dot);
  void shield();

  SmallVector<Value> contracted;
  Readings readings = Readings(/*anything=*/false);
};

bool Rewriter::contract(DotOp dot) {
  MaybeReading reading = readings.of(dot.getY());
  if (!reading)
    return declined(dot, kRewrite, "its result is not read under one condition alone");
  if (reading->dims.empty())
    return declined(dot, kRewrite, "the condition is one truth value for all of it");
  // Labels of the result are its dimensions: the condition is one of rows where a single operand has all of them, and the other
  // one columns.
  auto areRowsOf = [&](ArrayRef<int64_t> own, ArrayRef<int64_t> other) {
    int64_t columns = 1;
    for (auto [label, size] : llvm::enumerate(sizesOf(tensorOf(dot.getY()))))
      if (!llvm::is_contained(own, int64_t(label)))
        columns *= nominalSize(size);
    return columns >= kFewestColumns && llvm::all_of(reading->dims, [&](int64_t label) {
             return llvm::is_contained(own, label) && !llvm::is_contained(other, label);
           });
  };
  if (!areRowsOf(dot.getALabels(), dot.getBLabels()) && !areRowsOf(dot.getBLabels(), dot.getALabels()))
    return declined(dot, kRewrite, "the condition is not one of rows of one operand, with columns enough of the other one");
  if (!comeInFront(reading->where, dot))
    return declined(dot, kRewrite, "the condition cannot be computed in front of it");
  readings.forget(dot.getY());
  OpBuilder builder(dot);
  KeepCompute keep(builder, dot);
  auto labels = builder.getDenseI64ArrayAttr(reading->dims);
  contracted.push_back(DotWhereOp::create(builder, dot.getLoc(), dot.getY().getType(), dot.getA(), dot.getB(), reading->where,
                                          dot.getALabelsAttr(), dot.getBLabelsAttr(), labels));
  dot.getY().replaceAllUsesWith(contracted.back());
  dot.erase();
  return true;
}

/// `value`, and 0 where it is not read; before it is repeated, where that has all dimensions of the condition.
Value onlyWhereRead(OpBuilder &builder, Value value, const Reading &reading) {
  Build g(builder, value.getLoc());
  auto view = value.getDefiningOp<BroadcastOp>();
  MaybeReading inner = view ? throughLabels(reading.where, reading.dims, view.getDims()) : std::nullopt;
  if (inner)
    return g.broadcast(onlyWhereRead(builder, view.getX(), *inner), view.getDims(), tensorOf(value));
  Value where = g.broadcast(reading.where, reading.dims, withElement(tensorOf(value), builder.getI1Type()));
  return g.select(where, value, g.zerosLike(value));
}

/// Sums that are left out are 0, where a function of them may be infinite, or its derivative: times a gradient of 0 that is NaN.
/// Nothing of it may come to the other operands of such functions, whose gradients there are 0.
void Rewriter::shield() {
  llvm::SetVector<Value> inside(contracted.begin(), contracted.end());
  for (size_t i = 0; i < inside.size(); ++i)
    for (OpOperand &use : inside[i].getUses()) {
      MaybeReading own = isPassed(use.getOwner()) ? cast<ElementOpInterface>(use.getOwner()).readingOf(use) : std::nullopt;
      const bool ends = own && own->isZeroElse;
      if (!ends && isPassed(use.getOwner()))
        inside.insert(use.getOwner()->getResult(0));
    }
  for (Value value : inside)
    for (OpOperand &operand : value.getDefiningOp()->getOpOperands()) {
      Operation *maker = operand.get().getDefiningOp();
      if (!isPassed(value.getDefiningOp()) || inside.contains(operand.get()) || (maker && maker->hasTrait<ElementSource>()) ||
          !isa<FloatType>(tensorOf(operand.get()).getElementType()))
        continue;
      OpBuilder builder(value.getDefiningOp());
      operand.set(onlyWhereRead(builder, operand.get(), *readings.of(value)));
    }
}

struct ContractWhere : impl::ContractWhereBase<ContractWhere> {
  using ContractWhereBase::ContractWhereBase;
  void runOnOperation() override { Rewriter().run(getOperation().getBody().front()); }
};

} // namespace
} // namespace tenon
