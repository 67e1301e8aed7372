// Interval arithmetic over the nodes of the checked graph, for reals: what holds for any data and in any type that is computed
// in. A bound that all of these represent stays where it is, since rounding is monotone; others get room for it. Whether a value
// may be NaN is a part of its range: no comparison holds for NaN, and none that fails for it is known to hold.
#pragma once
#include "frontend/Program.h"
#include <limits>
#include <map>
#include <vector>

namespace tenon {

/// Of all values of a node. Truth values are 0 and 1.
struct RealRange {
  double low, high;
  bool mayBeNan = true;
  bool operator==(const RealRange &) const = default;
};

class RealRanges {
public:
  explicit RealRanges(const Entry &entry) : entry(entry) {}

  /// Of the values that the carries of `body` have in front of any round: they begin as `initial`, outside of the body, and are
  /// `results` behind a round.
  void assumeCarries(uint32_t body, const std::vector<NodeId> &initial, const std::vector<NodeId> &results);
  /// Of the truth value `condition` in front of any of the first `count` rounds, each with the values that its carries have by
  /// then: where it may hold in one, nothing is known of those behind it. The carries have the values of all rounds afterwards.
  RealRange inRounds(uint32_t body, const std::vector<NodeId> &initial, const std::vector<NodeId> &results, NodeId condition,
                     int64_t count);
  const RealRange &of(NodeId node);
  /// Nodes looked at.
  uint64_t effort() const { return work; }

private:
  RealRange evaluate(const Node &node) const;
  RealRange argument(const Node &node) const;
  RealRange arithmetic(const Node &node) const;
  RealRange wholeNumbers(const Node &node) const;
  RealRange comparison(const Node &node) const;
  RealRange quotient(const Node &node) const;
  RealRange total(const Node &node) const;
  bool isMean(const Node &node) const;
  std::vector<NodeId> needed(NodeId id) const;
  const RealRange &operand(const Node &node, size_t index) const { return known.at(node.operands[index]); }

  /// Beyond this effort nothing is known of further nodes.
  static constexpr uint64_t kMostEffort = 20'000;
  const Entry &entry;
  uint64_t work = 0;
  uint32_t carriesOf = ~0u; // body
  std::vector<RealRange> carries;
  RealRange depth = {0, std::numeric_limits<double>::infinity(), false}; // of that body
  std::map<NodeId, RealRange> known;
};

} // namespace tenon
