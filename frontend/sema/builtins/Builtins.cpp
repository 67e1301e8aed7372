// The built-in functions: the table, argument checks, elementwise functions, reductions, contraction.
#include "frontend/sema/Checker.h"
#include "frontend/sema/builtins/Distributions.h"
#include <cmath>
#include <set>

namespace tenon::sema {

namespace {
struct Function {
  Op op;
  double (*apply)(double);
};
const std::map<std::string, Function> &unaryFunctions() {
  static const std::map<std::string, Function> functions = {
      {"exp", {Op::Exp, [](double x) { return std::exp(x); }}},
      {"log", {Op::Log, [](double x) { return std::log(x); }}},
      {"sqrt", {Op::Sqrt, [](double x) { return std::sqrt(x); }}},
      {"abs", {Op::Abs, [](double x) { return std::fabs(x); }}},
      {"round", {Op::Round, [](double x) { return std::nearbyint(x); }}},
      {"floor", {Op::Floor, [](double x) { return std::floor(x); }}},
      {"ceil", {Op::Ceil, [](double x) { return std::ceil(x); }}},
      {"sin", {Op::Sin, [](double x) { return std::sin(x); }}},
      {"cos", {Op::Cos, [](double x) { return std::cos(x); }}},
      {"atan", {Op::Atan, [](double x) { return std::atan(x); }}},
      {"erf", {Op::Erf, [](double x) { return std::erf(x); }}},
      {"tanh", {Op::Tanh, [](double x) { return std::tanh(x); }}},
      {"sigmoid", {Op::Sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }}},
      {"relu", {Op::Relu, [](double x) { return x > 0 ? x : 0; }}},
      {"leaky_relu", {Op::LeakyRelu, [](double x) { return x > 0 ? x : 0.01 * x; }}},
      {"gelu", {Op::Gelu, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }}},
      {"gelu_tanh",
       {Op::GeluTanh, [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }}},
      {"stop_gradient", {Op::StopGradient, [](double x) { return x; }}},
      {"real", {Op::ToReal, [](double x) { return x; }}},
  };
  return functions;
}
} // namespace

const std::map<std::string, Checker::Handler> &Checker::handlers() {
  static const std::map<std::string, Handler> table = [] {
    std::map<std::string, Handler> all = {
        {"min", &Checker::minMaxBuiltin},
        {"max", &Checker::minMaxBuiltin},
        {"sum", &Checker::reduceBuiltin},
        {"mean", &Checker::reduceBuiltin},
        {"all", &Checker::reduceBuiltin},
        {"any", &Checker::reduceBuiltin},
        {"dot", &Checker::dotBuiltin},
        {"clip", &Checker::clipBuiltin},
        {"where", &Checker::whereBuiltin},
        {"softmax", &Checker::softmaxBuiltin},
        {"log_softmax", &Checker::softmaxBuiltin},
        {"normalize", &Checker::normalizeBuiltin},
        {"dropout", &Checker::dropoutBuiltin},
        {"sample", &Checker::sampleBuiltin},
        {"cross_entropy", &Checker::crossEntropyBuiltin},
        {"binary_cross_entropy", &Checker::binaryCrossEntropyBuiltin},
        {"argmax", &Checker::argmaxBuiltin},
        {"cumsum", &Checker::cumsumBuiltin},
        {"flip", &Checker::flipBuiltin},
        {"top", &Checker::topBuiltin},
        {"put", &Checker::putBuiltin},
        {"window", &Checker::windowBuiltin},
        {"concat", &Checker::concatBuiltin},
        {"expand", &Checker::expandBuiltin},
        {"full", &Checker::expandBuiltin},
        {"iota", &Checker::iotaBuiltin},
        {"size", &Checker::sizeBuiltin},
        {"sinusoid", &Checker::sinusoidBuiltin},
        {"gumbel", &Checker::distributionBuiltin},
        {"normal", &Checker::distributionBuiltin},
        {"trunc_normal", &Checker::distributionBuiltin},
        {"uniform", &Checker::distributionBuiltin},
        {"xavier_uniform", &Checker::distributionBuiltin},
        {"kaiming_normal", &Checker::distributionBuiltin},
        {"orthogonal", &Checker::distributionBuiltin},
    };
    for (const auto &[name, function] : unaryFunctions())
      all.emplace(name, &Checker::unaryBuiltin);
    return all;
  }();
  return table;
}
bool Checker::isBuiltin(const std::string &name) { return handlers().count(name) != 0; }
std::vector<std::string> Checker::builtins() {
  std::vector<std::string> names;
  for (auto &[name, handler] : handlers())
    names.push_back(name);
  return names;
}

Value Checker::callBuiltin(Scope *scope, const std::string &name, const std::vector<ast::AxisOp> &axisOps,
                           const ast::Expr &expression, ast::Range nameRange) {
  Call call{scope, name, &axisOps, {}, {}, {}, expression.range, nameRange};
  for (auto &argument : expression.arguments) {
    if (argument.keyword) {
      call.keywords.push_back({argument.keyword->text, evaluate(scope, argument.value), argument.keyword->range});
      continue;
    }
    Scope *place = scope;
    size_t index = call.arguments.size();
    // where(c, a, b): the indices of a are proved under c, those of b under not c.
    if (name == "where" && index > 0 && index < 3 && call.arguments[0].isTensor() &&
        graph.element(call.arguments[0].node) == Element::Bool) {
      NodeId condition = call.arguments[0].node;
      place = newScope(scope);
      place->conditions.push_back(index == 1 ? condition : graph.unary(Op::Not, condition, call.ranges[0]));
    }
    call.arguments.push_back(evaluate(place, argument.value));
    call.ranges.push_back(argument.value->range);
  }
  for (auto &argument : call.arguments)
    if (argument.isPoison())
      return poison();
  for (auto &keyword : call.keywords)
    if (keyword.value.isPoison())
      return poison();
  return (this->*handlers().at(name))(call);
}

/// How a function with axes is called.
static std::string formOf(const std::string &name) {
  static const std::map<std::string, const char *> others = {{"concat", "concat[A + B -> C](a, b)"},
                                                             {"cross_entropy", "cross_entropy[V](logits, labels)"},
                                                             {"dot", "dot[D](x, w), with the axes that are summed"},
                                                             {"expand", "expand[T](x)"},
                                                             {"full", "full[B, T](0.0)"},
                                                             {"iota", "iota[T]()"},
                                                             {"normalize", "normalize[D](x, eps = 1e-5)"},
                                                             {"put", "put[S: at](x, v)"},
                                                             {"sinusoid", "sinusoid[P, D]()"},
                                                             {"size", "size[T]()"},
                                                             {"top", "top[V -> K](x)"},
                                                             {"window", "window[T -> W * K](x)"}};
  auto found = others.find(name);
  return found == others.end() ? name + "[D](x)" : found->second;
}

/// What other libraries call an argument that says along which axis.
static bool saysAxis(const std::string &keyword) {
  return keyword == "dim" || keyword == "axis" || keyword == "dims" || keyword == "axes" || keyword == "keepdim";
}

/// `axes`: 0 none, 1 needed, -1 allowed.
bool Checker::arity(const Call &call, size_t least, size_t most, std::initializer_list<const char *> keywords, int axes) {
  bool ok = true;
  const bool misnamed = keywords.size() == 0 && !call.keywords.empty() && call.arguments.size() + call.keywords.size() <= most;
  if ((call.arguments.size() < least && !misnamed) || call.arguments.size() > most) {
    std::string wanted = std::to_string(least) + (most == least ? "" : " or " + std::to_string(most));
    auto *mistake = error("T0307", call.range,
                          call.name + " takes " + wanted + (most == 1 ? " argument" : " arguments") + ", given are " +
                              std::to_string(call.arguments.size()));
    if (mistake && axes != 0 && call.axisOps->empty() && call.arguments.size() > most)
      mistake->notes.push_back({"help", "axes stand in brackets, as in " + formOf(call.name)});
    ok = false;
  }
  for (auto &keyword : call.keywords) {
    bool known = false;
    std::vector<std::string> names;
    for (const char *name : keywords) {
      known |= keyword.name == name;
      names.push_back(name);
    }
    if (known)
      continue;
    if (auto *mistake = error("T0308", keyword.range, call.name + " has no keyword " + keyword.name)) {
      std::string all;
      for (auto &name : names)
        all += (all.empty() ? "" : ", ") + name;
      const size_t given = call.arguments.size() + 1;
      mistake->notes.push_back({"help", axes != 0 && saysAxis(keyword.name) ? "axes stand in brackets: " + formOf(call.name)
                                        : !all.empty()                      ? "its keywords: " + all
                                        : given <= most
                                            ? call.name + " has no keywords: give the value as argument " + std::to_string(given)
                                            : call.name + " has no keywords"});
    }
    ok = false;
  }
  if (axes == 0 && !call.axisOps->empty()) {
    error("T0216", (*call.axisOps)[0].range, call.name + " takes no axes");
    ok = false;
  }
  if (axes == 1 && call.axisOps->empty()) {
    auto *mistake = error("T0216", call.nameRange, call.name + " needs its axes: " + call.name + "[...](...)");
    if (const std::string form = formOf(call.name); mistake && form != call.name + "[D](x)") {
      mistake->notes.push_back({"help", "it is written: " + form});
    } else if (mistake && !call.arguments.empty() && call.arguments[0].isTensor() &&
               !graph.axes(call.arguments[0].node).empty()) {
      const std::string last = axisName(graph.axes(call.arguments[0].node).back());
      mistake->notes.push_back({"help", "along " + last + ", which is the last one of " + text(call.arguments[0].node) + ": " +
                                            call.name + "[" + last + "](...)"});
    }
    ok = false;
  }
  return ok;
}

std::optional<std::vector<AxisId>> Checker::callAxes(const Call &call) {
  std::vector<AxisId> all;
  for (auto &op : *call.axisOps) {
    if (op.low || !op.to.empty()) {
      error("T0216", op.range, call.name + " takes plain axes here");
      return std::nullopt;
    }
    auto axes = axesOf(call.scope, op.from);
    if (!axes)
      return std::nullopt;
    for (AxisId axis : *axes) {
      if (includes(all, axis)) {
        error("T0206", op.range, "axis " + axisName(axis) + " is named twice");
        return std::nullopt;
      }
      all.push_back(axis);
    }
  }
  return all;
}

static constexpr char kKnown[] = "numbers are, and configs: config n = 4";
static constexpr char kPerDepth[] =
    "layers with other settings stand side by side: use near, far = .., then `if depth mod 2 == 0 "
    "then near(x) else far(x)`; of rates: docs/cookbook.md, \"Layers that differ by depth\"";

/// Whether a value is computed of the index in a stack.
static bool hangsOnDepth(const Graph &graph, const Value &value) {
  std::vector<NodeId> work;
  std::set<NodeId> seen;
  if (value.isTensor())
    work.push_back(value.node);
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (!seen.insert(id).second)
      continue;
    const Node &node = graph[id];
    if (node.op == Op::Depth && node.stack != kEntryBody && !graph.entry.stacks[node.stack].isScan)
      return true;
    work.insert(work.end(), node.operands.begin(), node.operands.end());
  }
  return false;
}

std::optional<double> Checker::staticReal(const Value &value, ast::Range range, const std::string &what) {
  if (auto number = value.asReal())
    return number;
  const bool ofDepth = hangsOnDepth(graph, value);
  if (!value.isPoison())
    errorWith("T0309", range,
              what + " must be a number known at compile time, this " + (ofDepth ? "depends on depth" : "is " + text(value)),
              ofDepth ? kPerDepth : kKnown);
  return std::nullopt;
}
std::optional<int64_t> Checker::staticInt(const Value &value, ast::Range range, const std::string &what) {
  if (auto number = value.number())
    return number;
  const bool ofDepth = hangsOnDepth(graph, value);
  if (!value.isPoison())
    errorWith("T0309", range,
              what + " must be a whole number known at compile time, this " +
                  (ofDepth ? "depends on depth" : "is " + text(value)),
              ofDepth ? kPerDepth : kKnown);
  return std::nullopt;
}

double (*Checker::unaryFunction(Op op))(double) {
  for (auto &[name, function] : unaryFunctions())
    if (function.op == op)
      return function.apply;
  return nullptr;
}

Value Checker::unaryBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {}, 0))
    return poison();
  const Function &function = unaryFunctions().at(call.name);
  const Value &argument = call.arguments[0];
  if (auto value = ofDistribution(call.name, argument))
    return *value;
  if (argument.isStatic()) {
    if (function.op == Op::Abs && argument.number())
      return Value::ofInt(Size(std::abs(*argument.number())), argument.runtime);
    if (auto number = argument.asReal()) {
      double result = function.apply(*number);
      if (std::isfinite(result))
        return Value::ofReal(result);
      error("T0306", call.range, call.name + " of " + text(argument) + " is not finite");
      return poison();
    }
  }
  NodeId node = tensor(argument, call.ranges[0]);
  if (node == kNoNode)
    return poison();
  if (function.op == Op::ToReal)
    return Value::ofTensor(graph.toReal(node));
  if (function.op == Op::Abs)
    return Value::ofTensor(graph.unary(Op::Abs, graph.toInt(node), call.range));
  if (function.op == Op::StopGradient)
    return graph.element(node) == Element::Real ? Value::ofTensor(graph.unary(Op::StopGradient, node, call.range))
                                                : Value::ofTensor(node);
  return Value::ofTensor(graph.unary(function.op, graph.toReal(node), call.range));
}

Value Checker::minMaxBuiltin(const Call &call) {
  if (call.arguments.size() > 2) {
    error("T0307", call.range,
          call.name + " takes two arguments, " + call.name + "(a, b), or one and axes, " + call.name + "[T](x); given are " +
              std::to_string(call.arguments.size()));
    return poison();
  }
  if (call.arguments.size() != 2)
    return reduceBuiltin(call);
  if (!call.axisOps->empty()) {
    errorWith("T0216", (*call.axisOps)[0].range, call.name + " of two values compares them place by place and takes no axes",
              call.name + "(" + call.name +
                  "[T](x), 2) is that of the largest of T and 2; the K largest of an axis are top[T -> K](x)");
    return poison();
  }
  if (!arity(call, 2, 2, {}, 0))
    return poison();
  bool isMax = call.name == "max";
  const Value &a = call.arguments[0], &b = call.arguments[1];
  if (a.kind == Value::Kind::Int && b.kind == Value::Kind::Int) {
    if (provablyAtMost(a.integer, b.integer, graph.entry))
      return isMax ? b : a;
    if (provablyAtMost(b.integer, a.integer, graph.entry))
      return isMax ? a : b;
  } else if (auto x = a.asReal(), y = b.asReal(); x && y) {
    return Value::ofReal(isMax ? std::max(*x, *y) : std::min(*x, *y));
  }
  NodeId left = tensor(a, call.ranges[0]), right = tensor(b, call.ranges[1]);
  if (left == kNoNode || right == kNoNode)
    return poison();
  bool real = graph.element(left) == Element::Real || graph.element(right) == Element::Real;
  if (real && !checkBroadcast(left, right, call.nameRange, call.name, call.ranges[0], call.ranges[1]))
    return poison();
  left = real ? graph.toReal(left) : graph.toInt(left);
  right = real ? graph.toReal(right) : graph.toInt(right);
  return Value::ofTensor(
      graph.elementwise(isMax ? Op::Max : Op::Min, {left, right}, real ? Element::Real : Element::Int, call.range));
}

Value Checker::reduceBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {}, -1))
    return poison();
  NodeId node = tensor(call.arguments[0], call.ranges[0]);
  auto axes = callAxes(call);
  if (node == kNoNode || !axes)
    return poison();
  if (call.axisOps->empty())
    axes = graph.axes(node);
  for (AxisId axis : *axes)
    if (!requireAxis(node, axis, call.ranges[0], "the argument of " + call.name))
      return poison();
  if (call.name == "all" || call.name == "any") {
    if (graph.element(node) != Element::Bool) {
      needTruth(call.ranges[0], call.name + " needs truth values, this is " + text(node));
      return poison();
    }
    return Value::ofTensor(graph.reduce(call.name == "all" ? Op::All : Op::Any, node, *axes, Element::Bool, call.range));
  }
  if (call.name != "sum")
    for (AxisId axis : *axes)
      if (!requirePlaces(axis, call.range,
                         call.name == "mean" ? "a mean over axis " + sized(axis) + " is 0 / 0"
                                             : call.name + " over axis " + sized(axis) + " has no value"))
        return poison();
  node = call.name == "mean" ? graph.toReal(node) : graph.toInt(node);
  Op op = call.name == "max" ? Op::ReduceMax : call.name == "min" ? Op::ReduceMin : Op::Sum;
  NodeId result = graph.reduce(op, node, *axes, graph.element(node), call.range);
  if (call.name == "mean" && !axes->empty())
    result = graph.elementwise(Op::Div, {result, graph.countReal(*axes, call.range)}, Element::Real, call.range);
  return Value::ofTensor(result);
}

Value Checker::dotBuiltin(const Call &call) {
  if (!arity(call, 2, 2, {}, 1))
    return poison();
  NodeId left = realTensor(call.arguments[0], call.ranges[0]), right = realTensor(call.arguments[1], call.ranges[1]);
  auto axes = callAxes(call);
  if (left == kNoNode || right == kNoNode || !axes)
    return poison();
  for (AxisId axis : *axes)
    if (!requireAxis(left, axis, call.ranges[0], "the left side of dot") ||
        !requireAxis(right, axis, call.ranges[1], "the right side of dot"))
      return poison();
  Node node = makeNode(Op::Dot, {Element::Real, without(graph.axes(left), *axes), {}});
  for (AxisId axis : without(graph.axes(right), *axes))
    if (!includes(node.type.axes, axis))
      node.type.axes.push_back(axis);
  node.operands = {left, right};
  node.axesFrom = *axes;
  node.layer = call.scope->frame->layer();
  node.range = call.range;
  return Value::ofTensor(graph.add(node));
}

} // namespace tenon::sema
