#include "frontend/proofs/LinearValues.h"
#include "frontend/DeepStack.h"
#include <algorithm>

namespace tenon {

bool LinearValues::appendCase(Cases &cases, const Conjunction &first, const Conjunction &second,
                              const std::optional<Form> &value) {
  if (!value || cases.size() >= LinearValues::kMaxCases)
    return false;
  ValueCase made{first, *value};
  made.when.insert(made.when.end(), second.begin(), second.end());
  cases.push_back(std::move(made));
  return true;
}

LinearValues::LinearValues(const Entry &entry, const ProofHints &hints) : entry(entry), hints(hints), plain(entry, hints) {
  for (size_t i = 0; i < entry.dims.size(); ++i) {
    Variable dim;
    dim.name = entry.dims[i];
    list.push_back(dim);
  }
}

Form LinearValues::fresh(std::string name, std::optional<Form> low, std::optional<Form> high) {
  list.push_back({std::move(name), std::move(low), std::move(high), {}});
  return Form::dim(unsigned(list.size() - 1));
}

Form LinearValues::freshPlace(AxisId axis) {
  auto binder = hints.placeNames.find(axis);
  const Axis &info = entry.axes[axis];
  return fresh(binder != hints.placeNames.end() ? binder->second : "place on " + info.name, Form(0), minus(info.size, Form(1)));
}

Form LinearValues::place(AxisId axis, const Places &places) {
  if (auto found = places.find(axis); found != places.end())
    return found->second;
  auto [entryOfAxis, isNew] = freePlaces.try_emplace(axis, Form(0));
  if (isNew)
    entryOfAxis->second = freshPlace(axis);
  return entryOfAxis->second;
}

LinearValues::Key LinearValues::keyOf(NodeId node, const Places &places) {
  Key key{node, {}};
  for (AxisId axis : entry.nodes[node].type.axes)
    key.second.push_back(place(axis, places));
  return key;
}

Form LinearValues::unknown(NodeId node, const Places &places, std::optional<Form> low, std::optional<Form> high) {
  Key key = keyOf(node, places);
  if (auto found = unknowns.find(key); found != unknowns.end())
    return found->second;
  if (auto bound = hints.bounds.find(node); bound != hints.bounds.end()) {
    low = Form(0);
    high = minus(bound->second, Form(1));
  }
  const Node &info = entry.nodes[node];
  std::string name;
  if (info.op == Op::Input && info.index < entry.inputs.size())
    name = entry.inputs[info.index].name;
  else if (info.op == Op::State && info.index < entry.states.size())
    name = entry.states[info.index].path;
  else if (info.op == Op::Depth)
    name = info.stack < entry.stacks.size() && entry.stacks[info.stack].isScan ? entry.stacks[info.stack].place : "depth";
  const Bounds &bounds = plain.of(node);
  auto tightest = [&](std::optional<Form> bound, const std::vector<Form> &others, bool lower) {
    for (const Form &other : others)
      if (auto better = bound ? outerBound(*bound, other, !lower, entry) : other)
        bound = better;
    return bound;
  };
  Form made = fresh(name, tightest(low, bounds.lows, true), tightest(high, bounds.highs, false));
  list.back().further = bounds;
  unknowns.emplace(std::move(key), made);
  return made;
}

Cases LinearValues::opaque(NodeId node, const Places &places) {
  const bool isBool = entry.nodes[node].type.element == Element::Bool;
  return {
      {{},
       unknown(node, places, isBool ? std::optional<Form>(0) : std::nullopt, isBool ? std::optional<Form>(1) : std::nullopt)}};
}

Cases LinearValues::value(NodeId node, const Places &places) {
  Key key = keyOf(node, places);
  if (auto found = values.find(key); found != values.end())
    return found->second;
  Cases cases;
  if (work > kMostEffort)
    cases = opaque(node, places);
  else if (!stackIsLow())
    cases = evaluate(node, places);
  else if (!runOnNewStack([&] { cases = evaluate(node, places); }))
    cases = opaque(node, places);
  if (work > kMostEffort) // a chain has been entered as a whole before its first value is known
    cases = opaque(node, places);
  for (const ValueCase &each : cases)
    if (each.when.size() > kMaxConstraints) {
      cases = collapsed(node, places, cases);
      break;
    }
  addFacts(node, cases);
  for (const ValueCase &each : cases)
    work += 1 + each.when.size();
  values.emplace(std::move(key), cases);
  return cases;
}

bool LinearValues::isWithin(const Form &form, const Form &bound) const {
  Interval range = intervalOf(form, list, entry.dims.size());
  std::optional<Form> room = minus(minus(bound, range.high), Form(1));
  return range.low && room && plainlyNonNegative(*range.low, entry) && plainlyNonNegative(*room, entry);
}

void LinearValues::addFacts(NodeId node, Cases &cases) const {
  auto bound = hints.bounds.find(node);
  if (bound == hints.bounds.end())
    return;
  for (ValueCase &each : cases)
    if (!isWithin(each.value, bound->second))
      if (std::optional<Form> room = minus(minus(bound->second, each.value), Form(1))) {
        each.when.push_back({each.value, false});
        each.when.push_back({*room, false});
      }
}

Cases LinearValues::collapsed(NodeId node, const Places &places, const Cases &cases) {
  std::optional<Interval> all;
  for (const ValueCase &each : cases) {
    Interval range = intervalOf(each.value, list, entry.dims.size());
    all = all ? Interval{outerBound(all->low, range.low, true, entry), outerBound(all->high, range.high, false, entry)} : range;
  }
  if (!all)
    return cases; // it has no value: the conditions around it exclude each other
  return {{{}, unknown(node, places, all->low, all->high)}};
}

void LinearValues::fewer(const Node &node, const Places &places, Cases &left, Cases &right, size_t most) {
  if (left.size() * right.size() <= most)
    return;
  const bool leftFirst = left.size() >= right.size();
  Cases &larger = leftFirst ? left : right, &smaller = leftFirst ? right : left;
  larger = collapsed(node.operands[leftFirst ? 0 : 1], places, larger);
  if (left.size() * right.size() > most)
    smaller = collapsed(node.operands[leftFirst ? 1 : 0], places, smaller);
}

Cases LinearValues::evaluate(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  if (auto from = sources(id, places)) {
    Cases cases;
    for (const Source &source : *from)
      for (const ValueCase &each : value(source.node, source.places)) {
        cases.push_back({source.when, each.value});
        cases.back().when.insert(cases.back().when.end(), each.when.begin(), each.when.end());
      }
    work += cases.size();
    return cases.size() > kMaxCases ? collapsed(id, places, cases) : cases;
  }
  if (node.type.element == Element::Bool)
    return truthAsNumber(id, places);
  switch (node.op) {
  case Op::Constant:
  case Op::SizeValue:
  case Op::Iota:
  case Op::Input:
  case Op::Depth:
    return leaf(id, places);
  case Op::Neg:
  case Op::Abs:
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Max:
  case Op::Min:
    return arithmetic(id, places);
  case Op::Mod:
  case Op::FloorDiv:
    return quotient(id, places);
  case Op::Select:
    return select(id, places);
  case Op::Put:
    return put(id, places);
  case Op::Window:
    return window(id, places);
  default:
    return reduction(id, places);
  }
}

Cases LinearValues::leaf(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  switch (node.op) {
  case Op::Constant:
    return {{{}, Form(node.integer)}};
  case Op::SizeValue:
    return {{{}, node.size}};
  case Op::Iota:
    return {{{}, place(node.type.axes.at(0), places)}};
  case Op::Input: {
    const Input &input = entry.inputs[node.index];
    if (input.isIndex)
      return {{{}, unknown(id, places, Form(0), minus(input.bound, Form(1)))}};
    return opaque(id, places);
  }
  default: { // Depth
    const auto range = depthRange(entry, node);
    return {{{}, unknown(id, places, range ? range->first : Form(0), range ? std::optional(range->second) : std::nullopt)}};
  }
  }
}

Cases LinearValues::select(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  Cases result;
  for (bool taken : {true, false}) {
    const NodeId side = node.operands[taken ? 1 : 2];
    Alternatives ways = truth(node.operands[0], taken, places);
    Cases cases = value(side, places);
    if (ways.size() * cases.size() > kMaxCases / 2)
      cases = collapsed(side, places, cases);
    if (ways.size() * cases.size() > kMaxCases / 2)
      ways = Alternatives{{}};
    for (const Conjunction &when : ways)
      for (const ValueCase &each : cases)
        if (!appendCase(result, when, each.when, each.value))
          return opaque(id, places);
  }
  return result;
}

/// Slots of x may be overwritten: an element is x's, or any of the values put.
Cases LinearValues::put(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  Cases result = value(node.operands[0], places);
  Places inValue = places;
  const std::vector<AxisId> &kept = entry.nodes[node.operands[0]].type.axes;
  for (AxisId axis : entry.nodes[node.operands[2]].type.axes)
    if (std::find(kept.begin(), kept.end(), axis) == kept.end())
      inValue[axis] = freshPlace(axis);
  const Cases put = value(node.operands[2], inValue);
  result.insert(result.end(), put.begin(), put.end());
  return result.size() > kMaxCases ? collapsed(id, places, result) : result;
}

/// Place k of window i is the element at stride i + dilation k - pad, `fill` where that is outside.
Cases LinearValues::window(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  Places inside = places;
  Conjunction when;
  Cases result;
  for (size_t i = 0; i < node.axesFrom.size(); ++i) {
    const WindowSteps &steps = node.windows[i];
    auto at = plus(multiply(place(node.axesTo[2 * i], places), Size(steps.stride)),
                   multiply(place(node.axesTo[2 * i + 1], places), Size(steps.dilation)));
    at = minus(at, Form(steps.padLow));
    auto room = minus(minus(entry.axes[node.axesFrom[i]].size, at), Form(1));
    if (!room)
      return opaque(id, places);
    inside[node.axesFrom[i]] = *at;
    when.insert(when.end(), {{*at, false}, {*room, false}});
    const auto before = minus(Form(-1), at), behind = minus(Form(-1), room);
    if (!before || !behind)
      return opaque(id, places);
    if (steps.padLow)
      result.push_back({{{*before, false}}, Form(int64_t(node.number))});
    if (steps.padHigh)
      result.push_back({{{*behind, false}}, Form(int64_t(node.number))});
  }
  for (const ValueCase &each : value(node.operands[0], inside))
    if (!appendCase(result, when, each.when, each.value))
      return opaque(id, places);
  return result;
}

Cases LinearValues::reduction(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  auto lastOf = [&](AxisId axis) { return minus(entry.axes[axis].size, Form(1)); };
  switch (node.op) {
  case Op::ArgMax:
  case Op::Sample:
    return {{{}, unknown(id, places, Form(0), lastOf(node.axesFrom.at(0)))}};
  case Op::Result: {
    const Node &maker = entry.nodes[node.operands[0]];
    if (maker.op == Op::Top && node.index == 1)
      return {{{}, unknown(id, places, Form(0), lastOf(maker.axesFrom.at(0)))}};
    return opaque(id, places);
  }
  case Op::ReduceMax:
  case Op::ReduceMin: { // the value is that of some element
    Places inside = places;
    for (AxisId axis : node.axesFrom)
      inside[axis] = freshPlace(axis);
    return value(node.operands[0], inside);
  }
  case Op::Sum:
  case Op::Cumsum: { // n elements of low .. high sum to n*low .. n*high, a running sum to at most that
    if (entry.nodes[node.operands[0]].type.element == Element::Real)
      return opaque(id, places);
    std::optional<Form> count = Form(1);
    for (AxisId axis : node.axesFrom)
      count = count ? multiply(*count, entry.axes[axis].size) : std::nullopt;
    std::optional<Form> low = Form(0), high = Form(0);
    Places inside = places;
    for (AxisId axis : node.axesFrom)
      inside[axis] = freshPlace(axis);
    for (const ValueCase &each : value(node.operands[0], inside)) {
      Interval range = intervalOf(each.value, list, entry.dims.size());
      if (!range.low || !plainlyNonNegative(*range.low, entry))
        low = std::nullopt;
      if (!high || !range.high)
        high = std::nullopt;
      else if (std::optional<Form> more = minus(range.high, high);
               !more || !plainlyNonNegative(*multiply(*more, Form(-1)), entry))
        high = more && plainlyNonNegative(*more, entry) ? range.high : std::nullopt;
    }
    return {{{}, unknown(id, places, low, high && count ? multiply(*high, *count) : std::nullopt)}};
  }
  default:
    return opaque(id, places);
  }
}

Cases LinearValues::truthAsNumber(NodeId id, const Places &places) {
  const Op op = entry.nodes[id].op;
  const bool decided = op == Op::Constant || op == Op::Equal || op == Op::NotEqual || op == Op::Less || op == Op::LessEqual ||
                       op == Op::And || op == Op::Or || op == Op::Not || op == Op::Select;
  if (!decided)
    return opaque(id, places);
  Cases result;
  for (bool wanted : {true, false})
    for (const Conjunction &when : truth(id, wanted, places))
      if (!appendCase(result, when, {}, Form(wanted ? 1 : 0)))
        return {{{}, unknown(id, places, Form(0), Form(1))}};
  return result;
}

} // namespace tenon
