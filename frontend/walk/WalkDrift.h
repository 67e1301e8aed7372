// What in an entry that walks an axis depends on how many places there are. An incremental entry computes with the size of its
// capacity wherever the text says the walked size, so no value may change with that size: it may only cancel.
#pragma once
#include "frontend/graph/Graph.h"
#include <map>

namespace tenon::sema {

/// Follows every value from the results down, together with the places at which it is read. The *drift* of an integer or of a
/// place is by how much it grows when there is one place more along the walked axis (whose size is the dim `dim`) and nothing
/// else changes: T - 1 - i drifts by 1, i by 0. A table read at a place that drifts gives the same row for every number of places
/// only if its rows drift likewise, as those of sinusoid[R, D](start = 1 - R) read at R - 1 + i - j do.
class WalkDrift {
public:
  WalkDrift(const Entry &entry, unsigned dim);

  /// Nodes that make a value depend on the number of places, and how. Empty: nothing does.
  std::map<NodeId, std::string> objections;
  /// Of proofs, about microseconds; beyond kMostEffort none is made.
  uint64_t effort = 0;
  static constexpr uint64_t kMostEffort = 600'000;

private:
  using Drift = std::optional<int64_t>;     // nullopt: what is wrong has been noted
  using Shifts = std::map<AxisId, int64_t>; // drift of the place along an axis; axes that do not drift are left out

  Drift read(NodeId id, const Shifts &shifts);
  Drift follow(NodeId id, const Shifts &shifts);
  Drift number(NodeId id, const Shifts &shifts);
  Drift product(NodeId id, const std::vector<int64_t> &drifts);
  Drift quotient(NodeId id, const std::vector<int64_t> &drifts);
  Drift extremum(NodeId id, const std::vector<int64_t> &drifts);
  Drift comparison(NodeId id, const std::vector<int64_t> &drifts);
  Drift select(NodeId id, const Shifts &shifts);
  Drift axes(NodeId id, const Shifts &shifts);
  Drift slice(NodeId id, const Shifts &shifts);
  Drift gather(NodeId id, const Shifts &shifts);
  Drift concat(NodeId id, const Shifts &shifts);
  Drift window(NodeId id, const Shifts &shifts);
  Drift argument(NodeId id, const Shifts &shifts);
  Drift unmoved(NodeId id, const Shifts &shifts);
  Drift object(NodeId id, const std::string &text);
  Drift readMoved(NodeId reader, NodeId id, const Shifts &shifts);
  bool isProved(Op op, NodeId left, NodeId right, bool wanted);
  bool still(const Shifts &shifts, const std::vector<AxisId> &axes) const;
  int64_t drift(const Size &size) const;

  const Entry &entry;
  const unsigned dim;
  std::vector<NodeId> producer; // of stacks and scans
  NodeId mover = kNoNode;       // the innermost node under way that reads its operand at a place that drifts
  std::map<std::pair<NodeId, Shifts>, Drift> known;
};

} // namespace tenon::sema
