// Integer nodes of the checked graph as linear forms over dims, places on axes and unknown values, split into cases. What is not
// linear becomes an unknown with the bounds that are known of it, so every statement here holds for a superset of what can
// happen.
#pragma once
#include "frontend/proofs/PlainBounds.h"
#include <optional>
#include <set>

namespace tenon {

/// A form over variables: variable v < dims of the entry is that dim, the others are LinearValues::variables.
using Form = Size;

/// One integer unknown. `low` and `high` (inclusive) are forms over dims only; so are the bounds besides.
struct Variable {
  std::string name; // empty: not shown in examples
  std::optional<Form> low, high;
  Bounds further;
};

/// form >= 0, or form == 0.
struct Constraint {
  Form form;
  bool equality = false;
};
using Conjunction = std::vector<Constraint>;

/// The value is `value` at places where `when` holds.
struct ValueCase {
  Conjunction when;
  Form value;
};
using Cases = std::vector<ValueCase>;
/// A disjunction of conjunctions; empty = never.
using Alternatives = std::vector<Conjunction>;

/// Where on its axes a node is looked at.
using Places = std::map<AxisId, Form>;

class LinearValues {
public:
  LinearValues(const Entry &entry, const ProofHints &hints);

  /// All values an Int or Bool (0, 1) node can have at `places`; an axis that is not among them is at its own free place.
  Cases value(NodeId node, const Places &places = {});
  /// A superset of the places where Bool `node` is `wanted`.
  Alternatives truth(NodeId node, bool wanted, const Places &places = {});
  const std::vector<Variable> &variables() const { return list; }
  /// Cases made so far, about a microsecond each.
  uint64_t effort() const { return work + plain.effort(); }
  /// Without cases.
  PlainBounds &bounds() { return plain; }

  /// A value of more cases becomes one unknown that keeps their common bounds.
  static constexpr size_t kMaxCases = 96, kMaxConstraints = 128; // constraints: of one case
  /// Beyond this effort further values have their plain bounds only: that can lose a proof, not make a false one.
  static constexpr uint64_t kMostEffort = 50'000;

private:
  struct Source { // an element of a node that only moves elements is the element of `node` at `places`, when `when` holds
    Conjunction when;
    NodeId node;
    Places places;
  };
  using Key = std::pair<NodeId, std::vector<Form>>;

  Form fresh(std::string name, std::optional<Form> low, std::optional<Form> high);
  Form place(AxisId axis, const Places &places);
  Form freshPlace(AxisId axis);
  Key keyOf(NodeId node, const Places &places);
  /// The unknown of a node that is not linear; the same one for the same node at the same places.
  Form unknown(NodeId node, const Places &places, std::optional<Form> low, std::optional<Form> high);

  /// One unknown, the node's value, for all its cases: what bounds each of them bounds it.
  Cases collapsed(NodeId node, const Places &places, const Cases &cases);
  /// Collapses the operands of `node` with the most cases until they make at most `most` pairs.
  void fewer(const Node &node, const Places &places, Cases &left, Cases &right, size_t most);
  /// What a declaration has proved of the node.
  void addFacts(NodeId node, Cases &cases) const;
  bool isWithin(const Form &form, const Form &bound) const;

  /// Adds what holds under both conditions; false: there are too many, or no value.
  static bool appendCase(Cases &cases, const Conjunction &first, const Conjunction &second, const std::optional<Form> &value);

  Cases evaluate(NodeId node, const Places &places);
  Cases leaf(NodeId node, const Places &places);
  // LinearArithmetic.cpp
  Cases arithmetic(NodeId node, const Places &places);
  Cases quotient(NodeId node, const Places &places);
  std::optional<ValueCase> quotientOf(const Form &dividend, const Form &divisor, bool wantsRest);
  bool surelyNonNegative(const std::optional<Form> &form) const;
  Cases extremum(const Cases &left, const Cases &right, bool maximum);
  // LinearValues.cpp
  Cases select(NodeId node, const Places &places);
  Cases reduction(NodeId node, const Places &places);
  Cases put(NodeId node, const Places &places);
  Cases window(NodeId node, const Places &places);
  Cases truthAsNumber(NodeId node, const Places &places);
  Cases opaque(NodeId node, const Places &places);

  Alternatives truthOf(NodeId node, bool wanted, const Places &places);
  Alternatives comparison(NodeId node, bool wanted, const Places &places);
  std::optional<std::vector<Source>> sources(NodeId node, const Places &places);
  std::optional<std::vector<Source>> regroup(const Node &node, Places places);
  std::optional<std::vector<Source>> concatenated(const Node &node, const Places &places);

  const Entry &entry;
  const ProofHints &hints;
  PlainBounds plain;
  uint64_t work = 0;
  std::vector<Variable> list;
  std::map<AxisId, Form> freePlaces;
  std::map<Key, Form> unknowns;
  std::map<Key, Cases> values;
  std::map<std::pair<Key, bool>, Alternatives> truths;
};

/// Sums, with nullopt passed through: overflow makes a value unknown, never wrong.
std::optional<Form> plus(const std::optional<Form> &left, const std::optional<Form> &right);
std::optional<Form> minus(const std::optional<Form> &left, const std::optional<Form> &right);

/// Bounds over dims only, from the bounds of the variables; nullopt = unbounded.
struct Interval {
  std::optional<Form> low, high;
};
Interval intervalOf(const Form &form, const std::vector<Variable> &variables, size_t dims);

/// The smaller (or larger) of two bounds; nullopt if either is missing or the dims decide.
std::optional<Form> outerBound(const std::optional<Form> &left, const std::optional<Form> &right, bool lower, const Entry &entry);

/// low <= form for all dims >= 1 within their bounds, by coefficients alone (may miss, never wrong).
bool plainlyNonNegative(const Form &form, const Entry &entry);

} // namespace tenon
