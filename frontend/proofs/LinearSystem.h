// Conjunctions of linear constraints, and whether they have a point. Presburger arithmetic is MLIR's; nothing else here uses it.
#pragma once
#include "frontend/proofs/LinearValues.h"

namespace tenon {

/// A point that breaks the claim, by variable.
using Point = std::map<unsigned, int64_t>;

/// What is required as a constraint; none where its numbers do not fit into 64 bits.
std::optional<Constraint> constraintOf(const Requirement &requirement);

/// One conjunction over the variables it mentions, with their bounds.
class LinearSystem {
public:
  LinearSystem(const Entry &entry, const std::vector<Variable> &variables, const Conjunction &constraints);
  /// Also true where that is too much to ask.
  bool hasPoint() const;
  /// Of hasPoint(), about microseconds: the tableau, pivoted once per variable.
  uint64_t effort() const;
  /// A point with small dims and places if there is one: each variable in turn gets the first small value that still allows a
  /// point.
  std::optional<Point> point() const;

private:
  void mention(const Form &form);
  void bound(const std::optional<Form> &form);

  std::vector<unsigned> order; // the variables that occur, by column
  std::map<unsigned, size_t> columns;
  Conjunction bounds, all;
};

} // namespace tenon
