// `if depth`: conditions on the depth of a stack are known when compiling. One body for each run of depths that they leave equal,
// and for all rounds in which such bodies repeat.
#include "frontend/sema/Checker.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace tenon::sema {
namespace {

/// Values of a condition at given depths. What a depth does not decide is unknown, and so is what is made of it, but for `or` and
/// `and` that their other side decides.
class AtDepths {
public:
  AtDepths(const Graph &graph, NodeId condition) : graph(graph) {
    nodes = {condition};
    std::vector<NodeId> work = {condition};
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      const Node &node = graph[id];
      if (node.op == Op::Depth && !graph.entry.stacks[node.stack].isScan && graph.entry.stacks[node.stack].count.asConstant())
        depths[node.stack] = graph.entry.stacks[node.stack].first;
      if (!isDecidable(node.op))
        continue;
      for (NodeId operand : node.operands) // sorted: an operand has a smaller number than what is made of it
        if (auto place = std::lower_bound(nodes.begin(), nodes.end(), operand); *place != operand) {
          nodes.insert(place, operand);
          work.push_back(operand);
        }
    }
    operands.resize(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      if (const Node &node = graph[nodes[i]]; isDecidable(node.op))
        for (size_t k = 0; k < node.operands.size(); ++k)
          operands[i][k] = size_t(std::lower_bound(nodes.begin(), nodes.end(), node.operands[k]) - nodes.begin());
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
  Number valueOf(const Node &node, const std::array<size_t, 3> &from) const {
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
    const size_t count = node.operands.size();
    if (!isDecidable(node.op) || !operand(0) || (count > 1 && !operand(1)))
      return {};
    return count == 1 ? unary(node.op, *operand(0)) : binary(node.op, *operand(0), *operand(1));
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
  std::vector<NodeId> nodes;                   // what the condition is made of, itself the last
  std::vector<std::array<size_t, 3>> operands; // of those that are decidable; a choice has three
  std::vector<Number> values;
};

constexpr int64_t kMostDepthsLooked = 1000; // for what a warning alone asks

/// The bodies whose depths a value depends on, inner ones first: outer bodies have smaller numbers.
std::vector<uint32_t> bodiesOf(const Graph &graph, NodeId id) {
  std::set<uint32_t> bodies;
  std::set<NodeId> seen;
  for (std::vector<NodeId> work = {id}; !work.empty();) {
    const NodeId next = work.back();
    work.pop_back();
    if (!seen.insert(next).second)
      continue;
    const Node &node = graph[next];
    if (node.op == Op::Depth && !graph.entry.stacks[node.stack].isScan && graph.entry.stacks[node.stack].count.asConstant())
      bodies.insert(node.stack);
    work.insert(work.end(), node.operands.begin(), node.operands.end());
  }
  return {bodies.rbegin(), bodies.rend()};
}

} // namespace

std::optional<bool> Checker::decideByDepth(NodeId condition) {
  if (!graph.axes(condition).empty() || graph.element(condition) != Element::Bool)
    return std::nullopt;
  AtDepths at(graph, condition);
  const std::map<uint32_t, int64_t> start = at.depths;
  const auto first = at.value();
  if (!first)
    return std::nullopt;
  std::vector<uint32_t> bodies;
  for (auto &[body, depth] : start)
    bodies.insert(bodies.begin(), body);
  size_t looked = 0; // at nodes: a hundredth of the work of an expression each
  auto changes = [&] {
    looked += at.size();
    if (looked > 10'000 && !spend(graph[condition].range, std::exchange(looked, 0) / 100))
      return true;
    return at.value() != first;
  };
  // The innermost body ends where the condition changes while the others stand at their first depth; each outer one where any of
  // the inner ones would have to end earlier.
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
  if (!bodies.empty())
    decisions.push_back({condition, *first != 0, bodies});
  return *first != 0;
}

std::optional<bool> Checker::truthOfRounds(NodeId condition, uint32_t body) const {
  AtDepths at(graph, condition);
  if (at.depths.size() > at.depths.count(body))
    return std::nullopt; // other loops have a say
  const StackInfo &info = graph.entry.stacks[body];
  const int64_t count = at.depths.empty() ? 1 : std::min<int64_t>(info.count.constant(), kMostDepthsLooked);
  if (!at.depths.empty() && info.count.constant() > kMostDepthsLooked)
    return std::nullopt;
  for (int64_t depth = info.first; depth < info.first + count; ++depth) {
    if (!at.depths.empty())
      at.depths[body] = depth;
    const auto value = at.value();
    if (!value)
      return std::nullopt;
    if (*value != 0)
      return depth == info.first ? std::optional(true) : std::nullopt;
  }
  return false;
}

std::optional<bool> Checker::provedTruth(NodeId condition) {
  const ast::Range place = graph[condition].range;
  for (const bool truth : {true, false}) {
    const IndexProof proof = proveCondition(graph.entry, truth ? condition : graph.unary(Op::Not, condition, place), {});
    if (!session.spendProof(place, proof.effort))
      return std::nullopt;
    if (proof.proved)
      return truth;
  }
  return std::nullopt;
}

// ---- rounds

static constexpr uint64_t kRoundUnits = 4;    // of work for one more round
static constexpr uint64_t kNodesPerUnit = 50; // looked at

/// Whether a condition has the same value where the one body of `moved` that it depends on is `shift` depths further, for all
/// depths at which the others run.
bool Checker::isDecidedAlike(const Decision &decision, const std::vector<uint32_t> &moved, int64_t shift) const {
  AtDepths at(graph, decision.condition);
  const ast::Range place = graph[decision.condition].range;
  uint64_t looked =
      at.size() > 16 ? 8 * at.size() : 0; // the nodes were sought first; a few of them are counted with the decision
  std::function<bool(size_t)> same = [&](size_t level) {
    if (level == decision.bodies.size()) {
      looked += at.size();
      if (looked > 1000 * kNodesPerUnit && !session.spend(place, std::exchange(looked, 0) / kNodesPerUnit))
        return false;
      auto value = at.value();
      return value && (*value != 0) == decision.truth;
    }
    const uint32_t body = decision.bodies[level];
    const StackInfo &info = graph.entry.stacks[body];
    const bool isMoved = std::find(moved.begin(), moved.end(), body) != moved.end();
    const BodyDepths depths =
        isMoved ? BodyDepths{info.first + shift, info.count.constant()} : depthsOf(graph.entry.stacks, body);
    bool all = true;
    depths.forEach([&](int64_t depth) {
      at.depths[body] = depth;
      all = all && same(level + 1);
    });
    return all;
  };
  const bool alike = same(0);
  return (looked < kNodesPerUnit || session.spend(place, looked / kNodesPerUnit)) && alike;
}

/// Whether the bodies from number `from` on are what would be made for the depths that lie `shift` further. What a layer
/// evaluates follows from its conditions, so it is enough to ask those that were met.
bool Checker::repeats(const Rounds &rounds, size_t from, int64_t shift) const {
  auto isMoved = [&](uint32_t body) { // bodies have ascending numbers, as they were made
    auto storey = std::lower_bound(rounds.storeys.begin() + std::ptrdiff_t(from), rounds.storeys.end(), body,
                                   [](const Storey &each, uint32_t number) { return each.body < number; });
    return storey != rounds.storeys.end() && storey->body == body;
  };
  const size_t first = rounds.storeys[from].decisions; // earlier ones know no later body
  size_t next = first;
  for (std::vector<uint32_t> moved; next < decisions.size(); ++next) {
    moved.clear();
    std::copy_if(decisions[next].bodies.begin(), decisions[next].bodies.end(), std::back_inserter(moved), isMoved);
    if (!moved.empty() && !isDecidedAlike(decisions[next], moved, shift))
      break;
  }
  const uint64_t units = (next - first) / 2; // of those that were alike; the caller counts that it asks
  return (units == 0 || session.spend(graph[decisions.back().condition].range, units)) && next == decisions.size();
}

/// How many rounds all bodies so far make from depth `first` on; they are written down if there are several.
int64_t Checker::countRounds(const Rounds &rounds, int64_t first, int64_t total) {
  StackInfo &info = graph.entry.stacks[rounds.body];
  const Storey &last = rounds.storeys.back();
  const int64_t period = graph.entry.stacks[last.body].first + last.count - first;
  int64_t count = 1;
  const ast::Range place = decisions.empty() ? ast::Range() : graph[decisions.back().condition].range;
  while (first + (count + 1) * period <= total && spend(place, kRoundUnits) && repeats(rounds, 0, count * period))
    ++count;
  if (count == 1)
    return 1;
  info.period = period;
  info.count = Size(count);
  if (holdInRounds(rounds))
    return count;
  info.count = Size(1); // each round gets bodies of its own: its proofs succeed, or its mistakes are said, at its depths
  return 1;
}

/// Whether what was proved about indices at the depths of the first round holds in all of them, and whether the bodies around,
/// whose depths were asked for the first round only, leave the others as they are.
bool Checker::holdInRounds(const Rounds &rounds) const {
  for (size_t i = rounds.decisions; i < decisions.size(); ++i)
    if (!isDecidedAlike(decisions[i], {}, 0))
      return false;
  ProofHints safe = hints;
  std::erase_if(safe.bounds, [&](auto &bound) { return !bodiesOf(graph, bound.first).empty(); }); // they come from these proofs
  for (size_t i = rounds.proofs; i < proofs.size(); ++i)
    if (!proveIndex(graph.entry, proofs[i].index, Size(0), proofs[i].limit, proofs[i].conditions, safe).proved)
      return false;
  return true;
}

void Checker::noteProof(NodeId index, const Size &limit, std::vector<NodeId> conditions) {
  if (graph.entry.stacks.empty())
    return;
  bool byDepth = !bodiesOf(graph, index).empty();
  for (NodeId condition : conditions)
    byDepth = byDepth || !bodiesOf(graph, condition).empty();
  if (byDepth)
    proofs.push_back({index, limit, std::move(conditions)});
}

/// The results of every step, part after part, along one axis.
Value Checker::joinHistories(const std::vector<Storey> &parts, size_t carry, AxisId whole, ast::Range range) {
  const NodeId first = parts[0].histories[carry].node;
  if (parts.size() == 1)
    return Value::ofTensor(graph.rename(first, {parts[0].axis}, {whole}, range));
  Node node = makeNode(Op::Concat, graph[first].type);
  std::replace(node.type.axes.begin(), node.type.axes.end(), parts[0].axis, whole);
  node.axesTo = {whole};
  for (const Storey &part : parts) {
    node.axesFrom.push_back(part.axis);
    node.operands.push_back(part.histories[carry].node);
  }
  node.range = range;
  return Value::ofTensor(graph.add(node));
}

} // namespace tenon::sema
