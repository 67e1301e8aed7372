// Contractions for what is read of them under a condition. See Passes.td.
#include "dialect/Build.h"
#include "dialect/Contractions.h"
#include "dialect/ElementModel.h"
#include "dialect/TensorSizes.h"
#include "lowering/Declined.h"
#include "lowering/Passes.h"
#include "lowering/tensor/InFront.h"
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

/// Under which condition elements are read, and which dimension of what is read each dimension of the condition is.
struct Reading {
  Value where;
  SmallVector<int64_t> dims;
  bool operator==(const Reading &other) const { return where == other.where && dims == other.dims; }
};
using MaybeReading = std::optional<Reading>; ///< nothing: in any case

bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isZero();
}

/// `condition` as a tensor that is not repeated.
Reading withoutRepetition(Value condition) {
  Reading reading{condition, llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(condition).getRank()))};
  while (auto view = reading.where.getDefiningOp<BroadcastOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : view.getDims())
      dims.push_back(reading.dims[dim]);
    reading = {view.getX(), dims};
  }
  return reading;
}

/// Of an operand with these labels, where the condition has `labels`; nothing if it lacks one.
MaybeReading throughLabels(Value where, ArrayRef<int64_t> labels, ArrayRef<int64_t> own) {
  Reading reading{where, {}};
  for (int64_t label : labels) {
    const auto *place = llvm::find(own, label);
    if (place == own.end())
      return std::nullopt;
    reading.dims.push_back(place - own.begin());
  }
  return reading;
}

/// What hands on how its result is read.
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

  MaybeReading readingOfUse(OpOperand &use);
  MaybeReading readingOf(Value value);
  bool contract(DotOp dot);
  void shield();

  SmallVector<Value> contracted;
  DenseMap<Value, MaybeReading> known; ///< of values whose readers are settled
};

MaybeReading Rewriter::readingOf(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  MaybeReading common;
  for (OpOperand &use : value.getUses()) {
    MaybeReading own = use.getOwner()->getBlock() == value.getParentBlock() ? readingOfUse(use) : std::nullopt;
    if (!own || (common && !(*common == *own)))
      return known[value] = std::nullopt;
    common = own;
  }
  return known[value] = common;
}

MaybeReading Rewriter::readingOfUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto select = dyn_cast<SelectOp>(op); select && use.get() == select.getA() && isZero(select.getB()))
    return withoutRepetition(select.getC());
  if (auto entropy = dyn_cast<CrossEntropyOp>(op); entropy && use.get() == entropy.getLogits() && entropy.getWhere())
    return withoutRepetition(entropy.getWhere());
  if (auto dot = dyn_cast<DotWhereOp>(op); dot && use.get() != dot.getWhere())
    return throughLabels(dot.getWhere(), dot.getWhereLabels(), use.get() == dot.getA() ? dot.getALabels() : dot.getBLabels());
  auto element = dyn_cast<ElementOpInterface>(op);
  if (!element || !isPassed(op))
    return std::nullopt;
  MaybeReading ofResult = readingOf(op->getResult(0));
  std::optional<SmallVector<int64_t>> dims = element.dimsOf(use); // of the result, for each of the operand
  if (!ofResult || !dims)
    return std::nullopt;
  return throughLabels(ofResult->where, ofResult->dims, *dims);
}

bool Rewriter::contract(DotOp dot) {
  MaybeReading reading = readingOf(dot.getY());
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
  known.erase(dot.getY());
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
      auto select = dyn_cast<SelectOp>(use.getOwner());
      const bool ends = select && use.get() == select.getA() && isZero(select.getB());
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
      operand.set(onlyWhereRead(builder, operand.get(), *readingOf(value)));
    }
}

struct ContractWhere : impl::ContractWhereBase<ContractWhere> {
  using ContractWhereBase::ContractWhereBase;
  void runOnOperation() override { Rewriter().run(getOperation().getBody().front()); }
};

} // namespace
} // namespace tenon
