// `if depth`: conditions on the depth of a stack are known when compiling, one body for each run of depths that they leave equal.
#include "frontend/sema/Checker.h"
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tenon::sema {
namespace {

/// Values of a condition at given depths. What a depth does not decide is unknown, and so is what is made of it, but for `or` and `and` that
/// their other side decides.
class AtDepths {
public:
  AtDepths(const Graph &graph, NodeId condition) : graph(graph) {
    std::vector<NodeId> work = {condition};
    std::set<NodeId> seen;
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      if (!seen.insert(id).second)
        continue;
      const Node &node = graph[id];
      if (node.op == Op::Depth && !graph.entry.stacks[node.stack].isScan && graph.entry.stacks[node.stack].count.asConstant())
        depths[node.stack] = graph.entry.stacks[node.stack].first;
      if (isDecidable(node.op))
        work.insert(work.end(), node.operands.begin(), node.operands.end());
    }
    nodes.assign(seen.begin(), seen.end()); // an operand has a smaller number than what is made of it
    for (NodeId id : nodes) {
      operands.emplace_back();
      for (NodeId operand : graph[id].operands)
        if (isDecidable(graph[id].op))
          operands.back().push_back(size_t(std::lower_bound(nodes.begin(), nodes.end(), operand) - nodes.begin()));
    }
    values.resize(nodes.size());
  }

  std::map<uint32_t, int64_t> depths; // by body; at first each at the first of it. Outer bodies have smaller numbers

  /// Of the condition, at `depths`.
  std::optional<double> value() {
    for (size_t i = 0; i < nodes.size(); ++i)
      values[i] = valueOf(graph[nodes[i]], operands[i]);
    return values.back();
  }
  size_t size() const { return nodes.size(); }

private:
  using Number = std::optional<double>;

  static bool isDecidable(Op op) {
    switch (op) {
    case Op::ToReal:
    case Op::Neg:
    case Op::Abs:
    case Op::Not:
    case Op::Select:
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::FloorDiv:
    case Op::Mod:
    case Op::Max:
    case Op::Min:
    case Op::Equal:
    case Op::NotEqual:
    case Op::Less:
    case Op::LessEqual:
    case Op::And:
    case Op::Or:
      return true;
    default:
      return false;
    }
  }
  Number valueOf(const Node &node, const std::vector<size_t> &from) const {
    auto operand = [&](size_t i) { return values[from[i]]; };
    switch (node.op) {
    case Op::Constant:
      return node.type.element == Element::Real ? node.number : double(node.integer);
    case Op::Depth: {
      auto depth = depths.find(node.stack);
      return depth == depths.end() ? Number() : Number(double(depth->second));
    }
    case Op::And:
    case Op::Or:
      for (size_t side = 0; side < 2; ++side)
        if (operand(side) && (*operand(side) != 0) == (node.op == Op::Or))
          return node.op == Op::Or;
      return operand(0) && operand(1) ? Number(node.op == Op::And) : Number();
    case Op::Select:
      return operand(0) ? operand(*operand(0) != 0 ? 1 : 2) : Number();
    default:
      break;
    }
    if (!isDecidable(node.op) || !operand(0) || (from.size() > 1 && !operand(1)))
      return {};
    return from.size() == 1 ? unary(node.op, *operand(0)) : binary(node.op, *operand(0), *operand(1));
  }
  static Number unary(Op op, double a) {
    switch (op) {
    case Op::Neg:
      return -a;
    case Op::Abs:
      return std::fabs(a);
    case Op::Not:
      return a == 0;
    default: // ToReal
      return a;
    }
  }
  static Number binary(Op op, double a, double b) {
    switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return b != 0 ? Number(a / b) : Number();
    case Op::FloorDiv:
      return b != 0 ? Number(std::floor(a / b)) : Number();
    case Op::Mod: // the sign is the divisor's
      return b != 0 ? Number(a - b * std::floor(a / b)) : Number();
    case Op::Max:
      return std::max(a, b);
    case Op::Min:
      return std::min(a, b);
    case Op::Equal:
      return a == b;
    case Op::NotEqual:
      return a != b;
    case Op::Less:
      return a < b;
    default: // LessEqual
      return a <= b;
    }
  }

  const Graph &graph;
  std::vector<NodeId> nodes; // what the condition is made of, itself the last
  std::vector<std::vector<size_t>> operands;
  std::vector<Number> values;
};

} // namespace

std::optional<bool> Checker::decideByDepth(NodeId condition) {
  if (!graph.axes(condition).empty() || graph.element(condition) != Element::Bool)
    return std::nullopt;
  AtDepths at(graph, condition);
  const std::map<uint32_t, int64_t> start = at.depths;
  const auto first = at.value();
  if (!first)
    return std::nullopt;
  size_t looked = 0; // at nodes: a hundredth of the work of an expression each
  auto changes = [&] {
    looked += at.size();
    if (looked > 10'000 && !spend(graph[condition].range, std::exchange(looked, 0) / 100))
      return true;
    return at.value() != first;
  };
  // The innermost body ends where the condition changes while the others stand at their first depth; each outer one where any of the
  // inner ones would have to end earlier.
  std::vector<uint32_t> bodies;
  for (auto &[body, depth] : start)
    bodies.insert(bodies.begin(), body);
  std::function<bool(size_t)> same = [&](size_t level) { // for all depths of the bodies before `level` in the list
    if (level == 0)
      return !changes();
    const uint32_t body = bodies[level - 1];
    const StackInfo &info = graph.entry.stacks[body];
    bool all = true;
    for (int64_t depth = info.first; all && depth < info.first + info.count.constant(); ++depth) {
      at.depths[body] = depth;
      all = same(level - 1);
    }
    at.depths[body] = start.at(body);
    return all;
  };
  for (size_t level = 0; level < bodies.size(); ++level) {
    StackInfo &info = graph.entry.stacks[bodies[level]];
    int64_t count = 1;
    for (; count < info.count.constant(); ++count) {
      at.depths[bodies[level]] = info.first + count;
      if (!same(level))
        break;
    }
    at.depths[bodies[level]] = info.first;
    if (info.count != Size(0)) // of a stack without layers the body is only checked
      info.count = Size(count);
  }
  return *first != 0;
}

/// The results of every step, body after body, along one axis.
Value Checker::joinHistories(const std::vector<Value> &parts, const std::vector<AxisId> &axes, AxisId whole, ast::Range range) {
  if (parts.size() == 1)
    return Value::ofTensor(graph.rename(parts[0].node, {axes[0]}, {whole}, range));
  Node node = makeNode(Op::Concat, graph[parts[0].node].type);
  std::replace(node.type.axes.begin(), node.type.axes.end(), axes[0], whole);
  node.axesFrom = axes;
  node.axesTo = {whole};
  for (const Value &part : parts)
    node.operands.push_back(part.node);
  node.range = range;
  return Value::ofTensor(graph.add(node));
}

} // namespace tenon::sema
