// Inputs, parameters and initializers: leaves of the graph.
#include "frontend/ElementTypes.h"
#include "frontend/sema/Checker.h"
#include "frontend/sema/builtins/Distributions.h"
#include <cmath>

namespace tenon::sema {

Value Checker::inputValue(const ast::Stmt &statement) {
  const ast::Type &type = *statement.type;
  auto axes = typeAxes(top, type);
  auto element = elementOf(type);
  if (!axes || !element)
    return poison();
  Input input;
  input.name = statement.name.text;
  input.type = {*element, *axes, {}};
  if (isWrittenReal(type.element))
    input.type.pinned = type.element;
  input.isIndex = type.element == "index";
  if (input.isIndex) {
    if (!type.bound) {
      error("T0305", type.range, "an index says how many values it has: index(n)");
      return poison();
    }
    const Value limit = evaluate(top, type.bound);
    auto bound = wholeSize(limit, type.bound->range, "the bound of an index");
    if (!bound)
      return recovered(top, type);
    input.bound = *bound;
    input.ofSizes = limit.runtime;
    if (auto values = bound->asConstant(); values && *values < 1) {
      error("T0305", type.bound->range, "an index has at least one value; here there are " + std::to_string(*values));
      return poison();
    }
  }
  auto [place, isNew] = inputIndex.try_emplace(input.name, uint32_t(graph.entry.inputs.size()));
  if (isNew)
    graph.entry.inputs.push_back(input);
  Node node = makeNode(Op::Input, input.type);
  node.index = place->second;
  node.range = statement.name.range;
  return Value::ofTensor(graph.add(node));
}

/// Whether this entry has the param with other sizes already: from another body of the same stack.
bool Checker::isAnotherShape(const std::string &path, const std::vector<AxisId> &axes) const {
  auto known = session.parameterByPath.find(path);
  if (known == session.parameterByPath.end())
    return false;
  for (const Node &node : graph.entry.nodes)
    if (node.op == Op::Param && node.index == known->second)
      return !std::equal(axes.begin(), axes.end(), node.type.axes.begin(), node.type.axes.end(),
                         [&](AxisId a, AxisId b) { return graph.size(a) == graph.size(b); });
  return false;
}

/// Its sizes, which are numbers known at compile time, and few enough.
bool Checker::shapeParameter(Scope *scope, const ast::Stmt &statement, const std::vector<AxisId> &axes, Param &param) {
  for (AxisId axis : axes) {
    auto size = graph.size(axis).asConstant();
    if (!size || graph.axisRuntime[axis]) {
      auto *mistake = error("T0219", statement.name.range,
                            "param " + statement.name.text + " has axis " + sized(axis) + ", which varies at run time");
      if (mistake)
        mistake->notes.push_back(
            {"help", "the size of a parameter is made of configs; a bounded table takes the bound: config L = 512"});
      return false;
    }
    param.axes.push_back(axisName(axis));
    param.shape.push_back(*size);
  }
  param.publishedShape = declaredSizes(scope, *statement.type);
  constexpr int64_t kMostElements = int64_t(1) << 46; // 2^49 bytes in f64: what an address can name
  int64_t elements = 1;
  for (const auto *counts : {&param.shape, &param.stackCounts})
    for (int64_t count : *counts)
      if (__builtin_mul_overflow(elements, count, &elements) || elements > kMostElements) {
        error("T0214", statement.name.range, "param " + statement.name.text + " has more than 2^46 elements");
        return false;
      }
  return true;
}

Value Checker::parameterValue(Scope *scope, const ast::Stmt &statement, const Keyword *given) {
  auto axes = typeAxes(scope, *statement.type);
  auto element = elementOf(*statement.type);
  if (!axes || !element)
    return poison();
  if (*element != Element::Real) {
    errorWith("T0301", statement.type->range, "a param is real; " + statement.type->element + " cannot be trained",
              "what is not trained is an `in`, a `state`, or an expression of iota");
    return poison();
  }
  if (given && given->value.isPoison())
    return poison();
  if (given && given->value.kind == Value::Kind::Bool && !given->value.truth) // absent: reads 0
    return Value::ofTensor(graph.expand(graph.real(0), *axes, statement.name.range));
  if (given && given->value.isTensor())
    return tiedParameter(given->value, *axes, statement, given->range);

  Frame &frame = *scope->frame;
  std::string path = frame.path();
  path += (path.empty() ? "" : ".") + statement.name.text;
  Param param;
  param.path = path;
  param.stackCounts = frame.stackCounts;
  param.range = statement.name.range;
  if (!shapeParameter(scope, statement, *axes, param))
    return Value::ofTensor(graph.opaque({Element::Real, *axes, {}}, statement.name.range));
  auto init = given ? initializerOf(given->value, param.publishedShape, given->range, statement.name.text)
                    : initializer(scope, statement, param.stackCounts, param.publishedShape, *axes);
  if (!init)
    return Value::ofTensor(graph.opaque({Element::Real, *axes, {}}, statement.name.range));
  param.init = *init;
  if (isAnotherShape(path, *axes)) {
    auto *mistake = error("T0405", statement.name.range,
                          "param " + statement.name.text + " would have other axes at other depths of its stack");
    if (mistake)
      mistake->notes.push_back(
          {"help", "use two names where the sizes differ: a layer each, chosen by if depth .. then .. else .."});
    return Value::ofTensor(graph.opaque({Element::Real, *axes, {}}, statement.name.range));
  }
  Node node = makeNode(Op::Param, {Element::Real, *axes, {}});
  node.index = session.parameter({param, frame.steps, statement.name.text});
  if (isWrittenReal(statement.type->element))
    node.type.pinned = statement.type->element;
  node.range = statement.name.range;
  return Value::ofTensor(graph.add(node, frame.parameterBody));
}

Value Checker::tiedParameter(const Value &tied, const std::vector<AxisId> &axes, const ast::Stmt &statement, ast::Range range) {
  NodeId node = realTensor(tied, range);
  const auto &own = graph.axes(node);
  auto asDeclared = [&](NodeId made) {
    const std::string &written = statement.type->element;
    return Value::ofTensor(isWrittenReal(written) ? pin(made, written, range) : made);
  };
  if (sameSet(own, axes))
    return asDeclared(graph.transpose(node, axes, range));
  bool same = own.size() == axes.size();
  for (size_t i = 0; same && i < axes.size(); ++i)
    same = graph.size(own[i]) == graph.size(axes[i]);
  if (!same) {
    auto *mistake =
        error("T0202", range,
              "the tensor tied to param " + statement.name.text + " has axes " + text(own) + ", declared are " + text(axes));
    if (mistake)
      mistake->related.push_back({statement.name.range, "declared here"});
    return Value::ofTensor(graph.opaque({Element::Real, axes, {}}, range));
  }
  std::vector<AxisId> fresh; // renamed through axes of its own: [A, B] tied to [B, A] must not meet itself
  for (AxisId axis : own)
    fresh.push_back(includes(axes, axis) ? graph.newAxis(axisName(axis), graph.size(axis), graph.axisRuntime[axis]) : axis);
  node = graph.rename(node, own, fresh, range);
  return asDeclared(graph.rename(node, fresh, axes, range));
}

/// One size per axis of a declaration; a formal that stands for a product is one axis.
std::vector<int64_t> Checker::declaredSizes(Scope *scope, const ast::Type &type) {
  std::vector<int64_t> sizes;
  for (auto &name : type.axes) {
    int64_t size = 1;
    bool bad = false;
    if (const AxisGroup *group = findAxis(scope, name.text, name.range, bad))
      for (AxisId axis : group->axes)
        size *= graph.size(axis).asConstant().value_or(1);
    sizes.push_back(size);
  }
  return sizes;
}

std::optional<Initializer> Checker::initializer(Scope *scope, const ast::Stmt &statement, const std::vector<int64_t> &stackCounts,
                                                const std::vector<int64_t> &fan, const std::vector<AxisId> &axes) {
  auto initial = [&] {
    Value value = evaluate(scope, statement.value);
    return value.kind == Value::Kind::Tensor ? tableOf(value.node, axes, statement.value->range, statement.name.text)
                                             : initializerOf(value, fan, statement.value->range, statement.name.text);
  };
  if (stackCounts.empty())
    return initial();
  // In a stack the initializer may use `depth`, the index in the innermost stack.
  std::optional<Initializer> first;
  std::vector<double> perDepth;
  auto outer = staticDepth;
  bool outerUsed = usedStaticDepth;
  int64_t count = stackCounts.back();
  usedStaticDepth = false;
  for (int64_t depth = 0; depth < std::max<int64_t>(count, 1); ++depth) {
    staticDepth = depth;
    auto init = initial();
    if (init && usedStaticDepth && !init->table.empty()) {
      error("T0311", statement.value->range, "the initializer of " + statement.name.text + " uses an axis' index and depth");
      init.reset();
    }
    if (init && first && init->kind != first->kind) {
      error("T0311", statement.value->range,
            "the initializer of " + statement.name.text + " adds or multiplies another number at each depth");
      init.reset();
    }
    if (!init || !usedStaticDepth) {
      first = init;
      perDepth.clear();
      break;
    }
    if (!first)
      first = init;
    perDepth.push_back(init->a);
  }
  staticDepth = outer;
  usedStaticDepth = outerUsed;
  if (first && !perDepth.empty()) {
    int64_t repeats = 1;
    for (size_t i = 0; i + 1 < stackCounts.size(); ++i)
      repeats *= stackCounts[i];
    for (int64_t i = 0; i < repeats; ++i)
      first->perElement.insert(first->perElement.end(), perDepth.begin(), perDepth.end());
  }
  return first;
}

std::optional<Initializer> Checker::initializerOf(const Value &value, const std::vector<int64_t> &fan, ast::Range range,
                                                  const std::string &name) {
  if (value.isPoison())
    return std::nullopt;
  if (value.kind == Value::Kind::Bool) {
    if (auto *mistake = error("T0311", range,
                              "the initializer of " + name +
                                  " must be a number, a distribution such as normal(0.02), an expression of indices or, of a "
                                  "state, a param or another state; this is " +
                                  text(value)))
      mistake->notes.push_back(
          {"help", "false as a keyword of `use` leaves a param out; without the keyword the layer's own initializer holds"});
    return std::nullopt;
  }
  if (auto number = value.asReal())
    return Initializer{"constant", *number, {}, {}, {}};
  Distribution distribution;
  if (value.kind == Value::Kind::Distribution)
    distribution = *value.distribution;
  else if (value.kind == Value::Kind::Builtin && handlers().at(value.text) == &Checker::distributionBuiltin)
    distribution.kind = value.text;
  else {
    error("T0311", range,
          "the initializer of " + name +
              " must be a number, a distribution such as normal(0.02), an expression of indices or, of a state, a param or "
              "another state; this is " +
              text(value));
    return std::nullopt;
  }
  Initializer init{distribution.kind, distribution.arguments.empty() ? 1.0 : distribution.arguments[0], {}, {}, {}};
  // Fans as in PyTorch: first axis out, the rest in; from three axes on the later ones are a receptive field that counts for
  // both.
  double out = fan.empty() ? 1 : double(fan[0]), in = 1;
  for (size_t i = 1; i < fan.size(); ++i)
    in *= double(fan[i]);
  for (size_t i = 2; i < fan.size(); ++i)
    out *= double(fan[i]);
  const std::string drawn = init.kind.substr(0, init.kind.find(' '));
  if (drawn == "xavier_uniform")
    init.a *= std::sqrt(6.0 / (in + out));
  if (drawn == "kaiming_normal") // fan_out, gain of ReLU
    init.a *= std::sqrt(2.0 / out);
  if (std::string mistake = mistakeOfDraws(init); !mistake.empty()) {
    error("T0311", range, "the initializer of " + name + " is " + text(value) + ", and " + mistake);
    return std::nullopt;
  }
  return init;
}

} // namespace tenon::sema
