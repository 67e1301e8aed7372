// Checked program to tensor form: next values of states, at all depths.
#include "dialect/Rounds.h"
#include "frontend/mlirgen/MlirGenEntry.h"
#include <functional>
#include <map>

using namespace mlir;

namespace tenon {

/// Of the body of `stack`, which is open, or of the entry.
void EntryGenerator::writeStates(const std::vector<std::pair<uint32_t, NodeId>> &next, OpBuilder &builder, uint32_t stack) {
  for (NodeId id = 0; id < entry.nodes.size() && !failed; ++id) // stacks for the states that they set alone
    if (const Node &node = entry.nodes[id]; isLoop(node) && node.stack == stack && setsStates(node.index))
      value(id);
  for (auto &[state, node] : next) {
    Value x = value(node);
    const State &target = entry.states[state];
    if (!x || target.inPlace) // an append, which has written it
      continue;
    const SmallVector<Value> depths = target.everyStep ? allDepthsOf(stack) : depthsOf(stack);
    const Location location = locate(entry.nodes[node].range);
    WriteStateOp::create(builder, location, builder.getI64IntegerAttr(state), depths,
                         Build(builder, location).convert(x, storedOf(target)));
    written[state] = true;
  }
}

bool EntryGenerator::setsStates(uint32_t stack) const {
  for (uint32_t body = 0; body < entry.stacks.size(); ++body)
    if (!entry.stacks[body].nextStates.empty())
      for (uint32_t around = body; around < entry.stacks.size(); around = entry.stacks[around].parent)
        if (around == stack)
          return true;
  return false;
}

/// The runtime swaps old and new states after a run, so an entry that leaves a state alone copies it.
void EntryGenerator::copyUnwrittenStates() {
  auto types = function->getAttrOfType<ArrayAttr>("tenon.states");
  for (size_t i = 0; i < entry.states.size(); ++i) {
    if (written[i])
      keepStatesBetween(i);
    if (written[i] || entry.states[i].inPlace)
      continue;
    Type type = cast<TypeAttr>(types[i]).getValue();
    Value old = ReadStateOp::create(root, current, type, root.getI64IntegerAttr(i), ValueRange());
    WriteStateOp::create(root, current, root.getI64IntegerAttr(i), ValueRange(), old);
  }
}

namespace {

/// Depths of a state that one body sets: those of each level, outermost first.
using Depths = SmallVector<BodyDepths>;

/// `depths`, which are sorted, as loops: runs of the same length at the same distance are the rounds of one.
std::vector<BodyDepths> loopsOver(ArrayRef<int64_t> depths) {
  std::vector<BodyDepths> loops;
  for (size_t i = 0; i < depths.size();) {
    BodyDepths run{depths[i], 1};
    while (++i < depths.size() && depths[i] == run.last() + 1)
      ++run.count;
    BodyDepths *last = loops.empty() ? nullptr : &loops.back();
    if (last && last->count == run.count && (last->rounds == 1 || run.first == last->first + last->period * last->rounds)) {
      last->period = last->rounds == 1 ? run.first - last->first : last->period;
      ++last->rounds;
    } else {
      loops.push_back(run);
    }
  }
  return loops;
}

/// Calls `visit(depths, bodies)` for the depths of `level` at which the same bodies set the state.
template <typename Visit> void forDepths(ArrayRef<Depths> set, size_t level, int64_t count, Visit visit) {
  std::map<std::vector<size_t>, std::vector<int64_t>> depthsOf; // by the bodies
  for (int64_t depth = 0; depth < count; ++depth) {
    std::vector<size_t> bodies;
    for (auto [i, depths] : llvm::enumerate(set))
      if (depths[level].contains(depth))
        bodies.push_back(i);
    depthsOf[bodies].push_back(depth);
  }
  for (auto &[bodies, depths] : depthsOf) {
    std::vector<Depths> here;
    for (size_t i : bodies)
      here.push_back(set[i]);
    visit(depths, here);
  }
}

bool coversAll(ArrayRef<Depths> set, size_t level, ArrayRef<int64_t> counts) {
  if (level == counts.size())
    return !set.empty();
  bool all = true;
  forDepths(set, level, counts[level],
            [&](ArrayRef<int64_t>, ArrayRef<Depths> here) { all &= coversAll(here, level + 1, counts); });
  return all;
}

/// A loop without results; `fill(builder, depth)` builds its body.
template <typename Fill> void loopOver(OpBuilder &builder, Location location, int64_t first, int64_t count, Fill fill) {
  auto loop = StackOp::create(builder, location, TypeRange(), count, ValueRange(), false, first);
  Block *block = new Block;
  loop.getBody().push_back(block);
  Value depth = block->addArgument(builder.getIndexType(), location);
  OpBuilder inside = OpBuilder::atBlockEnd(block);
  fill(inside, depth);
  YieldOp::create(inside, location, ValueRange());
}

/// Calls `fill(builder, depth)` in loops over the depths.
template <typename Fill> void loopOver(OpBuilder &builder, Location location, const BodyDepths &depths, Fill fill) {
  if (depths.rounds == 1) {
    loopOver(builder, location, depths.first, depths.count, fill);
    return;
  }
  loopOver(builder, location, 0, depths.rounds, [&](OpBuilder &around, Value round) {
    loopOver(around, location, depths.first, depths.count, [&](OpBuilder &inside, Value depth) {
      Value low = arith::MulIOp::create(inside, location, round, arith::ConstantIndexOp::create(inside, location, depths.period));
      fill(inside, arith::AddIOp::create(inside, location, low, depth));
    });
  });
}

/// A slice keeps the value that it has.
void copyState(uint32_t state, RankedTensorType slice, OpBuilder &builder, Location location, ValueRange depths) {
  Value old = ReadStateOp::create(builder, location, slice, builder.getI64IntegerAttr(state), depths);
  WriteStateOp::create(builder, location, builder.getI64IntegerAttr(state), depths, old);
}

/// Copies the slices that none of `set` writes.
void keepOthers(uint32_t state, RankedTensorType slice, ArrayRef<Depths> set, ArrayRef<int64_t> counts, OpBuilder &builder,
                Location location, SmallVector<Value> &depths) {
  const size_t level = depths.size();
  if (level == counts.size())
    return copyState(state, slice, builder, location, depths);
  forDepths(set, level, counts[level], [&](ArrayRef<int64_t> all, ArrayRef<Depths> here) {
    if (coversAll(here, level + 1, counts))
      return;
    auto keep = [&](OpBuilder &inside, Value depth) {
      depths.push_back(depth);
      keepOthers(state, slice, here, counts, inside, location, depths);
      depths.pop_back();
    };
    for (const BodyDepths &loop : loopsOver(all))
      loopOver(builder, location, loop, keep);
  });
}

} // namespace

RankedTensorType EntryGenerator::sliceOf(uint32_t state) const {
  auto whole = cast<RankedTensorType>(cast<TypeAttr>(function->getAttrOfType<ArrayAttr>("tenon.states")[state]).getValue());
  const size_t counts = entry.states[state].stackCounts.size();
  return tensorType(ArrayRef(sizesOf(whole)).drop_front(counts), whole.getElementType(), entry.dims.size());
}

/// The states of `body`, at all depths of the bodies around it that are inside of `loop`, whose depth is the last of `depths`.
void EntryGenerator::keepAtDepths(uint32_t loop, uint32_t body, OpBuilder &builder, SmallVector<Value> &depths) {
  SmallVector<uint32_t> bodies; // outermost first
  for (uint32_t each = body; each != loop; each = bodyAround(entry.stacks, each))
    bodies.insert(bodies.begin(), each);
  std::function<void(OpBuilder &, size_t)> keep = [&](OpBuilder &inside, size_t level) {
    if (level < bodies.size())
      return loopOver(inside, current, tenon::depthsOf(entry.stacks, bodies[level]), [&](OpBuilder &further, Value depth) {
        depths.push_back(depth);
        keep(further, level + 1);
        depths.pop_back();
      });
    for (const auto &[state, node] : entry.stacks[body].nextStates)
      copyState(state, sliceOf(state), inside, current, depths);
  };
  keep(builder, 0);
}

/// Behind a loop whose rounds from number `rounds` on did not run: the states that these would have set keep their values.
void EntryGenerator::keepStatesOfRounds(uint32_t loop, Value rounds, OpBuilder &builder) {
  if (!setsStates(loop))
    return;
  const StackInfo &info = entry.stacks[loop];
  SmallVector<Value> depths = allDepthsOf(bodyAround(entry.stacks, loop));
  loopOver(builder, current, info.first, info.count.constant(), [&](OpBuilder &inside, Value depth) {
    Value number = DepthValueOp::create(inside, current, rounds.getType(), depth);
    SkipOp::create(inside, current, Build(inside, current).compare(Comparison::lt, number, rounds), Value());
    if (Value low = firstDepthOfRound(roundsOf(entry.stacks, loop), inside))
      depth = arith::AddIOp::create(inside, current, low, depth);
    depths.push_back(depth);
    for (uint32_t body = 0; body < entry.stacks.size(); ++body)
      for (uint32_t around = body; around < entry.stacks.size(); around = bodyAround(entry.stacks, around))
        if (around == loop)
          keepAtDepths(loop, body, inside, depths);
    depths.pop_back();
  });
}

/// A stack whose bodies differ by depth may set a state at some of its depths only; the others keep theirs.
void EntryGenerator::keepStatesBetween(uint32_t state) {
  const State &info = entry.states[state];
  const bool isWhole = llvm::any_of(entry.nextStates, [&](const auto &next) { return next.first == state; });
  if (info.inPlace || info.stackCounts.empty() || isWhole) // whole: a stack in a loop, which sets all depths at once
    return;
  std::vector<Depths> set;
  for (size_t i = 0; i < entry.stacks.size(); ++i)
    for (auto &[index, node] : entry.stacks[i].nextStates)
      if (index == state) {
        set.emplace_back();
        for (uint32_t stack = i; stack < entry.stacks.size();
             stack = info.everyStep ? bodyAround(entry.stacks, stack) : entry.stacks[stack].owner)
          set.back().insert(set.back().begin(), tenon::depthsOf(entry.stacks, stack));
        for (size_t level = set.back().size(); level < info.stackCounts.size(); ++level) // all at once, of stacks in a loop
          set.back().push_back({0, info.stackCounts[level]});
      }
  SmallVector<Value> depths;
  keepOthers(state, sliceOf(state), set, info.stackCounts, root, current, depths);
}

} // namespace tenon
