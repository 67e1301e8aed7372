// The second half of LinearValues: predicates, and the operations that only move elements.
#include "frontend/DeepStack.h"
#include "frontend/proofs/LinearValues.h"
#include <algorithm>

namespace tenon {

Alternatives LinearValues::truth(NodeId id, bool wanted, const Places &places) {
  std::pair<Key, bool> key{keyOf(id, places), wanted};
  if (auto found = truths.find(key); found != truths.end())
    return found->second;
  Alternatives result{{}};
  if (work <= kMostEffort) {
    if (!stackIsLow())
      result = truthOf(id, wanted, places);
    else
      runOnNewStack([&] { result = truthOf(id, wanted, places); });
  }
  if (work > kMostEffort)
    result = Alternatives{{}};
  for (Conjunction &each : result) {
    if (each.size() > kMaxConstraints) // fewer constraints allow more
      each.resize(kMaxConstraints);
    work += 1 + each.size();
  }
  truths.emplace(std::move(key), result);
  return result;
}

Alternatives LinearValues::truthOf(NodeId id, bool wanted, const Places &places) {
  const Node &node = entry.nodes[id];
  auto either = [&](const Alternatives &left, const Alternatives &right) {
    Alternatives all = left;
    all.insert(all.end(), right.begin(), right.end());
    return all.size() > kMaxCases ? Alternatives{{}} : all;
  };
  auto both = [&](const Alternatives &left, const Alternatives &right) {
    if (left.size() * right.size() > kMaxCases) // dropping one side only widens the set
      return left.size() < right.size() ? left : right;
    Alternatives all;
    for (const Conjunction &a : left)
      for (const Conjunction &b : right) {
        all.push_back(a);
        all.back().insert(all.back().end(), b.begin(), b.end());
      }
    return all;
  };
  if (node.type.element != Element::Bool) { // an integer as truth does not occur in checked programs
    return {{}};
  }
  switch (node.op) {
  case Op::Constant:
    return (node.integer != 0) == wanted ? Alternatives{{}} : Alternatives{};
  case Op::Not:
    return truth(node.operands[0], !wanted, places);
  case Op::And:
  case Op::Or: {
    Alternatives left = truth(node.operands[0], wanted, places), right = truth(node.operands[1], wanted, places);
    return (node.op == Op::And) == wanted ? both(left, right) : either(left, right);
  }
  case Op::Select: {
    Alternatives taken = both(truth(node.operands[0], true, places), truth(node.operands[1], wanted, places));
    return either(taken, both(truth(node.operands[0], false, places), truth(node.operands[2], wanted, places)));
  }
  case Op::Equal:
  case Op::NotEqual:
  case Op::Less:
  case Op::LessEqual:
    return comparison(id, wanted, places);
  default:
    break;
  }
  if (auto from = sources(id, places)) {
    Alternatives all;
    for (const Source &source : *from)
      all = either(all, both({source.when}, truth(source.node, wanted, source.places)));
    return all;
  }
  Form flag = unknown(id, places, Form(0), Form(1));
  return {{{*minus(flag, Form(wanted ? 1 : 0)), true}}};
}

Alternatives LinearValues::comparison(NodeId id, bool wanted, const Places &places) {
  const Node &node = entry.nodes[id];
  for (NodeId operand : node.operands)
    if (entry.nodes[operand].type.element == Element::Real)
      return {{}}; // says nothing about integers
  const bool equality = node.op == Op::Equal || node.op == Op::NotEqual;
  const bool wantEqual = (node.op == Op::Equal) == wanted;
  Alternatives result;
  Cases lefts = value(node.operands[0], places), rights = value(node.operands[1], places);
  fewer(node, places, lefts, rights, equality && !wantEqual ? kMaxCases / 2 : kMaxCases);
  for (const ValueCase &left : lefts)
    for (const ValueCase &right : rights) {
      Conjunction when = left.when;
      when.insert(when.end(), right.when.begin(), right.when.end());
      auto emit = [&](const std::optional<Form> &form, bool isEquality) {
        result.push_back(when);
        if (form) // an overflow drops the constraint
          result.back().push_back({*form, isEquality});
      };
      std::optional<Form> ahead = subtract(right.value, left.value), behind = subtract(left.value, right.value);
      if (equality && wantEqual) {
        emit(ahead, true);
      } else if (equality) {
        emit(minus(ahead, Form(1)), false);
        emit(minus(behind, Form(1)), false);
      } else if (wanted) {
        emit(node.op == Op::Less ? minus(ahead, Form(1)) : ahead, false);
      } else {
        emit(node.op == Op::Less ? behind : minus(behind, Form(1)), false);
      }
    }
  return result;
}

std::optional<std::vector<LinearValues::Source>> LinearValues::sources(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  Places inside = places;
  switch (node.op) {
  case Op::Expand:
  case Op::Transpose:
  case Op::StopGradient:
    return {{{{}, node.operands[0], places}}};
  case Op::BodyArgument:
    if (std::optional<NodeId> outside = constantArgument(entry, node))
      return {{{{}, *outside, places}}};
    return std::nullopt;
  case Op::Rename: {
    for (size_t i = 0; i < node.axesFrom.size(); ++i)
      inside[node.axesFrom[i]] = place(node.axesTo[i], places);
    return {{{{}, node.operands[0], inside}}};
  }
  case Op::Slice: {
    std::optional<Form> at = add(place(node.axesTo[0], places), node.size);
    if (!at)
      return std::nullopt;
    inside[node.axesFrom[0]] = *at;
    return {{{{}, node.operands[0], inside}}};
  }
  case Op::Flip: {
    std::optional<Form> at = minus(minus(entry.axes[node.axesFrom[0]].size, Form(1)), place(node.axesFrom[0], places));
    if (!at)
      return std::nullopt;
    inside[node.axesFrom[0]] = *at;
    return {{{{}, node.operands[0], inside}}};
  }
  case Op::Gather: {
    std::vector<Source> result;
    for (const ValueCase &index : value(node.operands[1], places)) {
      inside[node.axesFrom[0]] = index.value;
      result.push_back({index.when, node.operands[0], inside});
    }
    return result;
  }
  case Op::Merge:
  case Op::Split:
    return regroup(node, places);
  case Op::Concat:
    return concatenated(node, places);
  default:
    return std::nullopt;
  }
}

/// Merge: one place on the merged axis is a digit per old axis; Split is the reverse. The equation between them is linear only
/// when the sizes inside are numbers; else the places stay unrelated.
std::optional<std::vector<LinearValues::Source>> LinearValues::regroup(const Node &node, Places places) {
  const bool merges = node.op == Op::Merge;
  const std::vector<AxisId> &digits = merges ? node.axesFrom : node.axesTo;
  const AxisId whole = merges ? node.axesTo[0] : node.axesFrom[0];
  std::optional<Form> sum = Form(0), stride = Form(1);
  Places inside = places;
  for (size_t i = digits.size(); i-- > 0;) {
    Form digit = merges ? freshPlace(digits[i]) : place(digits[i], places);
    if (merges)
      inside[digits[i]] = digit;
    sum = plus(sum, stride ? multiply(digit, *stride) : std::nullopt);
    stride = stride ? multiply(*stride, entry.axes[digits[i]].size) : std::nullopt;
  }
  Conjunction when;
  if (merges) {
    if (std::optional<Form> equation = minus(place(whole, places), sum))
      when.push_back({*equation, true});
  } else {
    inside[whole] = sum ? *sum : freshPlace(whole);
  }
  return {{{when, node.operands[0], inside}}};
}

std::optional<std::vector<LinearValues::Source>> LinearValues::concatenated(const Node &node, const Places &places) {
  std::vector<Source> result;
  std::optional<Form> start = Form(0);
  const Form at = place(node.axesTo[0], places);
  for (size_t i = 0; i < node.operands.size(); ++i) {
    std::optional<Form> offset = minus(at, start);
    start = plus(start, entry.axes[node.axesFrom[i]].size);
    std::optional<Form> left = minus(minus(start, at), Form(1));
    if (!offset || !left)
      return std::nullopt;
    Places inside = places;
    inside[node.axesFrom[i]] = *offset;
    result.push_back({{{*offset, false}, {*left, false}}, node.operands[i], inside});
  }
  return result;
}

} // namespace tenon
