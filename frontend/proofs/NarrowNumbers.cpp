// Bounds of whole numbers as code has them, which keeps 32 bits of each.
#include "frontend/proofs/PlainBounds.h"
#include <algorithm>

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

/// Where all dims are 1, the least that they can be.
static int64_t leastOf(const Size &size) {
  int64_t sum = size.constant();
  for (const auto &[dim, coefficient] : size.coefficients())
    if (__builtin_add_overflow(sum, coefficient, &sum))
      return coefficient > 0 ? INT64_MAX : INT64_MIN;
  return sum;
}

Bounds PlainBounds::in32Bits(NodeId id, Bounds made) {
  const Node &node = entry.nodes[id];
  if (node.type.element != Element::Int)
    return made;
  const Bounds all = number(INT32_MIN, INT32_MAX);
  const bool fitsBelow =
                 std::any_of(made.lows.begin(), made.lows.end(), [](const Size &low) { return leastOf(low) >= INT32_MIN; }),
             fitsAbove =
                 std::any_of(made.highs.begin(), made.highs.end(), [](const Size &high) { return leastOf(high) <= INT32_MAX; });
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

bool mayLeaveIn32Bits(const Entry &entry, NodeId index, const Size &highExclusive, const ProofHints &hints) {
  PlainBounds bounds(entry, hints, PlainBounds::Numbers::Of32Bits);
  return !bounds.within(index, Size(0), highExclusive) && bounds.anyWraps();
}

} // namespace tenon
