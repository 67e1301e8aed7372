// Tensor form to kernel form. See Passes.td.
#include "dialect/Build.h"
#include "dialect/Contractions.h"
#include "dialect/ElementCode.h"
#include "dialect/ElementModel.h"
#include "lowering/Passes.h"
#include "lowering/kernel/JoinNests.h"
#include "lowering/kernel/KernelGroups.h"
#include "lowering/kernel/KernelResults.h"
#include "lowering/kernel/OrderOperands.h"
#include "lowering/kernel/ValuesInMemory.h"
#include "lowering/target/Target.h"
#include "lowering/tensor/Readings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_SELECTKERNELS
#include "lowering/Passes.h.inc"

namespace {

class Selector {
public:
  Selector(func::FuncOp function, bool fuse, const Target &target)
      : function(function), fuse(fuse), inMemory(valuesInMemory(function, fuse, target)), groups(fuse, inMemory, placed),
        endsRows(fuse && target.leavesProductsOut()) {
    if (fuse) // asked of the tensor form as it is, all of it
      function.walk([&, readings = Readings(/*anything=*/true)](Operation *op) mutable {
        for (Value result : op->getResults())
          if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && isa<FloatType>(type.getElementType()))
            if (MaybeReading reading = readings.of(result))
              read[result] = *reading;
      });
  }
  void run();

private:
  void selectBlock(Block &block);
  bool isSumStored(Operation *dot, const llvm::DenseSet<Value> &fused);
  /// Of a contraction: an operand with its labels, and its dimensions that a condition has.
  struct Factor {
    Value tensor;
    DenseI64ArrayAttr labels;
    Value where; ///< null: none
    SmallVector<int64_t> dims;
  };
  template <typename Dot> void selectDot(Dot dot, Factor a, Factor b);
  Value memoryOf(const Factor &factor) { return factor.where ? Value() : memoryOf(factor.tensor); }
  void computeOperand(const Factor &factor, Region &element);
  void collectNest(Operation *op, SmallVectorImpl<Value> &rowResults, SmallVectorImpl<Value> &group);
  void endUnreadRows(Operation *op, ArrayRef<Value> results, ElementCode &code, OpBuilder &builder, ValueRange rows);
  void selectNest(Operation *op);
  void putGroup(ElementCode &code, OpBuilder &builder, ArrayRef<Value> group, ArrayRef<int64_t> resultNumbers,
                ValueRange indices);
  Value memoryOf(Value value) {
    if (auto it = placed.find(value); it != placed.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    return !op || isAddress(op) || isKernel(op) ? value : Value();
  }

  /// Where code reads elements of a value. A constant is no load, even where it has memory.
  Value readFrom(Value value) { return matchPattern(value, m_Constant()) ? Value() : memoryOf(value); }
  MaybeReading commonReading(ArrayRef<Value> values);

  func::FuncOp function;
  bool fuse;
  llvm::DenseMap<Value, Reading> read; // values that are read under one condition alone
  llvm::DenseSet<Value> inMemory;      // results of element ops that get memory
  llvm::DenseMap<Value, Value> placed; // tensor-form value -> result of the kernel that makes it
  KernelGroups groups;
  bool endsRows; ///< a target with a loop over rows leaves out what nobody reads of it
  SmallVector<Operation *> dead;
};

void Selector::putGroup(ElementCode &code, OpBuilder &builder, ArrayRef<Value> group, ArrayRef<int64_t> resultNumbers,
                        ValueRange indices) {
  for (auto [value, number] : llvm::zip(group, resultNumbers)) {
    Value scalar = code.element(value, indices);
    if (number >= 0)
      PutOp::create(builder, value.getLoc(), builder.getI64IntegerAttr(number), indices, scalar);
    code.define(value, indices, scalar);
  }
}

// ---- kernels

/// The code of an element of a contraction's operand, if that has no memory, or only counts under a condition.
void Selector::computeOperand(const Factor &factor, Region &element) {
  Value operand = factor.tensor;
  if (memoryOf(factor))
    return;
  Block *block = new Block;
  element.push_back(block);
  for (int64_t i = 0; i < tensorOf(operand).getRank(); ++i)
    block->addArgument(IndexType::get(operand.getContext()), operand.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(block);
  ElementCode code(inside, [&](Value value) { return readFrom(value); });
  Value scalar = code.element(operand, block->getArguments());
  if (factor.where) {
    SmallVector<Value> place;
    for (int64_t dim : factor.dims)
      place.push_back(block->getArgument(dim));
    Value zero = arith::ConstantOp::create(inside, operand.getLoc(), inside.getZeroAttr(scalar.getType()));
    scalar = arith::SelectOp::create(inside, operand.getLoc(), code.element(factor.where, place), scalar, zero);
  }
  YieldOp::create(inside, operand.getLoc(), scalar);
}

/// Whether anything reaches the sum of a contraction without passing through a value that is fused with it.
bool Selector::isSumStored(Operation *dot, const llvm::DenseSet<Value> &fused) {
  SmallVector<Value> work{dot->getResult(0)};
  llvm::DenseSet<Value> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isKernel(user) || isAddress(user) || user->getBlock() != dot->getBlock())
        return true;
      for (Value result : user->getResults()) {
        if (fused.contains(result))
          continue;
        if (inMemory.contains(result))
          return true;
        if (seen.insert(result).second)
          work.push_back(result);
      }
    }
  return false;
}

/// The one condition under which all of `values` are read.
MaybeReading Selector::commonReading(ArrayRef<Value> values) {
  auto first = values.empty() ? read.end() : read.find(values.front());
  for (Value value : values)
    if (auto own = read.find(value); own == read.end() || !(own->second == first->second))
      return std::nullopt;
  return first == read.end() ? MaybeReading() : first->second;
}

/// Whether one operand at most is a choice: targets take the condition of one for that of the contraction.
static bool isUnderOneCondition(GemmOp gemm) {
  unsigned choices = 0;
  for (Block *element : {gemm.elementOfA(), gemm.elementOfB()})
    choices += element && element->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  return choices == 1;
}
static bool isWhereOf(DotOp, const Reading &) { return false; }
static bool isWhereOf(DotWhereOp dot, const Reading &reading) {
  return reading.where == dot.getWhere() && ArrayRef<int64_t>(reading.dims) == dot.getWhereLabels();
}

template <typename Dot> void Selector::selectDot(Dot dot, Factor a, Factor b) {
  int64_t rank = tensorOf(dot.getY()).getRank();
  SmallVector<Value> fused = groups.collect(dot, dot.getY(), rank);
  llvm::DenseSet<Value> inGroup(fused.begin(), fused.end());
  const bool stored = isSumStored(dot, inGroup);
  SmallVector<Value> group{dot.getY()};
  SmallVector<int64_t> numbers{stored ? 0 : -1};
  SmallVector<Type> types;
  if (stored)
    types.push_back(dot.getY().getType());
  for (Value value : fused) {
    numbers.push_back(types.size());
    group.push_back(value);
    types.push_back(value.getType());
  }
  // The operand that has the last result dimension is b, the vector operand.
  if (rank > 0 && !llvm::is_contained(b.labels.asArrayRef(), rank - 1))
    std::swap(a, b);
  OpBuilder builder(dot);
  auto gemm = GemmOp::create(builder, dot.getLoc(), types, memoryOf(a), memoryOf(b), a.labels, b.labels,
                             builder.getI64IntegerAttr(rank), memoryOf(a) ? TypeAttr() : TypeAttr::get(a.tensor.getType()),
                             memoryOf(b) ? TypeAttr() : TypeAttr::get(b.tensor.getType()), DenseBoolArrayAttr());
  computeOperand(a, gemm.getAElement());
  computeOperand(b, gemm.getBElement());
  Block *block = new Block;
  gemm.getBody().push_back(block);
  for (int64_t i = 0; i < rank; ++i)
    block->addArgument(builder.getIndexType(), dot.getLoc());
  const Type element = tensorOf(dot.getY()).getElementType(), compute = elementModel(tensorOf(a.tensor).getElementType()).compute;
  Value sum = block->addArgument(compute, dot.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(block);
  if (element != compute)
    sum = arith::TruncFOp::create(inside, dot.getLoc(), element, sum);
  inGroup.insert(dot.getY());
  ElementCode code(inside, [&](Value value) { return inGroup.contains(value) ? Value() : readFrom(value); });
  ValueRange indices = block->getArguments().drop_back();
  code.define(dot.getY(), indices, sum);
  putGroup(code, inside, group, numbers, indices);
  YieldOp::create(inside, dot.getLoc(), ValueRange());
  SmallVector<bool> unread;
  for (auto [value, number] : llvm::zip(group, numbers))
    if (number >= 0) {
      placed[value] = gemm.getResult(number);
      auto reading = read.find(value);
      unread.push_back(reading != read.end() && isUnderOneCondition(gemm) && isWhereOf(dot, reading->second));
    }
  if (llvm::is_contained(unread, true))
    gemm.setRestUnread(unread);
}

/// The results of `op` that need memory and what fuses with them, those with one element per row apart.
void Selector::collectNest(Operation *op, SmallVectorImpl<Value> &rowResults, SmallVectorImpl<Value> &group) {
  for (Value result : op->getResults()) {
    if (!inMemory.contains(result) || placed.contains(result))
      continue;
    (isRowResult(result) ? rowResults : group).push_back(result);
  }
  Value root = group.empty() ? Value() : group.front();
  if (!root && fuse) // what has an element per row gets memory, the rest may live only inside what reads it
    for (Value result : llvm::reverse(op->getResults()))
      root = isRowResult(result) ? root : result;
  if (root) {
    SmallVector<Value> fused = groups.collect(op, root, tensorOf(root).getRank());
    group.append(fused);
  }
}

/// Where all `results` of a nest are read under one condition of its rows, the others end with that.
void Selector::endUnreadRows(Operation *op, ArrayRef<Value> results, ElementCode &code, OpBuilder &builder, ValueRange rows) {
  MaybeReading reading = commonReading(results);
  Value where = reading ? memoryOf(reading->where) : Value();
  Operation *maker = where ? where.getDefiningOp() : nullptr;
  if (!where || (maker && maker->getBlock() == op->getBlock() && !maker->isBeforeInBlock(op)) ||
      !llvm::all_of(reading->dims, [&](int64_t dim) { return size_t(dim) < rows.size(); }))
    return;
  SmallVector<Value> place;
  for (int64_t dim : reading->dims)
    place.push_back(rows[dim]);
  RowIfOp::create(builder, op->getLoc(), code.element(reading->where, place));
}

/// One nest for these.
void Selector::selectNest(Operation *op) {
  SmallVector<Value> rowResults, group;
  collectNest(op, rowResults, group);
  if (rowResults.empty() && group.empty())
    return;
  SmallVector<Type> types;
  SmallVector<int64_t> rowNumbers, numbers;
  for (Value value : rowResults)
    rowNumbers.push_back(types.size()), types.push_back(value.getType());
  for (Value value : group)
    numbers.push_back(types.size()), types.push_back(value.getType());

  auto shape = tensorOf(rowResults.empty() ? group.front() : rowResults.front());
  SmallVector<AffineExpr> rows = sizesOf(shape), inner;
  unsigned dimCount = dimCountOf(shape);
  if (rowResults.empty() && !rows.empty())
    inner.push_back(rows.pop_back_val());
  else if (!rowResults.empty() && !group.empty()) {
    inner.push_back(sizesOf(tensorOf(group.front())).back());
    dimCount = dimCountOf(tensorOf(group.front()));
  }
  OpBuilder builder(op);
  Location location = op->getLoc();
  auto nest = NestOp::create(builder, location, types, AffineMapAttr::get(sizeMap(rows, dimCount, builder.getContext())));
  Block *block = new Block;
  nest.getBody().push_back(block);
  for (size_t i = 0; i < rows.size(); ++i)
    block->addArgument(builder.getIndexType(), location);
  OpBuilder inside = OpBuilder::atBlockEnd(block);
  llvm::DenseSet<Value> own(group.begin(), group.end());
  own.insert(rowResults.begin(), rowResults.end());
  ElementCode code(inside, [&](Value value) { return own.contains(value) ? Value() : readFrom(value); });
  SmallVector<Value> indices(block->getArguments());
  if (endsRows && (!rowResults.empty() || !inner.empty()))
    endUnreadRows(op, llvm::to_vector(own), code, inside, indices);
  if (!rowResults.empty())
    putGroup(code, inside, rowResults, rowNumbers, indices);
  if (!group.empty() && !inner.empty()) {
    auto each = EachOp::create(inside, location, sizeMap(inner, dimCount, builder.getContext()));
    Block *loop = new Block;
    each.getBody().push_back(loop);
    indices.push_back(loop->addArgument(builder.getIndexType(), location));
    inside.setInsertionPointToEnd(loop);
    putGroup(code, inside, group, numbers, indices);
  } else if (!group.empty()) {
    putGroup(code, inside, group, numbers, indices);
  }
  hoistInvariants(*block);
  for (auto [value, number] : llvm::zip(rowResults, rowNumbers))
    placed[value] = nest.getResult(number);
  for (auto [value, number] : llvm::zip(group, numbers))
    placed[value] = nest.getResult(number);
}

void Selector::selectBlock(Block &block) {
  // Addresses first: a kernel may fuse what stands behind it.
  Operation *front = nullptr;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto isHere = [&](Value tensor) { return tensor.getParentBlock() == &block; };
    const bool movable = (isAddress(&op) && llvm::none_of(tensorOperands(&op), isHere)) ||
                         (isScalarCode(&op) && llvm::all_of(op.getResultTypes(), llvm::IsaPred<IndexType>)); // their depths
    if (!movable)
      continue;
    front ? op.moveAfter(front) : op.moveBefore(&block, block.begin());
    front = &op;
  }
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  for (Operation *op : ops) {
    for (OpOperand &operand : op->getOpOperands()) // kernels and addresses read memory
      if ((isKernel(op) || isAddress(op)) && !op->hasTrait<Contraction>())
        if (auto it = placed.find(operand.get()); it != placed.end())
          operand.set(it->second);
    if (auto dot = dyn_cast<DotOp>(op)) {
      selectDot(dot, {dot.getA(), dot.getALabelsAttr(), {}, {}}, {dot.getB(), dot.getBLabelsAttr(), {}, {}});
      dead.push_back(op);
    } else if (auto dot = dyn_cast<DotWhereOp>(op)) {
      auto factorOf = [&](Value tensor, DenseI64ArrayAttr labels) {
        SmallVector<int64_t> dims = dot.dimsOfWhere(labels);
        return Factor{tensor, labels, dims.empty() ? Value() : dot.getWhere(), dims};
      };
      selectDot(dot, factorOf(dot.getA(), dot.getALabelsAttr()), factorOf(dot.getB(), dot.getBLabelsAttr()));
      dead.push_back(op);
    } else if (isKernel(op) || isAddress(op)) {
      if (!isa<KernelOpInterface>(op)) // whose regions are code, not tensors
        for (Region &region : op->getRegions())
          for (Block &inner : region)
            selectBlock(inner);
    } else if (isa<ElementOpInterface>(op)) {
      selectNest(op);
      dead.push_back(op);
    }
  }
}

void Selector::run() {
  selectBlock(function.getBody().front());
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      op->erase();
}

struct SelectKernels : impl::SelectKernelsBase<SelectKernels> {
  using SelectKernelsBase::SelectKernelsBase;
  void runOnOperation() override {
    const Target *chosen = findTarget(target);
    if (!chosen) {
      getOperation().emitOpError("expects the name of a target, got ") << target; // an option
      return signalPassFailure();
    }
    copyExchangedCarries(getOperation());
    deliverCarriesFirst(getOperation(), /*byNests=*/fuse && chosen->waitsForMemory());
    Selector(getOperation(), fuse, *chosen).run();
    dropUnusedResults(getOperation());
    if (fuse && chosen->waitsForMemory())
      joinNests(getOperation());
    if (fuse)
      orderOperands(getOperation());
  }
};

} // namespace
} // namespace tenon
