// Interval arithmetic over the integer nodes of the checked graph: what each operation makes of the bounds of its operands,
// wherever on their axes they are looked at. One visit per node, so this is what is left where cases (LinearValues.h) run out.
#pragma once
#include "frontend/proofs/IndexProof.h"
#include <map>

namespace tenon {

/// Forms over dims only. Each of `lows` is at most every value, each of `highs` at least; none = unbounded on that side.
struct Bounds {
  std::vector<Size> lows, highs;
};

class PlainBounds {
public:
  /// Of whole numbers without an end, as proofs have them; or as code has them, which keeps 32 bits: what may need more is any
  /// number of these.
  enum class Numbers { Endless, Of32Bits };
  PlainBounds(const Entry &entry, const ProofHints &hints, Numbers numbers = Numbers::Endless)
      : entry(entry), hints(hints), numbers(numbers) {}

  /// Of all values of an Int or Bool (0, 1) node.
  const Bounds &of(NodeId node);
  /// low <= value < highExclusive for all dims, by one of the bounds of each side.
  bool within(NodeId node, const Size &low, const Size &highExclusive);
  /// Whether one of 32 bits that was looked at may need more, sizes that vary at run time being small enough; and those that do
  /// for some values of operands whose bounds are known, with the outermost such number.
  bool anyWraps() const { return wraps; }
  const std::map<NodeId, int64_t> &beyond() const { return wide; }
  /// Nodes looked at, less than a microsecond each.
  uint64_t effort() const { return work; }

  /// Bounds kept per side: those that no dims make worse than another one of them.
  static constexpr size_t kMostBounds = 3;
  /// Beyond this effort nothing bounds further nodes.
  static constexpr uint64_t kMostEffort = 50'000;

private:
  bool isNonNegative(const std::optional<Size> &form) const;
  bool atLeast(const Bounds &bounds, int64_t least) const;
  bool atMost(const Bounds &bounds, int64_t most) const;
  void keep(std::vector<Size> &bounds, const std::optional<Size> &bound, bool lower) const;

  Bounds number(int64_t low, int64_t high) const { return {{Size(low)}, {Size(high)}}; }
  Bounds places(const Size &count) const;
  Bounds both(const Bounds &left, const Bounds &right) const;
  Bounds either(const Bounds &left, const Bounds &right) const;
  Bounds sum(const Bounds &left, const Bounds &right) const;
  Bounds times(const Bounds &bounds, const Size &factor) const;
  Bounds product(const Bounds &left, const Bounds &right) const;
  Bounds extremum(const Bounds &left, const Bounds &right, bool maximum) const;
  Bounds absolute(const Bounds &bounds) const;
  Bounds quotient(const Bounds &dividend, const Bounds &divisor) const;
  Bounds rest(const Bounds &dividend, const Bounds &divisor) const;
  Bounds total(const Node &node) const;
  Bounds windows(const Node &node) const;
  std::vector<NodeId> loopResult(const Node &result) const;

  /// The operands that the bounds of a node are made of.
  std::vector<NodeId> needed(NodeId node) const;
  Bounds evaluate(NodeId node) const;
  Bounds arithmetic(const Node &node) const;
  Bounds in32Bits(NodeId node, Bounds made);
  const Bounds &operand(const Node &node, size_t index) const { return known.at(node.operands[index]); }

  const Entry &entry;
  const ProofHints &hints;
  Numbers numbers;
  bool wraps = false;
  std::map<NodeId, int64_t> wide;
  uint64_t work = 0;
  std::map<NodeId, Bounds> known;
};

/// One of the bounds that is a number, if any is.
std::optional<int64_t> numberAmong(const std::vector<Size> &bounds);
/// What an argument of a body that is no carry is outside; nothing for carries, and where the body sees more axes of it.
std::optional<NodeId> constantArgument(const Entry &entry, const Node &argument);
/// 0 .. the last depth at which the body of an Op::Depth runs; no upper bound outside of stacks.
std::optional<std::pair<Size, Size>> depthRange(const Entry &entry, const Node &depth);

} // namespace tenon
