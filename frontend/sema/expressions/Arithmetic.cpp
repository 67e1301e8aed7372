// Operators: numbers known at compile time (linear forms over the dims) are computed, the rest becomes nodes.
#include "frontend/graph/Products.h"
#include "frontend/sema/Checker.h"
#include "frontend/sema/builtins/Distributions.h"
#include <algorithm>
#include <cmath>

namespace tenon::sema {
namespace {

bool isComparison(const std::string &op) {
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}
template <class T> bool compare(const std::string &op, T left, T right) {
  return op == "=="   ? left == right
         : op == "!=" ? left != right
         : op == "<"  ? left < right
         : op == "<=" ? left <= right
         : op == ">"  ? left > right
                      : left >= right;
}
int64_t floorRest(int64_t a, int64_t b) { return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0); }
std::optional<int64_t> power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result))
      return std::nullopt;
    else if (i > 128 && (result == 0 || result == 1))
      break;
  return result;
}

} // namespace

Value Checker::negate(Value value, ast::Range range) {
  switch (value.kind) {
  case Value::Kind::Int:
    if (auto negative = subtract(Size(0), value.integer))
      return Value::ofInt(*negative, value.runtime);
    error("T0306", range, "this number does not fit into 64 bits");
    return poison();
  case Value::Kind::Real:
    return Value::ofReal(-value.real);
  case Value::Kind::Bool:
    return Value::ofInt(value.truth ? -1 : 0);
  default: {
    NodeId node = tensor(value, range);
    return node == kNoNode ? poison() : Value::ofTensor(graph.unary(Op::Neg, graph.toInt(node), range));
  }
  }
}

Value Checker::logicalNot(const Value &value, ast::Range range) {
  if (value.kind == Value::Kind::Bool)
    return Value::ofBool(!value.truth);
  if (value.isPoison())
    return poison();
  if (!value.isTensor() || graph.element(value.node) != Element::Bool) {
    needTruth(range, "`not` needs a truth value, this is " + text(value));
    return poison();
  }
  return Value::ofTensor(graph.unary(Op::Not, value.node, range));
}

Value Checker::binary(const std::string &op, const Value &left, const Value &right, const ast::Expr &expression) {
  if (left.isPoison() || right.isPoison())
    return poison();
  auto isName = [](const Value &value) {
    return value.kind == Value::Kind::String || value.kind == Value::Kind::Builtin || value.kind == Value::Kind::Layer ||
           value.kind == Value::Kind::Function;
  };
  if (isName(left) || isName(right)) {
    if (op != "==" && op != "!=") {
      helpDraw(
          error("T0302", expression.opRange, "`" + op + "` needs numbers or tensors, not " + kindOf(isName(left) ? left : right)),
          isName(left) ? left : right);
      return poison();
    }
    bool same = left.kind == right.kind && left.text == right.text;
    if (same && left.kind == Value::Kind::Layer)
      same = left.layer->callable == right.layer->callable;
    if (same && left.kind == Value::Kind::Function)
      same = left.function->callable == right.function->callable;
    return Value::ofBool(same == (op == "=="));
  }
  if (auto value = withDistribution(op, left, right))
    return *value;
  if (left.isStatic() && right.isStatic())
    if (auto value = staticBinary(op, left, right, expression))
      return *value;
  NodeId a = tensor(left, expression.operands[0]->range), b = tensor(right, expression.operands[1]->range);
  if (a == kNoNode || b == kNoNode)
    return poison();
  return tensorBinary(op, a, b, expression);
}

std::optional<Value> Checker::staticBinary(const std::string &op, const Value &left, const Value &right,
                                           const ast::Expr &expression) {
  if (op == "and" || op == "or") {
    if (left.kind != Value::Kind::Bool || right.kind != Value::Kind::Bool) {
      needTruth(expression.opRange, "`" + op + "` needs truth values, these are " + text(left) + " and " + text(right));
      return poison();
    }
    return Value::ofBool(op == "and" ? left.truth && right.truth : left.truth || right.truth);
  }
  if (left.kind == Value::Kind::Int && right.kind == Value::Kind::Int)
    return wholeBinary(op, left, right, expression);
  if (left.kind == Value::Kind::Bool && right.kind == Value::Kind::Bool && (op == "==" || op == "!="))
    return Value::ofBool((left.truth == right.truth) == (op == "=="));
  auto a = left.asReal(), b = right.asReal();
  if (!a || !b)
    return std::nullopt; // a dim times a real: computed at run time
  if (isComparison(op))
    return Value::ofBool(compare(op, *a, *b));
  if ((op == "/" || op == "mod" || op == "div") && *b == 0) {
    error("T0306", expression.opRange, "division by 0");
    return poison();
  }
  double result = op == "+"     ? *a + *b
                  : op == "-"   ? *a - *b
                  : op == "*"   ? *a * *b
                  : op == "/"   ? *a / *b
                  : op == "^"   ? std::pow(*a, *b)
                  : op == "div" ? std::floor(*a / *b)
                                : *a - *b * std::floor(*a / *b);
  if (!std::isfinite(result)) {
    error("T0306", expression.opRange, "this number is not finite: " + text(left) + " " + op + " " + text(right));
    return poison();
  }
  return Value::ofReal(result);
}

/// Where a size is wanted, a product of dims is a dim; elsewhere it is a number of the run.
std::optional<Value> Checker::ofDims(const std::string &op, const Size &left, const Size &right) {
  if (!inSize)
    return std::nullopt;
  std::optional<Size> size = op == "*"   ? multiplyDims(graph.entry, left, right)
                             : op == "/" ? divideDims(graph.entry, left, right)
                             : right.constant() >= 1 && right.constant() <= int64_t(kMostFactors) ? std::optional(left)
                                                                                                  : std::nullopt;
  for (int64_t i = 1; op == "^" && size && i < right.constant(); ++i)
    size = multiplyDims(graph.entry, *size, left);
  return size ? std::optional(Value::ofInt(*size, true)) : std::nullopt;
}

std::optional<Value> Checker::wholeBinary(const std::string &op, const Value &left, const Value &right,
                                          const ast::Expr &expression) {
  const Size &a = left.integer, &b = right.integer;
  bool runtime = left.runtime || right.runtime;
  auto whole = [&](const std::optional<Size> &size) -> std::optional<Value> {
    if (size)
      return Value::ofInt(*size, runtime);
    error("T0306", expression.opRange, "this number does not fit into 64 bits: " + text(left) + " " + op + " " + text(right));
    return poison();
  };
  auto x = a.asConstant(), y = b.asConstant();
  if (op == "+" || op == "-")
    return whole(op == "+" ? add(a, b) : subtract(a, b));
  if (op == "*") {
    return x || y ? whole(multiply(a, b)) : ofDims(op, a, b); // a product of dims is no linear form
  }
  if (isComparison(op)) {
    if (x && y)
      return Value::ofBool(compare(op, *x, *y));
    if (auto order = compareAlways(a, b, graph.entry))
      return Value::ofBool(compare(op, *order, 0));
    if ((op == "<=" && provablyAtMost(a, b, graph.entry)) || (op == ">=" && provablyAtMost(b, a, graph.entry)))
      return Value::ofBool(true);
    if ((op == ">" && provablyAtMost(a, b, graph.entry)) || (op == "<" && provablyAtMost(b, a, graph.entry)))
      return Value::ofBool(false);
    return std::nullopt;
  }
  if ((op == "/" || op == "div" || op == "mod") && y && *y == 0) {
    error("T0306", expression.opRange, "division by 0");
    return poison();
  }
  if (op == "/") {
    if (y)
      if (auto exact = divideExactly(a, *y))
        return Value::ofInt(*exact, runtime);
    if (a == b)
      return Value::ofInt(Size(1));
    if (!y)
      return ofDims(op, a, b);
    return x && y ? std::optional(Value::ofReal(double(*x) / double(*y))) : std::nullopt;
  }
  if (op == "div" || op == "mod") {
    const auto down = y ? divideDown(a, *y) : std::nullopt;
    if (!down)
      return x && y ? whole(std::nullopt) : std::nullopt;
    return Value::ofInt(op == "div" ? *down : Size(floorRest(a.constant(), *y)), runtime); // the dims leave no rest
  }
  if (op == "^" && !x && y)
    return ofDims(op, a, b);
  if (op == "^" && x && y) {
    if (*y < 0)
      return *x == 0 ? std::nullopt : std::optional(Value::ofReal(std::pow(double(*x), double(*y))));
    if (auto result = power(*x, *y))
      return Value::ofInt(Size(*result), runtime);
    return whole(std::nullopt);
  }
  return std::nullopt;
}

bool Checker::checkBroadcast(NodeId left, NodeId right, ast::Range range, const std::string &what, ast::Range leftRange,
                             ast::Range rightRange) {
  if (graph.contains(left, right) || graph.contains(right, left))
    return true;
  auto onlyLeft = without(graph.axes(left), graph.axes(right)), onlyRight = without(graph.axes(right), graph.axes(left));
  auto *mistake =
      error("T0203", range, "neither side of " + what + " has all axes of the other: " + text(left) + " and " + text(right));
  if (mistake) {
    mistake->related.push_back({leftRange, "has " + text(onlyLeft) + ", which the right side lacks"});
    mistake->related.push_back({rightRange, "has " + text(onlyRight) + ", which the left side lacks"});
    std::string names;
    for (AxisId axis : onlyLeft)
      names += (names.empty() ? "" : ", ") + axisName(axis);
    mistake->notes.push_back({"help", "if an outer product is meant, say so: expand[" + names + "](...) on the right side" +
                                          (what == "`==`" || what == "`!=`" ? ", or make both whole numbers" : "")});
  }
  return false;
}

/// Comparisons of whole numbers may span all pairs of places, as masks do. In a loss or metric it is most often a wrong axis:
/// argmax[B] for argmax[C].
void Checker::checkPairs(const std::string &op, NodeId left, NodeId right, const ast::Expr &expression) {
  const ast::Range &range = expression.range;
  const bool inNumber = std::any_of(numbers.begin(), numbers.end(), [&](const ast::Range &number) {
    return number.file == range.file && number.begin <= range.begin && range.end <= number.end;
  });
  if (!inNumber || graph.contains(left, right) || graph.contains(right, left) || graph[left].op == Op::Iota ||
      graph[right].op == Op::Iota)
    return;
  auto *mistake = session.warning("T0317", expression.opRange,
                                  "`" + op + "` compares every place of " + text(graph.axes(left)) + " with every place of " +
                                      text(graph.axes(right)));
  if (!mistake)
    return;
  mistake->related.push_back({expression.operands[0]->range,
                              "has " + text(without(graph.axes(left), graph.axes(right))) + ", which the right side lacks"});
  mistake->related.push_back({expression.operands[1]->range,
                              "has " + text(without(graph.axes(right), graph.axes(left))) + ", which the left side lacks"});
}

Value Checker::tensorBinary(const std::string &op, NodeId left, NodeId right, const ast::Expr &expression) {
  ast::Range range = expression.range;
  Element a = graph.element(left), b = graph.element(right);
  bool logic = op == "and" || op == "or";
  if (logic && (a != Element::Bool || b != Element::Bool)) {
    needTruth(expression.opRange, "`" + op + "` needs truth values, these are " + text(left) + " and " + text(right));
    return poison();
  }
  bool real = a == Element::Real || b == Element::Real || op == "/" || op == "^";
  if (op == "/" && a != Element::Real && b != Element::Real && !(graph.axes(left).empty() && graph.axes(right).empty())) {
    if (auto *mistake = error("T0304", expression.opRange,
                              "`/` of whole numbers is not defined for tensors: " + text(left) + " / " + text(right)))
      mistake->notes.push_back({"help", "real(a) / b divides, a div b rounds down"});
    return poison();
  }
  if ((op == "div" || op == "mod") && (a == Element::Real || b == Element::Real)) {
    noteMadeReal(error("T0901", expression.opRange,
                       "not supported yet: `" + op + "` of reals, these are " + text(left) + " and " + text(right) +
                           "; it takes whole numbers"),
                 a == Element::Real ? left : right);
    return poison();
  }
  if ((a == Element::Real || b == Element::Real || op == "/") &&
      !checkBroadcast(left, right, expression.opRange, "`" + op + "`", expression.operands[0]->range,
                      expression.operands[1]->range))
    return poison();
  if (real) {
    left = graph.toReal(left);
    right = graph.toReal(right);
  } else if (!logic && !(a == Element::Bool && b == Element::Bool && isComparison(op))) {
    left = graph.toInt(left);
    right = graph.toInt(right);
  }
  if (op == "==" || op == "!=")
    checkPairs(op, left, right, expression);
  if (op == ">" || op == ">=") { // operands change places, the axes of the result do not
    Node node = makeNode(op == ">" ? Op::Less : Op::LessEqual, {Element::Bool, graph.unite({left, right}), {}});
    node.operands = {right, left};
    node.range = range;
    return Value::ofTensor(graph.add(std::move(node)));
  }
  if ((op == "div" || op == "mod") && graph[right].op == Op::Constant && graph[right].integer == 0) {
    error("T0306", expression.opRange, "division by 0");
    return poison();
  }
  if (op == "^" && graph[right].op == Op::Constant && graph[right].number == 2)
    return Value::ofTensor(graph.elementwise(Op::Mul, {left, left}, Element::Real, range));
  static const std::map<std::string, Op> ops = {{"+", Op::Add},  {"-", Op::Sub},        {"*", Op::Mul},        {"/", Op::Div},
                                                {"^", Op::Pow},  {"mod", Op::Mod},      {"div", Op::FloorDiv}, {"==", Op::Equal},
                                                {"<", Op::Less}, {"<=", Op::LessEqual}, {"!=", Op::NotEqual},  {"and", Op::And},
                                                {"or", Op::Or}};
  Element element = logic || isComparison(op) ? Element::Bool : real ? Element::Real : Element::Int;
  return Value::ofTensor(graph.elementwise(ops.at(op), {left, right}, element, range));
}

} // namespace tenon::sema
