// Arithmetic of linear forms, case by case.
#include "frontend/proofs/LinearValues.h"
#include <algorithm>

namespace tenon {

static std::optional<Form> combine(Op op, const Form &left, const Form &right) {
  switch (op) {
  case Op::Add:
    return add(left, right);
  case Op::Sub:
    return subtract(left, right);
  default:
    return multiply(left, right); // nullopt unless one side is a number
  }
}

Cases LinearValues::arithmetic(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  Cases left = value(node.operands[0], places), result;
  if (node.op == Op::Neg || node.op == Op::Abs) {
    if (node.op == Op::Abs && 2 * left.size() > kMaxCases)
      left = collapsed(node.operands[0], places, left);
    for (const ValueCase &each : left) {
      std::optional<Form> negated = multiply(each.value, Form(-1));
      const bool isAbs = node.op == Op::Abs;
      if (!negated || (isAbs && !appendCase(result, each.when, {{each.value, false}}, each.value)) ||
          !appendCase(result, each.when, isAbs ? Conjunction{{*negated, false}} : Conjunction(), negated))
        return {{{}, unknown(id, places, isAbs ? std::optional<Form>(0) : std::nullopt, std::nullopt)}};
    }
    return result;
  }
  Cases right = value(node.operands[1], places);
  fewer(node, places, left, right, node.op == Op::Max || node.op == Op::Min ? kMaxCases / 2 : kMaxCases);
  if (node.op == Op::Max || node.op == Op::Min) {
    result = extremum(left, right, node.op == Op::Max);
    return result.empty() ? opaque(id, places) : result;
  }
  bool bothNonNegative = true;
  for (const ValueCase &a : left)
    for (const ValueCase &b : right) {
      if (appendCase(result, a.when, b.when, combine(node.op, a.value, b.value)))
        continue;
      for (const Form &factor : {a.value, b.value}) {
        Interval interval = intervalOf(factor, list, entry.dims.size());
        bothNonNegative &= interval.low && plainlyNonNegative(*interval.low, entry);
      }
      result.clear();
      return {{{},
               unknown(id, places,
                       bothNonNegative && left.size() * right.size() == 1 && node.op == Op::Mul ? std::optional<Form>(0)
                                                                                                : std::nullopt,
                       std::nullopt)}};
    }
  return result;
}

Cases LinearValues::extremum(const Cases &left, const Cases &right, bool maximum) {
  Cases result;
  for (const ValueCase &a : left)
    for (const ValueCase &b : right) {
      std::optional<Form> difference = maximum ? subtract(a.value, b.value) : subtract(b.value, a.value);
      std::optional<Form> opposite = difference ? multiply(*difference, Form(-1)) : std::nullopt;
      if (!opposite)
        return {};
      Conjunction when = a.when;
      when.insert(when.end(), b.when.begin(), b.when.end());
      // Either side holds at a tie, so both cases may contain it.
      if (!appendCase(result, when, {{*difference, false}}, a.value) || !appendCase(result, when, {{*opposite, false}}, b.value))
        return {};
    }
  return result;
}

/// `div` and `mod` round down, as in the language; the divisor is a number other than 0, or a form that is at least 1.
Cases LinearValues::quotient(NodeId id, const Places &places) {
  const Node &node = entry.nodes[id];
  Cases right = value(node.operands[1], places), result;
  if (right.size() != 1)
    right = collapsed(node.operands[1], places, right);
  if (right.size() != 1 || !right[0].when.empty())
    return opaque(id, places);
  for (const ValueCase &each : value(node.operands[0], places)) {
    std::optional<ValueCase> made = quotientOf(each.value, right[0].value, node.op == Op::Mod);
    if (!made || !appendCase(result, each.when, made->when, made->value))
      return opaque(id, places);
  }
  return result;
}

bool LinearValues::surelyNonNegative(const std::optional<Form> &form) const {
  if (!form)
    return false;
  Interval range = intervalOf(*form, list, entry.dims.size());
  return range.low && plainlyNonNegative(*range.low, entry);
}

std::optional<ValueCase> LinearValues::quotientOf(const Form &dividend, const Form &divisor, bool wantsRest) {
  const std::optional<Form> lastRest = minus(divisor, Form(1));
  const bool positive = surelyNonNegative(lastRest), nonNegative = surelyNonNegative(dividend);
  if (positive && nonNegative && surelyNonNegative(minus(lastRest, dividend)))
    return ValueCase{{}, wantsRest ? dividend : Form(0)};
  if (auto number = divisor.asConstant(); number && *number != 0) {
    Form rest = fresh("", Form(std::min<int64_t>(0, *number + 1)), Form(std::max<int64_t>(0, *number - 1)));
    Form whole = fresh("", nonNegative && *number > 0 ? std::optional<Form>(0) : std::nullopt, std::nullopt);
    std::optional<Form> equation = minus(dividend, plus(multiply(whole, divisor), rest));
    return equation ? std::optional<ValueCase>({{{*equation, true}}, wantsRest ? rest : whole}) : std::nullopt;
  }
  if (!positive || (!wantsRest && !nonNegative))
    return std::nullopt;
  // 0 <= x mod n <= n - 1, and 0 <= x div n <= x for x >= 0, n >= 1.
  const Form most = wantsRest ? *lastRest : dividend;
  Form made = fresh("", Form(0), intervalOf(most, list, entry.dims.size()).high);
  std::optional<Form> room = minus(most, made);
  return room ? std::optional<ValueCase>({{{*room, false}}, made}) : std::nullopt;
}

} // namespace tenon
