// Initial values that are expressions of an index: a table, made when the specification is checked.
#include "frontend/sema/Checker.h"
#include <cmath>

namespace tenon::sema {

namespace {

/// The value of a node at one point: a place on each axis. nullopt: more than elementwise functions of indices and numbers.
class AtPoint {
public:
  AtPoint(const Graph &graph, const std::map<AxisId, int64_t> &point) : graph(graph), point(point) {}

  std::optional<double> operator()(NodeId id) {
    const Node &node = graph[id];
    switch (node.op) {
    case Op::Constant:
      return node.type.element == Element::Real ? node.number : double(node.integer);
    case Op::SizeValue: {
      auto size = node.size.asConstant();
      return size ? std::optional(double(*size)) : std::nullopt;
    }
    case Op::Iota: {
      auto place = point.find(graph.axes(id).front());
      return place == point.end() ? std::nullopt : std::optional(double(place->second));
    }
    case Op::Expand:
    case Op::Transpose:
      return (*this)(node.operands[0]);
    default:
      break;
    }
    if (node.op < Op::Neg || node.op > Op::Select)
      return std::nullopt;
    std::vector<double> operands;
    for (NodeId operand : node.operands) {
      auto value = (*this)(operand);
      if (!value)
        return std::nullopt;
      operands.push_back(*value);
    }
    return applied(node, operands);
  }

private:
  const Graph &graph;
  const std::map<AxisId, int64_t> &point;

  std::optional<double> applied(const Node &node, const std::vector<double> &x) {
    if (auto function = Checker::unaryFunction(node.op))
      return function(x[0]);
    switch (node.op) {
    case Op::Neg:
      return -x[0];
    case Op::Not:
      return x[0] == 0;
    case Op::Add:
      return x[0] + x[1];
    case Op::Sub:
      return x[0] - x[1];
    case Op::Mul:
      return x[0] * x[1];
    case Op::Div:
      return x[0] / x[1];
    case Op::Mod:
      return x[0] - x[1] * std::floor(x[0] / x[1]);
    case Op::FloorDiv:
      return std::floor(x[0] / x[1]);
    case Op::Pow:
      return std::pow(x[0], x[1]);
    case Op::Max:
      return std::fmax(x[0], x[1]);
    case Op::Min:
      return std::fmin(x[0], x[1]);
    case Op::Equal:
      return x[0] == x[1];
    case Op::NotEqual:
      return x[0] != x[1];
    case Op::Less:
      return x[0] < x[1];
    case Op::LessEqual:
      return x[0] <= x[1];
    case Op::And:
      return x[0] != 0 && x[1] != 0;
    case Op::Or:
      return x[0] != 0 || x[1] != 0;
    case Op::Select:
      return x[0] != 0 ? x[1] : x[2];
    default:
      return std::nullopt;
    }
  }
};

} // namespace

std::optional<Initializer> Checker::tableOf(NodeId value, const std::vector<AxisId> &axes, ast::Range range,
                                            const std::string &name) {
  constexpr int64_t kMostValues = 1 << 16; // they stand in the manifest
  const std::vector<AxisId> own = graph.axes(value);
  Initializer init{"table", 0, {}, {}, {}};
  std::vector<AxisId> along;
  int64_t count = 1;
  for (AxisId axis : axes) {
    init.along.push_back(includes(own, axis));
    if (init.along.back()) {
      along.push_back(axis);
      count *= graph.size(axis).asConstant().value_or(kMostValues + 1);
      count = std::min(count, kMostValues + 1);
    }
  }
  auto refuse = [&](const std::string &why) {
    error("T0311", range,
          "the initializer of " + name +
              " must be a number, a distribution such as normal(0.02), an expression of indices or, of a state, a param or "
              "another state" +
              why);
    return std::nullopt;
  };
  if (along.size() != own.size())
    return refuse("; this has axes " + text(own) + ", the param " + text(axes));
  if (count > kMostValues)
    return refuse("; a table of these has at most " + std::to_string(kMostValues) + " values");
  for (int64_t element = 0; element < count; ++element) {
    std::map<AxisId, int64_t> point;
    int64_t rest = element;
    for (size_t i = along.size(); i-- > 0;) {
      const int64_t size = *graph.size(along[i]).asConstant();
      point[along[i]] = rest % size;
      rest /= size;
    }
    auto number = AtPoint(graph, point)(value);
    if (!number)
      return refuse("; this is " + text(Value::ofTensor(value)));
    if (!std::isfinite(*number))
      return refuse("; this one is not finite at element " + std::to_string(element));
    init.table.push_back(*number);
  }
  return init;
}

} // namespace tenon::sema
