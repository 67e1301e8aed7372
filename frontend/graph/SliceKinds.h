// How what an entry makes of a whole batch follows from what it makes of slices of it.
#pragma once
#include "frontend/graph/Averages.h"
#include "frontend/graph/BatchTotals.h"
#include <map>
#include <set>
#include <tuple>

namespace tenon::sema {

/// The entry for a whole batch beside that for a slice: the same graph, but for sizes of the batch.
class Slices {
public:
  Slices(Entry itsWhole, Entry itsPart, AxisId batch);
  const Node &node(NodeId id) const { return whole.nodes[id]; }

  /// How a loss of the whole follows from those of the slices.
  enum class Kind { Fixed, Mean, Sum, Other };
  Kind kindOf(size_t result) {
    asked = 0;
    return kindOf(whole.averages[result], part.averages[result]);
  }

  /// What in a loss is computed over the rows before they are added up, or depends on how many there are; kNoNode: nothing. One
  /// that stands in a text, if there is one: divisors of means do not.
  NodeId mixedRows(size_t result) { return search({whole.results[result].second, part.results[result].second, false}); }
  /// The same of the terms of a sum over the rows.
  NodeId mixedTerms(NodeId sum, NodeId ofPart) { return search({sum, ofPart, false}); }
  /// The same of the new values of states, which have rows.
  NodeId mixedStates();
  static bool hasPlace(const Node &node) { return node.caller.end > node.caller.begin; }

private:
  struct Pair {
    NodeId whole, part;
    bool inside; // of what is summed over the rows, or of a stack
  };
  /// A scalar carry that a loop adds to, round by round: what it starts with, and what is added.
  struct Added {
    Pair start;
    std::vector<Pair> terms;
  };

  NodeId search(Pair from) {
    open.push_back(from);
    return search();
  }
  NodeId search();
  void follow(const Pair &pair, const Node &a, const Node &b);
  Pair terms(Pair pair) const;
  bool countsRows(const Node &a, const Node &b) const;
  bool mixes(const Node &a, const Node &b) const;
  std::optional<Added> added(const Node &result, const Node &ofPart) const;

  bool isSameNumber(const Average &a, const Average &b) const;
  bool countsElements(NodeId whole, NodeId part) const;
  Kind kindOf(const Average &a, const Average &b);
  bool hasCarry(const Average &a, const Average &b);
  Kind kindOf(NodeId id, NodeId ofPart);
  Kind kindOf(const Added &carry);

  Entry whole, part;
  const AxisId batch;
  const RowAxes rows;
  std::map<uint32_t, NodeId> wholeLoops, partLoops; // of each stack, the node that runs it
  std::vector<Pair> open;
  std::set<std::tuple<NodeId, NodeId, bool>> seen;
  size_t asked = 0;
};

} // namespace tenon::sema
