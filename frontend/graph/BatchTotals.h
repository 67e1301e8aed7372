// Sums over the rows of a batch that depend on no parameter: `sum(weight)` of a masked mean, which no slice can make of its rows.
#pragma once
#include "frontend/Program.h"
#include <set>

namespace tenon::sema {

/// Which axes run over the rows of a batch: its own, and those whose size is a multiple of the number of rows.
class RowAxes {
public:
  RowAxes(const Entry &whole, const Entry &part, AxisId batch);
  bool has(AxisId axis) const { return axis < along.size() && along[axis]; }
  bool any(const std::vector<AxisId> &axes) const {
    return std::any_of(axes.begin(), axes.end(), [&](AxisId axis) { return has(axis); });
  }
  /// Whether a size changes with the number of rows, where that is open.
  bool sizes(const Size &size) const;

private:
  std::vector<bool> along;
  std::set<unsigned> ofRows; // dims that are the number of rows, or a product with it
};

/// What a slice of a batch has to know of all rows: sums whose terms depend on no parameter, state or draw, where something else
/// than adding up happens to them (as a divisor, a factor beside other rows, inside of what is summed). What stands around a sum
/// without rows of its own (`max(sum(w), 1)`, `mean(w) + 1e-6`) stays in the slice, with the sizes of the whole batch.
class BatchTotals {
public:
  /// `part` is `whole` with 1 / `slices` of the rows; both have to live on.
  BatchTotals(const Entry &whole, const Entry &part, AxisId batch, int64_t slices);

  /// Why there is no code: an expression of the slice would have to be two ones of the whole batch.
  bool isAmbiguous() const { return ambiguous; }
  /// Both entries where an input of which nothing is known stands for each expression of totals: for what else has to add up.
  Entry hiddenWhole() const;
  Entry hiddenPart() const;
  /// In these, the sums themselves.
  std::vector<std::pair<NodeId, NodeId>> sums() const;
  /// The part, which has the totals as inputs behind its own.
  Entry divided() const;
  /// The entry that makes them of the rows of a slice, and how often it has to run until totals inside of others have come.
  struct Pass {
    Entry entry;
    int64_t times;
  };
  std::optional<Pass> pass(const Entry &divided) const;
  /// Why result `index` of the whole is no sum over slices: what it divides by (or takes a maximum of, ..) that is no total.
  struct Obstacle {
    NodeId node;
    const char *why;
  };
  std::optional<Obstacle> obstacle(size_t index) const;

private:
  struct Pair {
    NodeId whole, part;
    bool operator<(const Pair &other) const { return std::tie(whole, part) < std::tie(other.whole, other.part); }
  };
  using Edge = std::pair<NodeId, size_t>; // a node and which of its operands
  struct Facts {
    bool hasRows = false, isSum = false, varies = false; // with the rows; over them; in any way by them
    bool isFree = false;                                 // of parameters, states and draws
    bool isTotal = false;                                // made of totals and of what every slice has
  };
  void findFacts();
  void follow();
  void include(Pair root);
  bool wantsAll(const Node &user, size_t operand) const;
  Size ofBatch(const Size &size) const;
  bool isSum(const Pair &pair) const { return facts[pair.whole].isSum; }
  Entry hidden(const Entry &entry, const std::map<Edge, size_t> &edges) const;

  const Entry &whole, &part;
  const AxisId batch;
  const int64_t slices;
  const RowAxes rows;
  std::vector<Facts> facts; // of the nodes of the whole
  std::vector<Pair> open;   // whose operands are to be looked at
  std::vector<Pair> roots;  // expressions of totals that something reads
  std::map<Pair, size_t> rootNumber;
  std::map<Edge, size_t> wholeEdges, partEdges; // who reads which
  std::set<Pair> expressions;                   // all nodes of these, the sums too
  bool ambiguous = false;
};

} // namespace tenon::sema
