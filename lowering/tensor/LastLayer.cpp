// The last layer of a stack, for what is read of it. See Passes.td.
#include "dialect/Build.h"
#include "dialect/Rounds.h"
#include "dialect/TensorSizes.h"
#include "lowering/Declined.h"
#include "lowering/Passes.h"
#include "lowering/tensor/InFront.h"
#include "lowering/tensor/LayerReadings.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_LASTLAYER
#include "lowering/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kRewrite = "last-layer";

bool isLarge(Operation *op) {
  auto rows = dyn_cast<RowOpInterface>(op);
  return rows && rows.takesLong();
}

class LastLayerOf {
public:
  explicit LastLayerOf(StackOp stack) : stack(stack), body(stack.getBody().front()) {}

  bool run() {
    if (!isStackOfLayers())
      return declined(stack, kRewrite, "not a forward stack of several layers, all of which run, that gives its carries alone");
    for (OpResult result : stack->getResults())
      readings.push_back(readingOf(result));
    keepWholeWhatIsJoined();
    findRows();
    if (!pays())
      return declined(stack, kRewrite, "no contraction or attention of its last layer would become smaller");
    if (!bringIndicesInFront())
      return declined(stack, kRewrite, "the rows that are read cannot be computed in front of it");
    part();
    return true;
  }

private:
  bool isStackOfLayers() {
    std::optional<int64_t> count = stack.countNumber();
    return count && *count > 1 && !stack.getReverse() && !mayEndEarly(stack) &&
           stack.getNumResults() == stack.getCarries().size() && isa<func::FuncOp>(stack->getParentOp());
  }

  void keepWholeWhatIsJoined();
  void findRows();
  std::optional<Rows> rowsOf(Operation &op);
  bool pays();
  bool bringIndicesInFront();
  void part();
  void fillLast(StackOp first, StackOp last, const SmallVector<Value> &indices);
  Value rowsOfValue(Value value, const Rows &rows);
  Value madeForRows(Operation *op, const Rows &rows, unsigned result);
  Value indexOfAll(const LayerReading &reading);
  Value gathered(OpBuilder &builder, Value x, const Rows &rows, Value index);
  RankedTensorType typeOfRows(Value value, const Rows &rows);
  void replaceReads(const LayerReading &reading);

  StackOp stack;
  Block &body;
  SmallVector<LayerReading> readings;
  DenseMap<Operation *, Rows> asked; ///< ops of whose results these rows alone are read; of the last layer, once there is one
  // Of the last layer, for each carry: which rows, what comes in, and its rows (null where it is not read).
  SmallVector<Value> indices, wholes, arguments;
  OpBuilder inside{stack.getContext()};
  DenseMap<Value, SmallVector<std::pair<Rows, Value>>> made;
};

/// Results that one pick reads together, through an op behind the stack: rows of each would be an own list, made twice.
void LastLayerOf::keepWholeWhatIsJoined() {
  DenseMap<Operation *, unsigned> times;
  for (const LayerReading &reading : readings)
    if (reading.kind == LayerReading::InRows)
      for (const Pick &pick : reading.picks)
        ++times[pick.op];
  for (LayerReading &reading : readings)
    if (llvm::any_of(reading.picks, [&](const Pick &pick) { return times[pick.op] > 1; }))
      reading = {};
}

/// The rows that all uses of an op's results ask for.
std::optional<Rows> LastLayerOf::rowsOf(Operation &op) {
  std::optional<Rows> common;
  for (OpOperand &use : op.getUses()) {
    Rows rows;
    if (use.getOwner() == body.getTerminator()) {
      const LayerReading &reading = readings[use.getOperandNumber()];
      if (reading.kind == LayerReading::Nowhere)
        continue;
      if (reading.kind == LayerReading::Whole)
        return std::nullopt;
      rows = reading.rows;
    } else if (auto it = asked.find(use.getOwner()); it == asked.end()) {
      return std::nullopt;
    } else if (needOf(use, it->second, rows) != Need::Rows) {
      return std::nullopt;
    }
    if (common && !(*common == rows))
      return std::nullopt;
    common = rows;
  }
  return common;
}

/// Readers first.
void LastLayerOf::findRows() {
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (!isPure(&op) || op.getNumRegions() > 0)
      continue;
    if (std::optional<Rows> rows = rowsOf(op); rows && isOfRows(&op, *rows))
      asked.try_emplace(&op, *rows);
  }
}

/// Whether a contraction or attention becomes smaller, or is not read.
bool LastLayerOf::pays() {
  if (llvm::any_of(asked, [](auto &each) { return isLarge(each.first); }))
    return true;
  DenseSet<Operation *> live;
  SmallVector<Operation *> open;
  auto reach = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    if (maker && maker->getBlock() == &body && live.insert(maker).second)
      open.push_back(maker);
  };
  for (auto [reading, value] : llvm::zip_equal(readings, body.getTerminator()->getOperands()))
    if (reading.kind != LayerReading::Nowhere)
      reach(value);
  for (Operation &op : body.without_terminator())
    if (!isPure(&op) && live.insert(&op).second)
      open.push_back(&op);
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), reach); });
  }
  return llvm::any_of(body, [&](Operation &op) { return isLarge(&op) && !live.contains(&op); });
}

bool LastLayerOf::bringIndicesInFront() {
  for (LayerReading &reading : readings)
    if (reading.kind == LayerReading::InRows)
      for (Pick &pick : reading.picks)
        if (GatherOp gather = pick.gather(); gather && !comeInFront(gather.getIndex(), stack))
          return false;
  return true;
}

/// The indices of all picks behind each other, for each index of the batch.
Value LastLayerOf::indexOfAll(const LayerReading &reading) {
  OpBuilder builder(stack);
  SmallVector<AffineExpr> sizes;
  RankedTensorType whole = tensorOf(stack.getResult(reading.rows.result));
  for (int64_t dim : reading.rows.batch)
    sizes.push_back(sizesOf(whole)[dim]);
  sizes.push_back(nullptr);
  auto typeOf = [&](int64_t rows, Type element) {
    sizes.back() = getAffineConstantExpr(rows, stack.getContext());
    return tensorType(sizes, element, dimCountOf(whole));
  };
  SmallVector<Value> parts;
  for (const Pick &pick : reading.picks) {
    auto [index, dims] = indexOf(builder, pick, reading.rowsOf(pick.op->getOperand(0)));
    parts.push_back(
        Build(builder, pick.op->getLoc()).broadcast(index, dims, typeOf(pick.rows, tensorOf(index).getElementType())));
  }
  if (parts.size() == 1)
    return parts.front();
  return ConcatOp::create(builder, stack.getLoc(), typeOf(reading.count, tensorOf(parts.front()).getElementType()),
                          builder.getI64IntegerAttr(int64_t(reading.rows.batch.size())), parts);
}

RankedTensorType LastLayerOf::typeOfRows(Value value, const Rows &rows) {
  RankedTensorType type = tensorOf(value);
  SmallVector<AffineExpr> sizes = sizesOf(type);
  sizes[rows.dim] = getAffineConstantExpr(readings[rows.result].count, type.getContext());
  return tensorType(sizes, type.getElementType(), dimCountOf(type));
}

Value LastLayerOf::gathered(OpBuilder &builder, Value x, const Rows &rows, Value index) {
  SmallVector<int64_t> xDims = llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(x).getRank())), indexDims = rows.batch;
  xDims[rows.dim] = -1;
  indexDims.push_back(rows.dim);
  return GatherOp::create(builder, stack.getLoc(), typeOfRows(x, rows), x, index, rows.dim, xDims, indexDims, false);
}

Value LastLayerOf::rowsOfValue(Value value, const Rows &rows) {
  for (auto &[known, result] : made[value])
    if (known == rows)
      return result;
  Operation *maker = value.getDefiningOp();
  Value result;
  if (value == wholes[rows.result] && rows == readings[rows.result].rows)
    result = arguments[rows.result];
  else if (maker && (asked.contains(maker) || isRepeated(maker, rows))) // whoever else reads what is repeated
    result = madeForRows(maker, rows, cast<OpResult>(value).getResultNumber());
  else
    result = gathered(inside, value, rows, indices[rows.result]);
  made[value].push_back({rows, result});
  return result;
}

/// The op once more, for these rows.
Value LastLayerOf::madeForRows(Operation *op, const Rows &rows, unsigned result) {
  auto draws = dyn_cast<RowOpInterface>(op);
  if (Value factor = draws ? draws.buildFactor(inside) : Value()) { // what the whole draws there
    Value drawn = gathered(inside, factor, rows, indices[rows.result]);
    return Build(inside, op->getLoc()).mul(rowsOfValue(op->getOperand(0), rows), drawn);
  }
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Rows needed;
    operands.push_back(needOf(operand, rows, needed) == Need::Rows ? rowsOfValue(operand.get(), needed) : operand.get());
  }
  Operation *copy = inside.clone(*op);
  copy->setOperands(operands);
  for (OpResult each : copy->getResults())
    each.setType(typeOfRows(each, rows));
  if (auto drawing = dyn_cast<RowOpInterface>(copy)) {
    SmallVector<int64_t> dims = rows.batch;
    dims.push_back(rows.dim);
    RankedTensorType whole = tensorOf(op->getResult(0));
    drawing.drawAt(indices[rows.result], dims, sizeAttribute(sizesOf(whole)[rows.dim], dimCountOf(whole)));
  }
  return copy->getResult(result);
}

/// Behind the last layer: ops between it and the picks once more, for the rows alone, and of these what each pick reads.
void LastLayerOf::replaceReads(const LayerReading &reading) {
  asked.clear();
  made.clear();
  SmallVector<Operation *> dead;
  for (auto &[op, rows] : reading.between) {
    asked.try_emplace(op, rows);
    dead.push_back(op);
  }
  int64_t low = 0;
  for (const Pick &pick : reading.picks) {
    inside.setInsertionPoint(pick.op);
    const Rows from = reading.rowsOf(pick.op->getOperand(0));
    Value part = rowsOfValue(pick.op->getOperand(0), from);
    RankedTensorType type = tensorOf(part);
    SmallVector<AffineExpr> sizes = sizesOf(type);
    sizes[from.dim] = getAffineConstantExpr(pick.rows, type.getContext());
    if (pick.rows != reading.count)
      part = SliceOp::create(inside, pick.op->getLoc(), tensorType(sizes, type.getElementType(), dimCountOf(type)), part,
                             inside.getI64IntegerAttr(from.dim),
                             sizeAttribute(getAffineConstantExpr(low, type.getContext()), dimCountOf(type)));
    if (!pick.keepsDim) {
      // With the dimension before it; the first one with the one behind.
      SmallVector<int64_t> groups(type.getRank() - 1, 1);
      groups[std::max<int64_t>(from.dim - 1, 0)] = -2;
      part = ReshapeOp::create(inside, pick.op->getLoc(), pick.op->getResult(0).getType(), part, groups);
    }
    pick.op->getResult(0).replaceAllUsesWith(part);
    dead.push_back(pick.op);
    low += pick.rows;
  }
  llvm::sort(dead, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : dead) // last ones first, and none while `made` knows its results
    op->erase();
}

void LastLayerOf::fillLast(StackOp first, StackOp last, const SmallVector<Value> &incoming) {
  Block *block = new Block;
  last.getBody().push_back(block);
  IRMapping mapping;
  mapping.map(body.getArgument(0), block->addArgument(body.getArgument(0).getType(), stack.getLoc()));
  for (auto [i, reading] : llvm::enumerate(readings)) {
    Value whole = first.getResult(i), argument;
    if (reading.kind != LayerReading::Nowhere)
      argument = block->addArgument(incoming[i].getType(), stack.getLoc());
    mapping.map(body.getArgument(i + 1), reading.kind == LayerReading::Whole ? argument : whole);
    wholes.push_back(whole);
    arguments.push_back(argument);
  }
  inside.setInsertionPointToEnd(block);
  for (Operation &op : body.without_terminator()) {
    Operation *copy = inside.clone(op, mapping);
    if (auto it = asked.find(&op); it != asked.end()) {
      Rows rows = it->second;
      asked.erase(it);
      asked.try_emplace(copy, rows);
    }
  }
  SmallVector<Value> yielded;
  for (auto [reading, value] : llvm::zip_equal(readings, body.getTerminator()->getOperands()))
    if (reading.kind != LayerReading::Nowhere) {
      Value copy = mapping.lookupOrDefault(value);
      yielded.push_back(reading.kind == LayerReading::Whole ? copy : rowsOfValue(copy, reading.rows));
    }
  YieldOp::create(inside, stack.getLoc(), yielded);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void LastLayerOf::part() {
  OpBuilder builder(stack);
  const int64_t count = *stack.countNumber(), lowest = stack.getFirst();
  auto first = StackOp::create(builder, stack.getLoc(), stack.getResultTypes(), count - 1, stack.getCarries(), false, lowest);
  SmallVector<Value> incoming(readings.size());
  SmallVector<Value> carries;
  indices.resize(readings.size());
  for (auto [i, reading] : llvm::enumerate(readings)) {
    incoming[i] = first.getResult(i);
    if (reading.kind == LayerReading::InRows) {
      indices[i] = indexOfAll(reading);
      incoming[i] = gathered(builder, incoming[i], reading.rows, indices[i]);
    }
    if (reading.kind != LayerReading::Nowhere)
      carries.push_back(incoming[i]);
  }
  auto last = StackOp::create(builder, stack.getLoc(), ValueRange(carries).getTypes(), 1, carries, false, lowest + count - 1);
  fillLast(first, last, incoming);
  unsigned next = 0;
  for (auto [i, reading] : llvm::enumerate(readings)) {
    if (reading.kind == LayerReading::Whole)
      stack.getResult(i).replaceAllUsesWith(last.getResult(next));
    wholes[i] = stack.getResult(i);
    arguments[i] = reading.kind == LayerReading::Nowhere ? Value() : last.getResult(next);
    next += reading.kind != LayerReading::Nowhere;
  }
  for (const LayerReading &reading : readings)
    if (reading.kind == LayerReading::InRows)
      replaceReads(reading);
  first.getBody().takeBody(stack.getBody());
  stack.erase();
}

struct LastLayer : impl::LastLayerBase<LastLayer> {
  using LastLayerBase::LastLayerBase;
  void runOnOperation() override {
    for (StackOp stack : llvm::to_vector(getOperation().getBody().front().getOps<StackOp>()))
      LastLayerOf(stack).run();
  }
};

} // namespace
} // namespace tenon
