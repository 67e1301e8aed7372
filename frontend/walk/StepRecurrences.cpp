// What goes on from the last place alone: scans along the walk, whose carries are kept, and windows, whose last places are.
//
// Unlike rows, which are appended at their places, these are states that each call sets anew: a carry as large as a layer at
// every place would take the memory of all activations. So going back is to the beginning, or to states that were saved.
#include "frontend/walk/StepDerivation.h"
#include <algorithm>

namespace tenon::sema {

/// In a scan, which runs its body for each of its places: a state has no room for each of these.
bool StepDerivation::keepsNothing(const Node &node) const {
  for (uint32_t body = node.stack; body != kEntryBody; body = old.stacks[body].parent)
    if (old.stacks[body].isScan)
      return true;
  return false;
}

NodeId StepDerivation::isFirstCall() {
  if (firstCall == kNoNode) {
    Node zero = makeNode(Op::Constant, {Element::Int, {}, {}}), same = makeNode(Op::Equal, {Element::Bool, {}, {}});
    same.operands = {position(), emit(zero)};
    firstCall = emit(same);
  }
  return firstCall;
}

/// What the call before left of values like `like`, whose axes are those of the new entry.
Node StepDerivation::lastPlace(const Node &like, const std::string &name) {
  Node last = makeNode(Op::State, like.type);
  last.stack = like.stack;
  last.range = like.range;
  std::string outer = role;
  role = name;
  last.index = newState(last);
  role = outer;
  State &state = fresh.states[last.index];
  state.inPlace = false;
  state.everyStep = true;
  return last;
}

/// `first` at the call of the first place: the state may hold another text's then.
NodeId StepDerivation::atFirst(NodeId first, NodeId kept) {
  Node made = makeNode(Op::Select, fresh.nodes[kept].type);
  made.stack = fresh.nodes[kept].stack;
  made.range = fresh.nodes[kept].range;
  made.operands = {isFirstCall(), first, kept};
  return emit(made);
}

/// The scan over the new places. Its carries go on from those of the last place before.
NodeId StepDerivation::scan(NodeId id) {
  const Node &node = old.nodes[id];
  if (!along(node.axesFrom[0]))
    return rewriteStack(id);
  if (keepsNothing(node))
    return unsupported(id, "a scan along the walk inside of another scan");
  StackInfo info = old.stacks[node.index];
  Node copy = node;
  std::vector<Node> carries;
  for (unsigned i = 0; i < info.carries; ++i) {
    if (!placesIn(info.results[i]).empty())
      return unsupported(id, "a carry along the walk");
    Node carry = makeNode(Op::Result, old.nodes[info.results[i]].type);
    carry.index = i;
    carry.stack = node.stack;
    carry.range = node.range;
    carries.push_back(carry);
  }
  std::vector<uint32_t> kept;
  for (unsigned i = 0; i < info.carries; ++i) {
    NodeId start = rewrite(node.operands[i], {});
    Node last = lastPlace(carries[i], "carry");
    kept.push_back(last.index);
    copy.operands[i] = atFirst(start, emit(last));
  }
  for (NodeId &result : info.results)
    result = rewrite(result, {});
  info.count = info.total = fresh.axes[node.axesFrom[0]].size;
  fresh.stacks[node.index] = info;
  const NodeId made = emit(copy);
  for (unsigned i = 0; i < info.carries; ++i) {
    carries[i].operands = {made};
    lastPlaces.push_back({node.stack, kept[i], emit(carries[i])});
  }
  return made;
}

/// The windows over the last places before the new ones, and these; before the first place stands what the window is filled with.
NodeId StepDerivation::window(NodeId id) {
  const Node &node = old.nodes[id];
  if (placesIn(node.operands[0]).size() > 1)
    return unsupported(id, "a window over pairs of places");
  size_t which = 0;
  while (!along(node.axesFrom[which]))
    ++which;
  const int64_t reach = node.windows[which].padLow;
  if (reach == 0)
    return clone(id, {});
  if (keepsNothing(node))
    return unsupported(id, "a window along the walk inside of a scan");
  const AxisId axis = node.axesFrom[which];
  const Size count = fresh.axes[axis].size;
  auto newAxis = [&](const Size &size) {
    fresh.axes.push_back({old.axes[axis].name, size});
    return AxisId(fresh.axes.size() - 1);
  };
  const AxisId before = newAxis(Size(reach)), joined = newAxis(*add(count, Size(reach)));
  const NodeId rows = rewrite(node.operands[0], {});
  auto like = [&](Op op, AxisId instead) {
    Node made = makeNode(op, fresh.nodes[rows].type);
    std::replace(made.type.axes.begin(), made.type.axes.end(), axis, instead);
    made.stack = node.stack;
    made.range = node.range;
    return made;
  };
  Node fill = makeNode(Op::Constant, {fresh.nodes[rows].type.element, {}, {}}),
       last = lastPlace(like(Op::State, before), "window");
  fill.number = fill.type.element == Element::Real ? node.number : 0;
  fill.integer = fill.type.element == Element::Real ? 0 : int64_t(node.number);
  Node all = like(Op::Concat, joined), tail = like(Op::Slice, before), copy = node;
  all.operands = {atFirst(emit(fill), emit(last)), rows};
  all.axesFrom = {before, axis};
  all.axesTo = {joined};
  copy.operands = {emit(all)};
  tail.operands = copy.operands;
  tail.axesFrom = {joined};
  tail.axesTo = {before};
  tail.size = count;
  lastPlaces.push_back({node.stack, last.index, emit(tail)});
  copy.axesFrom[which] = joined;
  copy.windows[which].padLow = 0;
  return emit(copy);
}

} // namespace tenon::sema
