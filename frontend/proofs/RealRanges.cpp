#include "frontend/proofs/RealRanges.h"
#include "frontend/proofs/PlainBounds.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostShort = 65504, kLeastShort = 1.0 / 16384; // of f16, in whose range bf16 has fewer digits
constexpr double kRoom = 1.0 / 64;                              // more than a rounding to bf16 or an approximation takes

/// A number that bf16 and f16 have, too.
bool isShort(double x) {
  int exponent = 0;
  const double digits = std::ldexp(std::frexp(x, &exponent), 8);
  return x == 0 || (digits == std::floor(digits) && std::fabs(x) <= kMostShort && std::fabs(x) >= kLeastShort);
}
/// What may become of a bound where it is rounded; beyond the range of f16 it may be infinite, near 0 it may be 0.
double rounded(double x, bool up) {
  if (isShort(x) || std::isinf(x))
    return x;
  if (std::fabs(x) > kMostShort)
    return (x > 0) == up ? (up ? kInfinity : -kInfinity) : (x > 0 ? kMostShort : -kMostShort);
  if (std::fabs(x) < kLeastShort)
    return (x > 0) == up ? (up ? kLeastShort : -kLeastShort) : 0;
  return x + (up ? 1 : -1) * std::fabs(x) * kRoom;
}
RealRange widened(double low, double high, bool mayBeNan) { return {rounded(low, false), rounded(high, true), mayBeNan}; }

RealRange either(const RealRange &a, const RealRange &b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.mayBeNan || b.mayBeNan};
}
RealRange truth(bool mayFail, bool mayHold) { return {mayFail ? 0.0 : 1.0, mayHold ? 1.0 : 0.0, false}; }
bool mayFail(const RealRange &truth) { return truth.low < 0.5; }
bool mayHold(const RealRange &truth) { return truth.high > 0.5; }
bool isInfinite(const RealRange &x) { return std::isinf(x.low) || std::isinf(x.high); }
bool isPowerOfTwo(double x) {
  int exponent = 0;
  return x == 0 || std::fabs(std::frexp(x, &exponent)) == 0.5;
}

RealRange sum(const RealRange &a, const RealRange &b) {
  const bool opposite = (a.high == kInfinity && b.low == -kInfinity) || (a.low == -kInfinity && b.high == kInfinity);
  const bool mayBeNan = a.mayBeNan || b.mayBeNan || opposite;
  return widened(a.low == -kInfinity || b.low == -kInfinity ? -kInfinity : a.low + b.low,
                 a.high == kInfinity || b.high == kInfinity ? kInfinity : a.high + b.high, mayBeNan);
}
RealRange negated(const RealRange &a) { return {-a.high, -a.low, a.mayBeNan}; }

RealRange product(const RealRange &a, const RealRange &b) {
  auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  const double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)};
  auto hasZero = [](const RealRange &x) { return x.low <= 0 && x.high >= 0; };
  const bool mayBeNan = a.mayBeNan || b.mayBeNan || (hasZero(a) && isInfinite(b)) || (hasZero(b) && isInfinite(a));
  return widened(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4), mayBeNan);
}
RealRange absolute(const RealRange &a) {
  const double high = std::max(-a.low, a.high);
  return {a.low >= 0 ? a.low : a.high <= 0 ? -a.high : 0, high, a.mayBeNan};
}
/// A number only where both are.
RealRange larger(const RealRange &a, const RealRange &b) {
  return {std::max(a.low, b.low), std::max(a.high, b.high), a.mayBeNan || b.mayBeNan};
}

} // namespace

static RealRange anyReal() { return {-kInfinity, kInfinity, true}; }

std::vector<NodeId> RealRanges::needed(NodeId id) const {
  const Node &node = entry.nodes[id];
  switch (node.op) {
  case Op::Stack:
  case Op::Scan:
  case Op::Result:
  case Op::Attend:
    return {};
  case Op::BodyArgument:
    if (auto outside = node.stack == carriesOf && node.index < carries.size() ? std::nullopt : constantArgument(entry, node))
      return {*outside};
    return {};
  default:
    return {node.operands.begin(), node.operands.end()};
  }
}

const RealRange &RealRanges::of(NodeId root) {
  std::vector<NodeId> open = {root}; // each node after what it is made of
  while (!open.empty()) {
    const NodeId id = open.back();
    if (known.count(id)) {
      open.pop_back();
      continue;
    }
    const size_t before = open.size();
    if (++work <= kMostEffort)
      for (NodeId operand : needed(id))
        if (!known.count(operand))
          open.push_back(operand);
    if (open.size() != before)
      continue;
    const Node &node = entry.nodes[id];
    RealRange made = work <= kMostEffort ? evaluate(node) : anyReal();
    if (node.type.element == Element::Bool)
      made = {std::max(made.low, 0.0), std::min(made.high, 1.0), false};
    if (node.type.element == Element::Int)
      made.mayBeNan = false;
    known.emplace(id, made);
    open.pop_back();
  }
  return known.at(root);
}

/// Each bound that a round moves is given up, until none is moved.
void RealRanges::assumeCarries(uint32_t body, const std::vector<NodeId> &initial, const std::vector<NodeId> &results) {
  carries.clear();
  for (NodeId node : initial)
    carries.push_back(of(node));
  carriesOf = body;
  for (bool moved = true; moved;) {
    moved = false;
    known.clear();
    std::vector<RealRange> next;
    for (size_t i = 0; i < carries.size(); ++i) {
      const RealRange &now = carries[i], &after = of(results[i]);
      next.push_back({after.low < now.low ? -kInfinity : now.low, after.high > now.high ? kInfinity : now.high,
                      now.mayBeNan || after.mayBeNan});
      moved |= next.back() != now;
    }
    carries = next;
  }
}

RealRange RealRanges::inRounds(uint32_t body, const std::vector<NodeId> &initial, const std::vector<NodeId> &results,
                               NodeId condition, int64_t count) {
  carries.clear();
  for (NodeId node : initial)
    carries.push_back(of(node));
  carriesOf = body;
  RealRange all = truth(true, false);
  std::vector<RealRange> ever = carries;
  for (int64_t round = 0; round < count; ++round) {
    depth = {double(round), double(round), false};
    known.clear();
    const RealRange now = of(condition);
    all = round == 0 ? now : either(all, now);
    if (mayHold(now))
      break;
    std::vector<RealRange> next;
    for (NodeId result : results)
      next.push_back(of(result));
    for (size_t i = 0; i < ever.size() && round + 1 < count; ++i)
      ever[i] = either(ever[i], next[i]);
    carries = next;
  }
  depth = {0, double(count), false};
  carries = ever;
  known.clear();
  return all;
}

RealRange RealRanges::argument(const Node &node) const {
  if (node.stack == carriesOf && node.index < carries.size())
    return carries[node.index];
  auto outside = constantArgument(entry, node);
  return outside ? known.at(*outside) : anyReal();
}

RealRange RealRanges::evaluate(const Node &node) const {
  switch (node.op) {
  case Op::Constant:
    if (node.type.element != Element::Real)
      return {double(node.integer), double(node.integer), false};
    return widened(node.number, node.number, std::isnan(node.number));
  case Op::SizeValue: {
    const auto size = node.size.asConstant();
    return size ? RealRange{double(*size), double(*size), false} : RealRange{0, kInfinity, false};
  }
  case Op::Depth:
    return node.stack == carriesOf ? depth : RealRange{0, kInfinity, false};
  case Op::Iota:
    return {0, kInfinity, false};
  case Op::BodyArgument:
    return argument(node);
  case Op::Rename:
  case Op::Merge:
  case Op::Split:
  case Op::Expand:
  case Op::Transpose:
  case Op::Slice:
  case Op::Gather:
  case Op::Flip:
  case Op::StopGradient:
  case Op::ReduceMax:
  case Op::ReduceMin:
  case Op::All:
  case Op::Any:
    return operand(node, 0);
  case Op::ToReal:
    return widened(operand(node, 0).low, operand(node, 0).high, false);
  case Op::Concat: {
    RealRange all = operand(node, 0);
    for (size_t i = 1; i < node.operands.size(); ++i)
      all = either(all, operand(node, i));
    return all;
  }
  case Op::Sum:
    return total(node);
  case Op::Softmax:
    return {0, 1, true};
  case Op::Stack:
  case Op::Scan:
  case Op::Result:
  case Op::Attend:
    return anyReal();
  case Op::Equal:
  case Op::NotEqual:
  case Op::Less:
  case Op::LessEqual:
  case Op::And:
  case Op::Or:
  case Op::Not:
    return comparison(node);
  default:
    return node.type.element == Element::Int ? wholeNumbers(node) : arithmetic(node);
  }
}

/// Whole numbers are not rounded, but go on from the smallest where they pass the largest.
RealRange RealRanges::wholeNumbers(const Node &node) const {
  constexpr double low = std::numeric_limits<int32_t>::min(), high = std::numeric_limits<int32_t>::max();
  const RealRange any{low, high, false};
  auto inRange = [&](double a, double b) { // infinite bounds are such of values that nobody counts so far
    return (std::isfinite(a) && a < low) || (std::isfinite(b) && b > high) ? any : RealRange{a, b, false};
  };
  if (node.operands.size() != 2 || (node.op != Op::Add && node.op != Op::Sub && node.op != Op::Mul))
    return arithmetic(node);
  const RealRange &a = operand(node, 0);
  const RealRange b = node.op == Op::Sub ? negated(operand(node, 1)) : operand(node, 1);
  if (node.op != Op::Mul)
    return inRange(a.low + b.low, a.high + b.high);
  if (isInfinite(a) || isInfinite(b))
    return arithmetic(node);
  const auto [least, most] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return inRange(least, most);
}

RealRange RealRanges::comparison(const Node &node) const {
  const RealRange &a = operand(node, 0);
  if (node.op == Op::Not)
    return truth(mayHold(a), mayFail(a));
  const RealRange &b = operand(node, 1);
  const bool isNan = a.mayBeNan || b.mayBeNan;
  const bool mayDiffer = isNan || a.low != a.high || b.low != b.high || a.low != b.low,
             mayMeet = a.low <= b.high && b.low <= a.high;
  switch (node.op) {
  case Op::And:
    return truth(mayFail(a) || mayFail(b), mayHold(a) && mayHold(b));
  case Op::Or:
    return truth(mayFail(a) && mayFail(b), mayHold(a) || mayHold(b));
  case Op::Equal:
    return truth(mayDiffer, mayMeet);
  case Op::NotEqual:
    return truth(mayMeet, mayDiffer);
  case Op::Less:
    return truth(isNan || a.high >= b.low, a.low < b.high);
  default: // LessEqual
    return truth(isNan || a.high > b.low, a.low <= b.high);
  }
}

RealRange RealRanges::arithmetic(const Node &node) const {
  if (node.operands.empty() || node.type.element == Element::Bool)
    return anyReal();
  const RealRange &a = operand(node, 0);
  switch (node.op) {
  case Op::Neg:
    return negated(a);
  case Op::Abs:
    return absolute(a);
  case Op::Round:
    return widened(std::nearbyint(a.low), std::nearbyint(a.high), a.mayBeNan);
  case Op::Floor:
    return widened(std::floor(a.low), std::floor(a.high), a.mayBeNan);
  case Op::Ceil:
    return widened(std::ceil(a.low), std::ceil(a.high), a.mayBeNan);
  case Op::Relu:
    return {std::max(a.low, 0.0), std::max(a.high, 0.0), a.mayBeNan};
  case Op::Exp:
    return widened(std::exp(a.low) * (1 - kRoom), std::exp(a.high) * (1 + kRoom), a.mayBeNan);
  case Op::Sqrt:
    return widened(0, a.high > 0 ? std::sqrt(a.high) : 0, a.mayBeNan || a.low < 0);
  case Op::Sin:
  case Op::Cos: // polynomials may be a unit above 1
    return {-1 - kRoom, 1 + kRoom, a.mayBeNan || isInfinite(a)};
  case Op::Tanh:
    return {a.low >= 0 ? 0.0 : -1.0, a.high <= 0 ? 0.0 : 1.0, a.mayBeNan};
  case Op::Sigmoid:
    return {0, 1, a.mayBeNan};
  case Op::Add:
    return sum(a, operand(node, 1));
  case Op::Sub:
    return sum(a, negated(operand(node, 1)));
  case Op::Mul: {
    RealRange made = product(a, operand(node, 1));
    if (node.operands[0] == node.operands[1])
      made = {std::max(made.low, 0.0), made.high, a.mayBeNan};
    return made;
  }
  case Op::Div:
    return quotient(node);
  case Op::Max:
    return larger(a, operand(node, 1));
  case Op::Min:
    return negated(larger(negated(a), negated(operand(node, 1))));
  case Op::Select:
    return !mayHold(a) ? operand(node, 2) : !mayFail(a) ? operand(node, 1) : either(operand(node, 1), operand(node, 2));
  default:
    return anyReal();
  }
}

/// Of several terms each is in the range, and the number of terms, where it is known, times the bounds bounds them: partial sums
/// of that many short numbers are exact in f32.
RealRange RealRanges::total(const Node &node) const {
  constexpr double mostTerms = 65536;
  const RealRange &x = operand(node, 0);
  double count = 1;
  for (AxisId axis : node.axesFrom)
    count *= double(entry.axes[axis].size.asConstant().value_or(0));
  const bool mayBeNan = x.mayBeNan || (x.low == -kInfinity && x.high == kInfinity);
  if (count >= 1 && count <= mostTerms && isShort(x.low) && isShort(x.high))
    return widened(count * x.low, count * x.high, mayBeNan);
  return {x.low >= 0 ? 0 : -kInfinity, x.high <= 0 ? 0 : kInfinity, mayBeNan};
}

/// A sum over the number of its terms.
bool RealRanges::isMean(const Node &node) const {
  const Node &total = entry.nodes[node.operands[0]];
  const Node *count = &entry.nodes[node.operands[1]];
  if (count->op == Op::ToReal)
    count = &entry.nodes[count->operands[0]];
  if (total.op != Op::Sum || total.axesFrom.empty() || count->op != Op::SizeValue)
    return false;
  Size terms = 1;
  for (AxisId axis : total.axesFrom) {
    auto product = multiply(terms, entry.axes[axis].size);
    if (!product)
      return false;
    terms = *product;
  }
  return terms == count->size;
}

RealRange RealRanges::quotient(const Node &node) const {
  if (isMean(node)) {
    const RealRange &x = known.at(entry.nodes[node.operands[0]].operands[0]);
    const bool mayBeNan = operand(node, 0).mayBeNan;
    // Partial sums of powers of two are exact, and so is what they are rounded to beyond that no larger; others get room.
    auto bound = [](double of, bool up) { return isPowerOfTwo(of) || std::isinf(of) ? of : rounded(of * (1 + 1e-6), up); };
    return {bound(x.low, false), bound(x.high, true), mayBeNan};
  }
  const RealRange &a = operand(node, 0), &b = operand(node, 1);
  if (!(b.low > 0 || b.high < 0))
    return anyReal();
  const RealRange inverse{b.high == kInfinity ? 0 : 1 / b.high, b.low == -kInfinity ? 0 : 1 / b.low, b.mayBeNan};
  RealRange made = product(a, inverse);
  made.mayBeNan |= isInfinite(a) && isInfinite(b);
  return made;
}

} // namespace tenon
