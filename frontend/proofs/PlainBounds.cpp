#include "frontend/proofs/PlainBounds.h"
#include "frontend/proofs/LinearValues.h"
#include <algorithm>

namespace tenon {

static int64_t floorOf(int64_t dividend, int64_t divisor) { // divisor > 0
  return dividend / divisor - (dividend % divisor < 0);
}

std::optional<int64_t> numberAmong(const std::vector<Size> &bounds) {
  for (const Size &bound : bounds)
    if (bound.isConstant())
      return bound.constant();
  return std::nullopt;
}

const Bounds &PlainBounds::of(NodeId root) {
  std::vector<NodeId> open = {root}; // each node after what it is made of; no recursion over the length of a program
  while (!open.empty()) {
    const NodeId id = open.back();
    if (known.count(id)) {
      open.pop_back();
      continue;
    }
    if (work > kMostEffort) {
      wraps = true;
      known.emplace(id, numbers == Numbers::Of32Bits ? number(INT32_MIN, INT32_MAX) : Bounds());
      open.pop_back();
      continue;
    }
    const size_t before = open.size();
    for (NodeId operand : needed(id))
      if (!known.count(operand))
        open.push_back(operand);
    if (open.size() != before)
      continue;
    ++work;
    Bounds made = evaluate(id);
    if (numbers == Numbers::Of32Bits)
      made = in32Bits(id, std::move(made));
    if (auto bound = hints.bounds.find(id); bound != hints.bounds.end())
      made = both(made, places(bound->second));
    known.emplace(id, std::move(made));
    open.pop_back();
  }
  return known.at(root);
}

bool PlainBounds::within(NodeId node, const Size &low, const Size &highExclusive) {
  const Bounds &bounds = of(node);
  return std::any_of(bounds.lows.begin(), bounds.lows.end(),
                     [&](const Size &bound) { return isNonNegative(minus(bound, low)); }) &&
         std::any_of(bounds.highs.begin(), bounds.highs.end(),
                     [&](const Size &bound) { return isNonNegative(minus(minus(highExclusive, bound), Size(1))); });
}

bool PlainBounds::isNonNegative(const std::optional<Size> &form) const { return form && plainlyNonNegative(*form, entry); }

bool PlainBounds::atLeast(const Bounds &bounds, int64_t least) const {
  return std::any_of(bounds.lows.begin(), bounds.lows.end(),
                     [&](const Size &low) { return isNonNegative(minus(low, Size(least))); });
}

bool PlainBounds::atMost(const Bounds &bounds, int64_t most) const {
  return std::any_of(bounds.highs.begin(), bounds.highs.end(),
                     [&](const Size &high) { return isNonNegative(minus(Size(most), high)); });
}

void PlainBounds::keep(std::vector<Size> &bounds, const std::optional<Size> &bound, bool lower) const {
  if (!bound)
    return;
  auto isBetter = [&](const Size &a, const Size &b) { return a == b || isNonNegative(lower ? minus(a, b) : minus(b, a)); };
  for (const Size &other : bounds)
    if (isBetter(other, *bound))
      return;
  std::erase_if(bounds, [&](const Size &other) { return isBetter(*bound, other); });
  if (bounds.size() < kMostBounds)
    bounds.push_back(*bound);
}

Bounds PlainBounds::places(const Size &count) const {
  Bounds result{{Size(0)}, {}};
  keep(result.highs, minus(count, Size(1)), false);
  return result;
}

/// Of values that keep to `left` and to `right`.
Bounds PlainBounds::both(const Bounds &left, const Bounds &right) const {
  Bounds result = left;
  for (const Size &low : right.lows)
    keep(result.lows, low, true);
  for (const Size &high : right.highs)
    keep(result.highs, high, false);
  return result;
}

/// Of values that keep to `left` or to `right`.
Bounds PlainBounds::either(const Bounds &left, const Bounds &right) const {
  Bounds result;
  for (const Size &a : left.lows)
    for (const Size &b : right.lows)
      keep(result.lows, outerBound(a, b, true, entry), true);
  for (const Size &a : left.highs)
    for (const Size &b : right.highs)
      keep(result.highs, outerBound(a, b, false, entry), false);
  return result;
}

Bounds PlainBounds::sum(const Bounds &left, const Bounds &right) const {
  Bounds result;
  for (const Size &a : left.lows)
    for (const Size &b : right.lows)
      keep(result.lows, add(a, b), true);
  for (const Size &a : left.highs)
    for (const Size &b : right.highs)
      keep(result.highs, add(a, b), false);
  return result;
}

Bounds PlainBounds::times(const Bounds &bounds, const Size &factor) const {
  Bounds result;
  const bool turns = factor.constant() < 0;
  for (const Size &low : bounds.lows)
    keep(turns ? result.highs : result.lows, multiply(low, factor), !turns);
  for (const Size &high : bounds.highs)
    keep(turns ? result.lows : result.highs, multiply(high, factor), turns);
  return result;
}

Bounds PlainBounds::product(const Bounds &left, const Bounds &right) const {
  for (const Bounds *side : {&left, &right}) // exactly one number
    if (auto low = numberAmong(side->lows), high = numberAmong(side->highs); low && high && *low == *high)
      return times(side == &left ? right : left, Size(*low));
  const auto leftLow = numberAmong(left.lows), leftHigh = numberAmong(left.highs), rightLow = numberAmong(right.lows),
             rightHigh = numberAmong(right.highs);
  Bounds result;
  if (leftLow && leftHigh && rightLow && rightHigh) {
    std::vector<int64_t> corners(4);
    bool overflows = false;
    for (size_t i = 0; i < 4; ++i)
      overflows |= __builtin_mul_overflow(i & 1 ? *leftHigh : *leftLow, i & 2 ? *rightHigh : *rightLow, &corners[i]);
    if (!overflows)
      return number(*std::min_element(corners.begin(), corners.end()), *std::max_element(corners.begin(), corners.end()));
  }
  if (!atLeast(left, 0) || !atLeast(right, 0))
    return result;
  result.lows.push_back(Size(0));
  for (const Size &a : left.highs)
    for (const Size &b : right.highs)
      keep(result.highs, multiply(a, b), false);
  return result;
}

Bounds PlainBounds::extremum(const Bounds &left, const Bounds &right, bool maximum) const {
  Bounds outer = either(left, right), inner = both(left, right);
  return maximum ? Bounds{inner.lows, outer.highs} : Bounds{outer.lows, inner.highs};
}

Bounds PlainBounds::absolute(const Bounds &bounds) const {
  return both(extremum(bounds, times(bounds, Size(-1)), true), {{Size(0)}, {}});
}

/// `div` and `mod` round down.
Bounds PlainBounds::quotient(const Bounds &dividend, const Bounds &divisor) const {
  const auto low = numberAmong(divisor.lows), high = numberAmong(divisor.highs);
  const bool isNumber = low && high && *low == *high && *low != 0 && *low != INT64_MIN;
  if (isNumber && *low < 0) // x div n = -x div -n
    return quotient(times(dividend, Size(-1)), times(divisor, Size(-1)));
  if (!isNumber && !atLeast(divisor, 1))
    return {};
  Bounds result;
  for (bool lower : {true, false})
    for (const Size &bound : lower ? dividend.lows : dividend.highs) {
      std::vector<Size> &made = lower ? result.lows : result.highs;
      if (isNumber && bound.isConstant())
        keep(made, Size(floorOf(bound.constant(), *low)), lower);
      else if (std::optional<Size> exact = isNumber ? divideExactly(bound, *low) : std::nullopt)
        keep(made, exact, lower);
      else if (isNonNegative(bound)) // 0 <= x div n <= x
        keep(made, lower ? Size(0) : bound, lower);
      else if (isNonNegative(multiply(bound, Size(-1)))) // x <= x div n, and below 0
        keep(made, lower ? bound : Size(0), lower);
    }
  return result;
}

Bounds PlainBounds::rest(const Bounds &dividend, const Bounds &divisor) const {
  Bounds result;
  if (atLeast(divisor, 1)) {
    result.lows.push_back(Size(0));
    for (const Size &high : divisor.highs)
      keep(result.highs, minus(high, Size(1)), false);
    if (!atLeast(dividend, 0))
      return result;
    for (const Size &high : dividend.highs) // x mod n <= x, and x itself where x < n
      keep(result.highs, high, false);
    for (const Size &last : dividend.highs)
      for (const Size &least : divisor.lows)
        if (isNonNegative(minus(minus(least, last), Size(1))))
          return both(result, dividend);
  } else if (atMost(divisor, -1)) {
    result.highs.push_back(Size(0));
    for (const Size &low : divisor.lows)
      keep(result.lows, add(low, Size(1)), true);
  }
  return result;
}

/// n elements of low .. high sum to n*low .. n*high, a running sum to at most that.
Bounds PlainBounds::total(const Node &node) const {
  std::optional<Size> count = Size(1);
  for (AxisId axis : node.axesFrom)
    count = count ? multiply(*count, entry.axes[axis].size) : std::nullopt;
  const Bounds &terms = operand(node, 0);
  Bounds result;
  if (atLeast(terms, 0))
    result.lows.push_back(Size(0));
  for (const Size &high : terms.highs)
    if (isNonNegative(high))
      keep(result.highs, count ? multiply(high, *count) : std::nullopt, false);
  return result;
}

/// What stands in a window is an element, or outside of the tensor `fill`.
Bounds PlainBounds::windows(const Node &node) const {
  auto isPadded = [](const WindowSteps &steps) { return steps.padLow || steps.padHigh; };
  const bool padded = std::any_of(node.windows.begin(), node.windows.end(), isPadded);
  return padded ? either(operand(node, 0), number(int64_t(node.number), int64_t(node.number))) : operand(node, 0);
}

/// Every element is one of the first operand.
static bool picksElements(Op op) {
  switch (op) {
  case Op::Expand:
  case Op::Transpose:
  case Op::StopGradient:
  case Op::Rename:
  case Op::Slice:
  case Op::Flip:
  case Op::Gather:
  case Op::Merge:
  case Op::Split:
  case Op::ReduceMax:
  case Op::ReduceMin:
    return true;
  default:
    return false;
  }
}

std::vector<NodeId> PlainBounds::needed(NodeId id) const {
  const Node &node = entry.nodes[id];
  if (node.type.element != Element::Int)
    return {};
  if (picksElements(node.op))
    return {node.operands[0]};
  switch (node.op) {
  case Op::Neg:
  case Op::Abs:
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Max:
  case Op::Min:
  case Op::Mod:
  case Op::FloorDiv:
  case Op::Concat:
    return node.operands;
  case Op::Select:
    return {node.operands[1], node.operands[2]};
  case Op::Put:
    return {node.operands[0], node.operands[2]};
  case Op::Sum:
  case Op::Cumsum:
  case Op::Window:
    return {node.operands[0]};
  case Op::Result:
    return loopResult(node);
  case Op::BodyArgument:
    if (std::optional<NodeId> outside = constantArgument(entry, node))
      return {*outside};
    return {};
  default:
    return {};
  }
}

Bounds PlainBounds::evaluate(NodeId id) const {
  const Node &node = entry.nodes[id];
  if (node.type.element == Element::Bool)
    return number(0, 1);
  if (node.type.element != Element::Int)
    return {};
  if (picksElements(node.op))
    return operand(node, 0);
  switch (node.op) {
  case Op::Constant:
    return number(node.integer, node.integer);
  case Op::SizeValue:
    return {{node.size}, {node.size}};
  case Op::Iota:
    return places(entry.axes[node.type.axes.at(0)].size);
  case Op::Input:
    return entry.inputs[node.index].isIndex ? places(entry.inputs[node.index].bound) : Bounds();
  case Op::Depth:
    if (auto range = depthRange(entry, node))
      return {{range->first}, {range->second}};
    return {{Size(0)}, {}};
  case Op::ArgMax:
  case Op::Sample:
    return places(entry.axes[node.axesFrom.at(0)].size);
  case Op::Result: {
    const Node &maker = entry.nodes[node.operands[0]];
    if (maker.op == Op::Top && node.index == 1)
      return places(entry.axes[maker.axesFrom.at(0)].size);
    const std::vector<NodeId> made = loopResult(node);
    if (made.empty())
      return {};
    return made.size() == 1 ? known.at(made[0]) : either(known.at(made[0]), known.at(made[1]));
  }
  case Op::BodyArgument:
    if (std::optional<NodeId> outside = constantArgument(entry, node))
      return known.at(*outside);
    return {};
  default:
    return arithmetic(node);
  }
}

Bounds PlainBounds::arithmetic(const Node &node) const {
  switch (node.op) {
  case Op::Neg:
    return times(operand(node, 0), Size(-1));
  case Op::Abs:
    return absolute(operand(node, 0));
  case Op::Add:
    return sum(operand(node, 0), operand(node, 1));
  case Op::Sub:
    return sum(operand(node, 0), times(operand(node, 1), Size(-1)));
  case Op::Mul:
    return product(operand(node, 0), operand(node, 1));
  case Op::Max:
  case Op::Min:
    return extremum(operand(node, 0), operand(node, 1), node.op == Op::Max);
  case Op::FloorDiv:
    return quotient(operand(node, 0), operand(node, 1));
  case Op::Mod:
    return rest(operand(node, 0), operand(node, 1));
  case Op::Select:
    return either(operand(node, 1), operand(node, 2));
  case Op::Put: // slots of x may be overwritten
    return either(operand(node, 0), operand(node, 2));
  case Op::Concat: {
    Bounds all = operand(node, 0);
    for (size_t i = 1; i < node.operands.size(); ++i)
      all = either(all, operand(node, i));
    return all;
  }
  case Op::Sum:
  case Op::Cumsum:
    return total(node);
  case Op::Window:
    return windows(node);
  default:
    return {};
  }
}

} // namespace tenon
