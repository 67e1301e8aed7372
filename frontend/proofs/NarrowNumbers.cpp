// Bounds of whole numbers as code has them, which keeps 32 bits of each.
#include "frontend/proofs/PlainBounds.h"
#include <algorithm>
#include <cstdlib>
#include <set>

namespace tenon {

/// Whether an operation makes numbers that may be larger than those it is given.
static bool growsNumbers(Op op) {
  switch (op) {
  case Op::Neg:
  case Op::Abs:
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Sum:
  case Op::Cumsum:
  case Op::FloorDiv: // the least number by -1
    return true;
  default:
    return false;
  }
}

/// Whether a bound is a number of 32 bits. Some axes as long as an axis may be are not met: what is a few times a dim fits, a
/// product of dims may not.
static bool fits(const Size &bound, const Entry &entry) {
  constexpr int64_t kFew = 64;
  int64_t times = 0;
  for (const auto &[dim, coefficient] : bound.coefficients()) {
    const bool isProduct = dim < entry.dimFactors.size() && entry.dimFactors[dim].size() > 1;
    if (isProduct || coefficient > kFew || coefficient < -kFew || (times += std::abs(coefficient)) > kFew)
      return false;
  }
  return bound.constant() >= INT32_MIN && bound.constant() <= INT32_MAX;
}

Bounds PlainBounds::in32Bits(NodeId id, Bounds made) {
  const Node &node = entry.nodes[id];
  if (node.type.element != Element::Int)
    return made;
  const Bounds all = number(INT32_MIN, INT32_MAX);
  auto isNarrow = [&](const Size &bound) { return fits(bound, entry); };
  const bool fitsBelow = std::any_of(made.lows.begin(), made.lows.end(), isNarrow),
             fitsAbove = std::any_of(made.highs.begin(), made.highs.end(), isNarrow);
  if (!growsNumbers(node.op)) {
    made.lows = fitsBelow ? made.lows : all.lows;
    made.highs = fitsAbove ? made.highs : all.highs;
    return made;
  }
  if (fitsBelow && fitsAbove)
    return made;
  wraps = true;
  const bool areKnown = std::all_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) {
    const Bounds &bounds = known.at(operand);
    auto isInner = [](const std::optional<int64_t> &bound) { return bound && *bound > INT32_MIN && *bound < INT32_MAX; };
    return isInner(numberAmong(bounds.lows)) && isInner(numberAmong(bounds.highs));
  });
  const auto low = numberAmong(made.lows), high = numberAmong(made.highs);
  if (areKnown && low && high)
    wide.emplace(id, *high > INT32_MAX ? *high : *low);
  return all;
}

/// Whether a value is one of a loop, which changes from round to round.
static bool isOfLoop(const Entry &entry, const Node &node) {
  return (node.op == Op::BodyArgument && !constantArgument(entry, node)) ||
         (node.op == Op::Result && entry.nodes[node.operands[0]].op == Op::Stack);
}

bool mayLeaveIn32Bits(const Entry &entry, NodeId index, const Size &highExclusive, const std::vector<NodeId> &conditions,
                      const ProofHints &hints) {
  PlainBounds bounds(entry, hints, PlainBounds::Numbers::Of32Bits);
  if (bounds.within(index, Size(0), highExclusive))
    return false;
  // A proof has looked at all whole numbers that the index and its conditions are made of, those of choices, too.
  std::vector<NodeId> open = conditions;
  open.push_back(index);
  std::set<NodeId> seen(open.begin(), open.end());
  while (!open.empty()) {
    const NodeId id = open.back();
    const Node &node = entry.nodes[id];
    open.pop_back();
    if (node.type.element == Element::Real)
      continue;
    if (isOfLoop(entry, node))
      return true;
    if (growsNumbers(node.op) && node.type.element == Element::Int)
      bounds.of(id);
    std::vector<NodeId> parts = node.operands;
    if (std::optional<NodeId> outside = node.op == Op::BodyArgument ? constantArgument(entry, node) : std::nullopt)
      parts.push_back(*outside);
    for (NodeId part : parts)
      if (seen.insert(part).second)
        open.push_back(part);
  }
  return bounds.anyWraps();
}

} // namespace tenon
