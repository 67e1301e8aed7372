#include "frontend/DeepStack.h"
#include "frontend/ElementTypes.h"
#include "frontend/walk/Prepare.h"
#include "frontend/walk/StepDerivation.h"
#include <algorithm>

namespace tenon::sema {

/// What `operand` of `node` must have whole if the node has `demand` whole.
Axes StepDerivation::demandOf(const Node &node, size_t operand, const Axes &demand) const {
  Axes wanted = demand;
  if (node.op == Op::Rename)
    for (AxisId &axis : wanted)
      for (size_t i = 0; i < node.axesTo.size(); ++i)
        if (axis == node.axesTo[i]) {
          axis = node.axesFrom[i];
          break;
        }
  if (node.op == Op::Attend && along(node.attend->key))
    wanted.push_back(node.attend->key);
  if (sumsKeys(node))
    std::copy_if(node.axesFrom.begin(), node.axesFrom.end(), std::back_inserter(wanted),
                 [&](AxisId axis) { return along(axis); });
  if (node.op == Op::Concat && along(node.axesFrom.back()) && operand + 1 == node.operands.size())
    wanted.push_back(node.axesFrom.back());
  const Axes &own = old.nodes[node.operands[operand]].type.axes;
  wanted.erase(std::remove_if(wanted.begin(), wanted.end(), [&](AxisId axis) { return !includes(own, axis); }), wanted.end());
  std::sort(wanted.begin(), wanted.end());
  return wanted;
}

NodeId StepDerivation::rewrite(NodeId id, const Axes &demand) {
  auto known = done.find({id, demand});
  if (known != done.end())
    return known->second;
  NodeId made = kNoNode;
  if (!stackIsLow())
    made = make(id, demand);
  else if (!runOnNewStack([&] { made = make(id, demand); }))
    return unsupported(id, "so many values that need each other");
  done[{id, demand}] = made;
  return made;
}

/// Numbers and tables that depend on nothing but the place: cheaper to compute for all places than to keep.
bool StepDerivation::isTable(NodeId asked) {
  if (table[asked])
    return table[asked] == 1;
  for (NodeId id = 0; id <= asked; ++id) // operands stand before what is made of them
    table[id] = table[id] ? table[id] : isTableOfTables(old.nodes[id]) ? 1 : 2;
  return table[asked] == 1;
}

bool StepDerivation::isTableOfTables(const Node &node) const {
  bool leaf =
      node.op == Op::Constant || node.op == Op::SizeValue || node.op == Op::Iota || node.op == Op::Param || node.op == Op::Depth;
  bool inner = isElementwise(node.op) || passesThrough(node) || node.op == Op::Slice || node.op == Op::Gather;
  bool all = leaf || inner;
  for (NodeId operand : node.operands)
    all = all && table[operand] == 1;
  return all;
}

NodeId StepDerivation::make(NodeId id, const Axes &demand) {
  if (failed)
    return kNoNode;
  const Node &node = old.nodes[id];
  switch (node.op) {
  case Op::Scan:
    return scan(id);
  case Op::Depth:
    return placeOf(id);
  case Op::Gather:
    if (readsPlaceOfScan(old, node, places))
      return pickOfScan(id, demand);
    break;
  case Op::Cumsum:
    if (along(node.axesFrom[0]) && !includes(demand, node.axesFrom[0]))
      return runningSum(id);
    break;
  case Op::Window:
    for (AxisId axis : node.axesFrom)
      if (along(axis) && demand.empty())
        return window(id);
    break;
  case Op::Concat:
    if (along(node.axesFrom.back()) && placesIn(id).empty())
      return appendBehindFixed(id);
    break;
  case Op::State:
    if (!placesIn(id).empty())
      return unsupported(id, "a state along the walk");
    break;
  case Op::BodyArgument:
    if (!demand.empty() && node.index >= old.stacks[node.stack].carries)
      return rewriteArgument(id, demand);
    break;
  default:
    break;
  }
  if (demand.empty())
    return makeNew(id);
  if (isTable(id) || passesThrough(node))
    return clone(id, demand);
  if (placesIn(id).size() == 1 && !endsAlong(node) &&
      !isInWalkedScan(old, node.stack, places)) // in one, what is read there is kept outside
    return append(id, demand[0]);
  if (node.op == Op::Input || node.op == Op::BodyArgument || node.op == Op::Result || node.op == Op::Attend)
    return unsupported(id, "a value for pairs of places that comes from outside of its attend");
  return clone(id, demand);
}

NodeId StepDerivation::makeNew(NodeId id) {
  const Node &node = old.nodes[id];
  switch (node.op) {
  case Op::Stack:
    return rewriteStack(id);
  case Op::Iota:
    return along(node.type.axes[0]) ? newPlaces(node.type.axes[0], 0) : clone(id, {});
  case Op::Slice:
    if (along(node.axesTo[0])) {
      NodeId table = rewrite(node.operands[0], {});
      return pick(table, node.axesFrom[0], node.axesTo[0], atCapacity(node.size), node);
    }
    return clone(id, {});
  case Op::Sinusoid:
  case Op::Param: {
    Axes own = placesIn(id);
    if (own.empty())
      return clone(id, {});
    if (own.size() > 1)
      return unsupported(id, "a table of pairs of places");
    return pick(clone(id, own), whole(own[0]), own[0], 0, node);
  }
  default:
    return clone(id, {});
  }
}

NodeId StepDerivation::clone(NodeId id, const Axes &demand) {
  const Node &node = old.nodes[id];
  Node copy = node;
  copy.operands.clear();
  for (size_t i = 0; i < node.operands.size(); ++i) {
    std::string outer = role;
    if (node.op == Op::Attend)
      role = roleOf(node, i);
    copy.operands.push_back(rewrite(node.operands[i], demandOf(node, i, demand)));
    role = outer;
  }
  copy.size = atCapacity(node.size);
  copy.type.axes = mapped(node.type.axes, demand);
  copy.axesTo = mapped(node.axesTo, demand);
  if (node.op == Op::Rename)
    for (size_t i = 0; i < node.axesTo.size(); ++i)
      if (includes(demand, node.axesTo[i]))
        copy.axesFrom[i] = whole(node.axesFrom[i]);
  if (node.op == Op::Concat && along(node.axesFrom.back()))
    copy.axesFrom.back() = whole(node.axesFrom.back());
  if (node.op == Op::Cumsum && includes(demand, node.axesFrom[0])) {
    copy.axesFrom = mapped(node.axesFrom, demand);
    copy.operands[0] = onlyBrought(copy.operands[0], copy.axesFrom[0]);
  }
  if (sumsKeys(node)) {
    const Axes keys = demandOf(node, 0, {}); // both factors have them
    copy.axesFrom = mapped(node.axesFrom, keys);
    for (NodeId &operand : copy.operands)
      operand = onlyBrought(operand, whole(keys[0]));
  }
  if (node.op == Op::Gather) // a file may bring any sum, and no proof has seen it
    copy.clampIndex |= isSummed(node.operands[1]);
  if (node.op == Op::Attend) {
    copy.attend = std::make_shared<AttendInfo>(*node.attend);
    copy.attend->queries = mapped(node.attend->queries, demand);
    if (along(node.attend->key))
      copy.attend->key = whole(node.attend->key);
  }
  return emit(copy);
}

/// An argument that is the same at every depth, whole: taken from outside, so that what is kept of it is kept once.
NodeId StepDerivation::rewriteArgument(NodeId id, const Axes &demand) {
  const Node &node = old.nodes[id];
  NodeId outside = old.nodes[producer[node.stack]].operands[node.index];
  NodeId made = rewrite(outside, demand);
  Node spread = makeNode(Op::Expand, node.type);
  spread.type.axes = mapped(node.type.axes, demand);
  if (failed || fresh.nodes[made].type.axes == spread.type.axes)
    return made;
  spread.operands = {made};
  spread.stack = node.stack;
  spread.range = node.range;
  return emit(spread);
}

NodeId StepDerivation::rewriteStack(NodeId id) {
  const Node &node = old.nodes[id];
  StackInfo info = old.stacks[node.index];
  info.count = atCapacity(info.count); // of a scan along a table
  info.total = atCapacity(info.total);
  Node copy = node;
  for (NodeId &operand : copy.operands)
    operand = rewrite(operand, {});
  for (NodeId &result : info.results)
    result = rewrite(result, {});
  if (info.until != kNoNode)
    info.until = rewrite(info.until, {});
  for (auto &[state, value] : info.nextStates)
    value = rewrite(value, {});
  fresh.stacks[node.index] = info;
  return emit(copy);
}

// ---- what is kept

std::string StepDerivation::roleOf(const Node &attend, size_t operand) const {
  const AttendInfo &info = *attend.attend;
  if (operand < info.scores)
    return info.scoreNames[operand].empty() ? "key" : info.scoreNames[operand] + ".key";
  return operand < info.scores + info.masks ? "mask" : operand == info.scores + info.masks ? "value" : "scale";
}

uint32_t StepDerivation::newState(const Node &rows) {
  return states.add(fresh, old.stacks, rows, keptPath(old, old.stacks, rows.stack, role));
}

/// The sum `x`, rounded where the text says so of `sum`.
NodeId StepDerivation::asWritten(NodeId x, const Node &sum) {
  if (!isShortReal(sum.type.pinned))
    return x;
  Node one = makeNode(Op::Constant, {Element::Real, {}, {}});
  one.number = 1;
  Node rounded = makeNode(Op::Mul, fresh.nodes[x].type);
  rounded.type.pinned = sum.type.pinned;
  rounded.stack = sum.stack;
  rounded.range = sum.range;
  rounded.operands = {x, emit(one)};
  return emit(rounded);
}

/// The sum over the new places, on top of the sum at the last place before them. It is kept at every place, not at the last
/// alone: a caller goes back to fewer places by setting the position. Of a sum that is written in 16 bits, what is kept is not
/// rounded: it goes on from there. One of f64 is kept in f64.
NodeId StepDerivation::runningSum(NodeId id) {
  const Node &node = old.nodes[id];
  AxisId axis = node.axesFrom[0];
  if (keepsNothing(node))
    return unsupported(id, "a running sum along the walk inside of a scan");
  if (placesIn(id).size() > 1)
    return refuse(id, "a running sum over the queries, which at a later key counts places that came before the key");
  std::string outer = role;
  role = "sum";
  Node append = kept(id, axis);
  ValueType unrounded = node.type;
  if (isShortReal(node.type.pinned))
    unrounded.pinned.clear();
  append.type.pinned = unrounded.pinned;
  append.index = newState(append);
  role = outer;
  auto made = [&](Op op, ValueType type, std::vector<NodeId> operands) {
    Node part = makeNode(op, std::move(type));
    part.operands = std::move(operands);
    part.range = node.range;
    return part;
  };
  auto number = [&](int64_t value) {
    Node part = made(Op::Constant, {Element::Int, {}, {}}, {});
    part.integer = value;
    return emit(part);
  };
  const ValueType place{Element::Int, {}, {}};
  NodeId zero = number(0), before = emit(made(Op::Sub, place, {position(), number(1)}));
  Node all = made(Op::State, append.type, {});
  all.index = append.index;
  all.stack = node.stack;
  ValueType atOnePlace = unrounded;
  std::erase(atOnePlace.axes, axis);
  Node last = made(Op::Gather, atOnePlace, {emit(all), emit(made(Op::Max, place, {before, zero}))});
  last.axesFrom = append.axesTo;
  last.stack = node.stack;
  NodeId start = atFirst(zero, emit(last)), within = clone(id, {});
  fresh.nodes[within].type.pinned = unrounded.pinned;
  Node sum = made(Op::Add, unrounded, {within, start});
  sum.stack = node.stack;
  append.operands = {emit(sum), position()};
  NodeId result = append.operands[0];
  sums[id] = emit(append);
  return asWritten(result, node);
}

/// `x`, whose axis `axis` has all places, with 0 at those that no call has brought yet: a sum of what stands there may be no
/// number.
NodeId StepDerivation::onlyBrought(NodeId x, AxisId axis) {
  Node places = makeNode(Op::Iota, {Element::Int, {axis}, {}}),
       zero = makeNode(Op::Constant, {fresh.nodes[x].type.element, {}, {}});
  Node count = makeNode(Op::SizeValue, {Element::Int, {}, {}}), end = makeNode(Op::Add, {Element::Int, {}, {}});
  count.size = fresh.axes[old.walked].size;
  end.operands = {position(), emit(count)};
  Node isBrought = makeNode(Op::Less, {Element::Bool, {axis}, {}}), made = makeNode(Op::Select, fresh.nodes[x].type);
  isBrought.operands = {emit(places), emit(end)};
  made.operands = {emit(isBrought), x, emit(zero)};
  made.stack = fresh.nodes[x].stack;
  made.range = fresh.nodes[x].range;
  return emit(made);
}

/// Whether a whole number is made of what a state keeps: running sums along the walk, windows, carries of scans.
bool StepDerivation::isSummed(NodeId asked) {
  if (summed[asked])
    return summed[asked] == 1;
  for (NodeId id = 0; id <= asked; ++id) { // operands, and what a stack starts from, stand before what is made of them
    const Node &node = old.nodes[id];
    bool any = (node.op == Op::Cumsum || node.op == Op::Window) &&
               std::any_of(node.axesFrom.begin(), node.axesFrom.end(), [&](AxisId axis) { return along(axis); });
    if (node.op == Op::BodyArgument)
      any =
          isInWalkedScan(old, node.stack, places) || summed[old.nodes[producer[node.stack]].operands[node.index]] ==
                                                         1; // where it starts; a carry that grows cannot be proved to stay inside
    if (node.op == Op::Result && old.nodes[node.operands[0]].op == Op::Scan)
      any |= summed[old.stacks[old.nodes[node.operands[0]].index].results[node.index]] == 1;
    for (NodeId operand : node.operands)
      any |= summed[operand] == 1;
    summed[id] = any ? 1 : 2;
  }
  return summed[asked] == 1;
}

std::optional<Entry> StepDerivation::run() {
  if (!setUp())
    return std::nullopt;
  for (auto &[name, node] : fresh.results)
    node = rewrite(node, {});
  for (auto &[state, node] : fresh.nextStates)
    node = rewrite(node, {});
  if (failed)
    return std::nullopt;
  for (auto &[id, node] : sums) {
    uint32_t body = fresh.nodes[node].stack;
    (body == kEntryBody ? fresh.nextStates : fresh.stacks[body].nextStates).push_back({fresh.nodes[node].index, node});
  }
  for (const LastPlace &last : lastPlaces)
    (last.body == kEntryBody ? fresh.nextStates : fresh.stacks[last.body].nextStates).push_back({last.state, last.next});
  Node count = makeNode(Op::SizeValue, {Element::Int, {}, {}}), next = makeNode(Op::Add, {Element::Int, {}, {}});
  count.size = fresh.axes[old.walked].size;
  next.operands = {position(), emit(count)};
  fresh.nextStates.push_back({fresh.positionState, emit(next)});
  return std::move(fresh);
}

/// What is prepared sees no places of a call, whose number is that dim in the step: what the dim bounds there is bounded by all
/// places that are kept.
static void boundByCapacity(Entry &prepare, const Entry &whole, const Entry &step) {
  const std::optional<unsigned> walked = walkedDim(whole, whole.walked);
  if (!walked)
    return;
  auto numberOf = [&](const std::string &name) {
    return unsigned(std::find(prepare.dims.begin(), prepare.dims.end(), name) - prepare.dims.begin());
  };
  const unsigned dim = numberOf(whole.dims[*walked]);
  auto isBounded = [&](const Size &size) { return size.coefficients().count(dim) > 0; };
  if (std::none_of(prepare.inputs.begin(), prepare.inputs.end(), [&](const Input &input) { return isBounded(input.bound); }))
    return;
  Size capacity = step.capacity;
  if (!capacity.isConstant()) {
    const unsigned ofStep = capacity.coefficients().begin()->first, own = numberOf(step.dims[ofStep]);
    if (own == prepare.dims.size()) {
      prepare.dims.push_back(step.dims[ofStep]);
      prepare.dimUpperBound.push_back(Size(-1));
      prepare.dimFactors.resize(prepare.dims.size());
    }
    capacity = Size::dim(own);
  }
  auto atCapacity = [&](Size &size) {
    const auto found = size.coefficients().find(dim);
    if (found != size.coefficients().end())
      size = *add(*subtract(size, *multiply(Size::dim(dim), Size(found->second))), *multiply(capacity, Size(found->second)));
  };
  for (Input &input : prepare.inputs)
    atCapacity(input.bound);
  for (State &state : prepare.states)
    if (state.bound)
      atCapacity(*state.bound);
}

std::optional<WalkedEntries> deriveStep(const Entry &entry, Diagnostics &diagnostics) {
  const Entry split = splitFixedParts(entry);
  std::optional<PreparedWalk> prepared = prepareWalk(split);
  auto step = StepDerivation(prepared ? prepared->walk : split, diagnostics).run();
  if (!step)
    return std::nullopt;
  if (!prepared)
    return WalkedEntries{std::move(*step), std::nullopt};
  step->prepare = prepared->prepare.name;
  boundByCapacity(prepared->prepare, split, *step);
  return WalkedEntries{std::move(*step), std::move(prepared->prepare)};
}

} // namespace tenon::sema
