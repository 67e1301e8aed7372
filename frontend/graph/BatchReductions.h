// What an entry reduces over the rows of its batch, as parts that several batches can be combined from.
#pragma once
#include "frontend/Program.h"
#include <algorithm>

namespace tenon::sema {

inline bool contains(const std::vector<AxisId> &axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}
inline bool isReduction(Op op) {
  return op == Op::Sum || op == Op::ReduceMax || op == Op::ReduceMin || op == Op::All || op == Op::Any;
}

/// Adds nodes behind those of the entry. Reads Entry::batchAxes and placeShifts.
class BatchReductions {
public:
  explicit BatchReductions(Entry &entry) : entry(entry) {}
  /// Of what `id` reduces, `terms`: sum, greatest or least, with the part that is kept as its output; nullopt where it does not
  /// reduce the batch.
  std::optional<Average> of(NodeId id, NodeId terms);
  /// What a dot product adds up.
  NodeId product(NodeId dot);
  /// A divisor that is the number of rows, or of all or some of the places that a sum runs over: mean(x), sum(x) / real(B).
  std::optional<Average> countOf(NodeId divisor, const Average &of) const;
  /// Whether something of the batch is reduced inside of what makes this part.
  bool isInside(NodeId part) const;
  /// Whether something is reduced over the rows; `leaves`: or comes from an input or state of the batch, or is its size.
  bool reaches(NodeId root, bool leaves) const;

private:
  /// What is reduced over the batch: tensor and axes.
  struct Reduced {
    NodeId part = kNoNode; // `terms` without the axes that are neither rows nor places
    NodeId terms;
    std::vector<AxisId> axes;
    bool inside = false; // something in `terms` is reduced over the batch itself
  };
  std::vector<NodeId> readBy(NodeId id, const std::map<uint32_t, NodeId> &loops) const;
  void lookThrough(Reduced &reduced) const;
  NodeId perPlace(Op op, const Reduced &reduced);
  NodeId added(const Node &wanted);
  std::optional<std::pair<Average, double>> countAlong(const std::vector<AxisId> &axes, unsigned chosen,
                                                       const std::vector<int64_t> &dims) const;
  bool isBatchSize(const Size &size) const;
  bool hasPlaces(NodeId id) const;
  bool isBatch(AxisId axis) const { return !entry.batchAxes.empty() && axis == entry.batchAxes[0]; }
  bool hasBatch(const std::vector<AxisId> &axes) const { return !entry.batchAxes.empty() && contains(axes, entry.batchAxes[0]); }
  bool hasBatch(NodeId id) const { return hasBatch(node(id).type.axes); }
  const Node &node(NodeId id) const { return entry.nodes[id]; }

  Entry &entry;
  std::vector<Reduced> reductions;
};

} // namespace tenon::sema
