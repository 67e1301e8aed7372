// Checked program to tensor form: stacks, their rounds, depths.
#include "dialect/Rounds.h"
#include "frontend/ElementTypes.h"
#include "frontend/graph/ComputeTypes.h"
#include "frontend/mlirgen/MlirGenEntry.h"

using namespace mlir;

namespace tenon {

OpBuilder &EntryGenerator::builderOf(uint32_t stack) {
  for (OpenStack &level : open)
    if (level.info == stack)
      return level.op ? level.builder : builderOf(entry.stacks[stack].parent);
  return root;
}

Value EntryGenerator::depthOf(uint32_t stack) {
  for (OpenStack &level : open)
    if (level.info == stack)
      return level.depth;
  return {};
}

SmallVector<Value> EntryGenerator::depthsOf(uint32_t stack) {
  SmallVector<Value> depths;
  for (; stack < entry.stacks.size(); stack = entry.stacks[stack].owner)
    if (Value depth = depthOf(stack))
      depths.insert(depths.begin(), depth);
  return depths;
}

SmallVector<Value> EntryGenerator::allDepthsOf(uint32_t stack) {
  SmallVector<Value> depths;
  for (; stack < entry.stacks.size(); stack = bodyAround(entry.stacks, stack))
    depths.insert(depths.begin(), depthOf(stack));
  return depths;
}

Value EntryGenerator::countedDepth(uint32_t stack) {
  if (stack < entry.stacks.size() && entry.stacks[stack].isRounds)
    stack = entry.stacks[stack].parent;
  if (stack >= entry.stacks.size())
    return {};
  OpBuilder &builder = builderOf(stack);
  Value inner = depthOf(stack), outer = countedDepth(bodyAround(entry.stacks, stack));
  if (!outer)
    return inner;
  const Size &total = entry.stacks[stack].total;
  Value count = total.isConstant() ? Value(arith::ConstantIndexOp::create(builder, current, total.constant()))
                                   : SizeValueOp::create(builder, current, form(total));
  return arith::AddIOp::create(builder, current, arith::MulIOp::create(builder, current, outer, count), inner);
}

/// Rounds that run once, and a body that runs once in each of several rounds, need no loop of their own.
bool EntryGenerator::standsInPlace(uint32_t stack) const {
  const StackInfo &info = entry.stacks[stack], *rounds = roundsOf(entry.stacks, stack);
  return info.until == kNoNode && info.count == Size(1) && (info.isRounds || (rounds && rounds->count != Size(1)));
}

/// How much deeper a round is than the first one; null where there is only one.
Value EntryGenerator::firstDepthOfRound(const StackInfo *rounds, OpBuilder &builder) {
  if (!rounds || rounds->count == Size(1))
    return {};
  for (OpenStack &level : open)
    if (&entry.stacks[level.info] == rounds) {
      Value period = arith::ConstantIndexOp::create(builder, current, rounds->period);
      return arith::MulIOp::create(builder, current, level.op.getBody().front().getArgument(0), period);
    }
  return {};
}

Type EntryGenerator::handedOn(NodeId result) const {
  return storedType(entry.nodes[result].type.element, isWideResult(entry, result) ? kWideRealWord : "");
}

/// The results of the body that is open: carries, then what is collected; nothing after a mistake.
SmallVector<Value> EntryGenerator::generateBody(const StackInfo &info) {
  SmallVector<Value> yielded;
  for (NodeId node : info.results) {
    Value result = value(node);
    if (!result)
      return {};
    yielded.push_back(Build(builderOf(open.back().info), current).convert(result, handedOn(node)));
  }
  const uint32_t stack = open.back().info;
  writeStates(info.nextStates, builderOf(stack), stack);
  if (info.history && !info.isScan) // each carry of a round, too
    for (unsigned carry = 0; carry < info.carries; ++carry)
      yielded.push_back(Value(yielded[carry]));
  return yielded;
}

/// A stack whose body stands where its op would.
Value EntryGenerator::generateInPlace(const Node &node, NodeId id) {
  const StackInfo &info = entry.stacks[node.index];
  for (size_t i = 0; i < node.operands.size(); ++i)
    if (!value(node.operands[i]))
      return {};
  OpBuilder &builder = builderOf(node.stack);
  Value depth;
  if (!info.isRounds) {
    depth = firstDepthOfRound(roundsOf(entry.stacks, node.index), builder);
    if (info.first != 0)
      depth = arith::AddIOp::create(builder, current, depth, arith::ConstantIndexOp::create(builder, current, info.first));
  }
  open.push_back({node.index, {}, &node, builder, depth});
  SmallVector<Value> made = generateBody(info);
  open.pop_back();
  for (size_t i = info.carries; i < made.size(); ++i) { // along an axis of one place
    auto type = tensorOf(made[i]);
    SmallVector<AffineExpr> sizes = sizesOf(type);
    sizes.insert(sizes.begin(), getAffineConstantExpr(1, context));
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(1, int64_t(sizes.size())));
    made[i] = BroadcastOp::create(builder, current, tensorType(sizes, type.getElementType(), entry.dims.size()), made[i],
                                  builder.getDenseI64ArrayAttr(dims));
  }
  results[id] = made;
  return made.empty() ? Value() : made[0];
}

/// In front of a round: it is skipped where one before was, or the condition is true.
bool EntryGenerator::generateUntil(const StackInfo &info, Block &block) {
  OpBuilder &builder = open.back().builder;
  const Location location = locate(entry.nodes[info.until].range);
  Value rounds = block.getArguments().back();
  Value depth = DepthValueOp::create(builder, location, rounds.getType(), block.getArgument(0));
  SkipOp::create(builder, location, Build(builder, location).compare(Comparison::lt, rounds, depth), rounds);
  Value stop = value(info.until);
  if (stop)
    SkipOp::create(builder, location, stop, Value());
  return bool(stop);
}

/// What a loop that may have ended early gives, less the count of its rounds. Rounds that did not run have set nothing: of them
/// the states keep what they were, and the carries are collected as they stand in the end.
SmallVector<Value> EntryGenerator::resultsOfRounds(StackOp op, const Node &node, OpBuilder &outer) {
  const StackInfo &info = entry.stacks[node.index];
  SmallVector<Value> made(op.getResults());
  const Value rounds = made[info.carries]; // the first depth that did not run
  made.erase(made.begin() + info.carries);
  keepStatesOfRounds(node.index, rounds, outer);
  Build build(outer, locate(node.range));
  for (size_t i = info.carries; i < made.size(); ++i) {
    const RankedTensorType type = tensorOf(made[i]), numbers = withElement(type, outer.getI32Type());
    const Value number = IotaOp::create(outer, locate(node.range), numbers, 0);
    const Value ran = build.sub(rounds, build.constant(rounds.getType(), double(info.first)));
    const SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
    made[i] = build.select(build.compare(Comparison::lt, number, build.broadcast(ran, {}, numbers)), made[i],
                           build.broadcast(made[i - info.carries], dims, type));
  }
  return made;
}

Value EntryGenerator::generateStack(const Node &node, NodeId id) {
  const StackInfo &info = entry.stacks[node.index];
  if (standsInPlace(node.index))
    return generateInPlace(node, id);
  SmallVector<Value> carries;
  SmallVector<Type> types;
  for (size_t i = 0; i < node.operands.size(); ++i) { // constants along the depth are generated outside, too
    Value operand = value(node.operands[i]);
    if (!operand)
      return {};
    if (i >= info.carries)
      continue;
    operand = Build(*at, current).convert(operand, handedOn(info.results[i]));
    operand = spread(operand, axesOf(node.operands[i]), entry.nodes[info.results[i]].type.axes);
    carries.push_back(operand);
    types.push_back(operand.getType());
  }
  OpBuilder &outer = builderOf(node.stack);
  Location location = locate(node.range);
  const bool counts = info.until != kNoNode;
  if (counts) {
    types.push_back(RankedTensorType::get({}, outer.getI32Type()));
    carries.push_back(Build(outer, location).constant(types.back(), double(info.first)));
  }
  const AffineExpr count = toAffine(info.count, context);
  for (unsigned i = info.history && !info.isScan ? 0 : info.carries; i < info.results.size(); ++i) {
    RankedTensorType type = typeOf(entry.nodes[info.results[i]].type.axes, handedOn(info.results[i]));
    SmallVector<AffineExpr> sizes = sizesOf(type);
    sizes.insert(sizes.begin(), count);
    types.push_back(tensorType(sizes, type.getElementType(), entry.dims.size()));
  }
  auto op = StackOp::create(outer, location, types, AffineMap::get(info.count.isConstant() ? 0 : entry.dims.size(), 0, count),
                            carries, false, info.isRounds ? 0 : info.first);
  Block *block = new Block;
  op.getBody().push_back(block);
  Value depth = block->addArgument(outer.getIndexType(), location);
  for (Value carry : carries)
    block->addArgument(carry.getType(), location);
  // Outer nodes met inside the body go before the op.
  OpBuilder::InsertPoint after = outer.saveInsertionPoint();
  outer.setInsertionPoint(op);
  OpBuilder inside = OpBuilder::atBlockEnd(block);
  if (Value low = firstDepthOfRound(roundsOf(entry.stacks, node.index), inside))
    depth = arith::AddIOp::create(inside, location, low, depth);
  open.push_back({node.index, op, &node, inside, info.isRounds ? Value() : depth});
  SmallVector<Value> yielded;
  if (!counts || generateUntil(info, *block))
    yielded = generateBody(info);
  if (counts && !failed) {
    Build build(open.back().builder, location);
    const Value rounds = block->getArguments().back(); // behind the other carries
    yielded.insert(yielded.begin() + info.carries, build.add(rounds, build.constant(rounds.getType(), 1)));
  }
  if (!failed)
    YieldOp::create(open.back().builder, location, yielded);
  open.pop_back();
  outer.restoreInsertionPoint(after);
  results[id] = counts && !failed ? resultsOfRounds(op, node, outer) : SmallVector<Value>(op.getResults());
  return results[id].empty() ? Value() : results[id][0];
}

} // namespace tenon
