// `if depth`: conditions on the depth of a stack are known when compiling, one body for each run of depths that they leave equal.
#include "frontend/sema/Checker.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace tenon::sema {
namespace {

/// Values of a condition at given depths.
class AtDepths {
public:
  AtDepths(const Graph &graph, const std::map<uint32_t, int64_t> &depths) : graph(graph), depths(depths) {}

  std::optional<double> value(NodeId id) const {
    const Node &node = graph[id];
    std::vector<double> operands;
    for (NodeId operand : node.operands) {
      auto number = value(operand);
      if (!number)
        return std::nullopt;
      operands.push_back(*number);
    }
    switch (node.op) {
    case Op::Constant:
      return node.type.element == Element::Real ? node.number : double(node.integer);
    case Op::Depth: {
      auto depth = depths.find(node.stack);
      return depth == depths.end() ? std::nullopt : std::optional(double(depth->second));
    }
    case Op::ToReal:
      return operands[0];
    case Op::Neg:
      return -operands[0];
    case Op::Abs:
      return std::fabs(operands[0]);
    case Op::Not:
      return operands[0] == 0;
    case Op::Select:
      return operands[0] != 0 ? operands[1] : operands[2];
    default:
      return operands.size() == 2 ? binary(node.op, operands[0], operands[1]) : std::nullopt;
    }
  }

private:
  static std::optional<double> binary(Op op, double a, double b) {
    switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return b != 0 ? std::optional(a / b) : std::nullopt;
    case Op::FloorDiv:
      return b != 0 ? std::optional(std::floor(a / b)) : std::nullopt;
    case Op::Mod: // the sign is the divisor's
      return b != 0 ? std::optional(a - b * std::floor(a / b)) : std::nullopt;
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
    case Op::LessEqual:
      return a <= b;
    case Op::And:
      return a != 0 && b != 0;
    case Op::Or:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
    }
  }

  const Graph &graph;
  const std::map<uint32_t, int64_t> &depths;
};

void findDepths(const Graph &graph, NodeId id, std::set<NodeId> &seen, std::map<uint32_t, int64_t> &depths) {
  if (!seen.insert(id).second)
    return;
  const Node &node = graph[id];
  if (node.op == Op::Depth && !graph.entry.stacks[node.stack].isScan && graph.entry.stacks[node.stack].count.asConstant())
    depths[node.stack] = graph.entry.stacks[node.stack].first;
  for (NodeId operand : node.operands)
    findDepths(graph, operand, seen, depths);
}

} // namespace

std::optional<bool> Checker::decideByDepth(NodeId condition) {
  std::map<uint32_t, int64_t> depths; // at the first depth of each body; outer bodies have smaller numbers
  if (!graph.axes(condition).empty() || graph.element(condition) != Element::Bool)
    return std::nullopt;
  std::set<NodeId> seen;
  findDepths(graph, condition, seen, depths);
  AtDepths at(graph, depths);
  auto first = at.value(condition);
  if (depths.empty() || !first)
    return std::nullopt;
  const std::map<uint32_t, int64_t> start = depths;
  // The innermost body ends where the condition changes while the others stand at their first depth; each outer one where any of the
  // inner ones would have to end earlier.
  std::vector<uint32_t> bodies;
  for (auto &[body, depth] : start)
    bodies.insert(bodies.begin(), body);
  std::function<bool(size_t)> same = [&](size_t level) { // for all depths of the bodies before `level` in the list
    if (level == 0)
      return at.value(condition) == first;
    const uint32_t body = bodies[level - 1];
    const StackInfo &info = graph.entry.stacks[body];
    bool all = true;
    for (int64_t depth = info.first; all && depth < info.first + info.count.constant(); ++depth) {
      depths[body] = depth;
      all = same(level - 1);
    }
    depths[body] = start.at(body);
    return all;
  };
  for (size_t level = 0; level < bodies.size(); ++level) {
    StackInfo &info = graph.entry.stacks[bodies[level]];
    int64_t count = 1;
    for (; count < info.count.constant(); ++count) {
      depths[bodies[level]] = info.first + count;
      if (!same(level))
        break;
    }
    depths[bodies[level]] = info.first;
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
