// How `Step.cpp` derives an entry that walks an axis: what it knows, and its parts. Private to Step.cpp, StepPlaces.cpp,
// StepRows.cpp and StepRecurrences.cpp.
#pragma once
#include "frontend/walk/KeptStates.h"
#include "frontend/walk/Step.h"
#include "frontend/walk/Walk.h"
#include <algorithm>
#include <map>
#include <string>

namespace tenon::sema {

using Axes = std::vector<AxisId>;

class StepDerivation {
public:
  StepDerivation(const Entry &old, Diagnostics &diagnostics)
      : old(old), diagnostics(diagnostics), places(placesOf(old, old.walked)), fixed(axesBehindFixed(old, places)),
        producer(old.stacks.size(), kNoNode), table(old.nodes.size()), summed(old.nodes.size()) {
    for (NodeId id = 0; id < old.nodes.size(); ++id)
      if (isLoop(old.nodes[id]))
        producer[old.nodes[id].index] = id;
  }
  std::optional<Entry> run();

private:
  // Sizes and axes.
  bool setUp();
  bool requireAtCapacity();
  Size atCapacity(const Size &size) const;
  bool along(AxisId axis) const { return includes(places, axis); }
  Axes placesIn(NodeId id) const;
  bool endsAlong(const Node &node) const;
  AxisId whole(AxisId axis);
  Axes mapped(const Axes &axes, const Axes &demand);
  // Nodes.
  NodeId emit(Node node) {
    if (node.range.end == 0) // what counts the places is there because of `out step(T)`
      node.range = old.walkedRange;
    fresh.nodes.push_back(std::move(node));
    return NodeId(fresh.nodes.size() - 1);
  }
  NodeId unsupported(NodeId id, const std::string &what);
  NodeId refuse(NodeId id, const std::string &what);
  NodeId position();
  NodeId newPlaces(AxisId axis, const Size &low);
  NodeId pick(NodeId table, AxisId tableAxis, AxisId axis, const Size &low, const Node &like);
  // The translation.
  NodeId rewrite(NodeId id, const Axes &demand);
  NodeId make(NodeId id, const Axes &demand);
  NodeId makeNew(NodeId id);
  NodeId clone(NodeId id, const Axes &demand);
  NodeId rewriteStack(NodeId id);
  NodeId rewriteArgument(NodeId id, const Axes &demand);
  /// Attention without a softmax: of what is summed, all places are kept; those of later keys are 0 (Walk::sum).
  bool sumsKeys(const Node &node) const {
    return (node.op == Op::Dot || node.op == Op::Sum) &&
           std::any_of(node.axesFrom.begin(), node.axesFrom.end(), [&](AxisId axis) { return along(axis); });
  }
  Axes demandOf(const Node &node, size_t operand, const Axes &demand) const;
  bool isTable(NodeId asked);
  bool isTableOfTables(const Node &node) const;
  bool passesThrough(const Node &node) const {
    return node.op == Op::Rename || node.op == Op::Transpose || node.op == Op::Expand;
  }
  NodeId append(NodeId id, AxisId axis);
  NodeId appendBehindFixed(NodeId id);
  Node kept(NodeId id, AxisId axis);
  NodeId runningSum(NodeId id);
  NodeId scan(NodeId id);
  NodeId placeOf(NodeId id);
  NodeId pickOfScan(NodeId id, const Axes &demand);
  NodeId window(NodeId id);
  NodeId isFirstCall();
  Node lastPlace(const Node &like, const std::string &name);
  NodeId atFirst(NodeId first, NodeId kept);
  bool keepsNothing(const Node &node) const;
  NodeId asWritten(NodeId x, const Node &sum);
  NodeId onlyBrought(NodeId x, AxisId axis);
  bool isSummed(NodeId asked);
  uint32_t newState(const Node &rows);
  std::string roleOf(const Node &attend, size_t operand) const;

  const Entry &old;
  Entry fresh;
  Diagnostics &diagnostics;
  Axes places;
  std::map<AxisId, Size> fixed;
  std::vector<NodeId> producer; // of stacks and scans
  std::vector<int8_t> table;    // isTable: 0 unknown, 1 yes, 2 no
  std::vector<int8_t> summed;   // isSummed, likewise
  KeptStates states;
  std::optional<unsigned> dim; // of the walked axis
  std::map<std::pair<NodeId, Axes>, NodeId> done;
  std::map<AxisId, AxisId> wholeAxes;
  std::map<NodeId, NodeId> sums; // running sums along the walk, and what keeps them
  struct LastPlace {             // a state that holds what the last place left
    uint32_t body, state;
    NodeId next;
  };
  std::vector<LastPlace> lastPlaces;
  NodeId firstCall = kNoNode;
  std::string role = "kept"; // of what is appended next, for its name
  NodeId positionNode = kNoNode;
  bool failed = false;
};

} // namespace tenon::sema
