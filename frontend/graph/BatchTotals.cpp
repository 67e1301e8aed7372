#include "frontend/graph/BatchTotals.h"
#include "frontend/Dims.h"
#include "frontend/graph/Prune.h"

namespace tenon::sema {
namespace {

bool isTied(Op op) {
  switch (op) {
  case Op::Param:
  case Op::State:
  case Op::Append:
  case Op::Depth:
  case Op::BodyArgument:
  case Op::Stack:
  case Op::Scan:
  case Op::Dropout:
  case Op::Sample:
  case Op::Noise:
  case Op::Attend: // may drop
    return true;
  default:
    return false;
  }
}

/// `entry` with `front` before its nodes; an edge reads one of these instead of what it has read.
Entry withFront(const Entry &entry, std::vector<Node> front, const std::map<std::pair<NodeId, size_t>, NodeId> &edges) {
  Entry result = entry;
  const auto shift = static_cast<NodeId>(front.size());
  auto moved = [&](NodeId &id) {
    if (id != kNoNode)
      id += shift;
  };
  auto moveNext = [&](std::vector<std::pair<uint32_t, NodeId>> &next) {
    for (auto &[state, node] : next)
      moved(node);
  };
  for (Node &node : result.nodes)
    std::for_each(node.operands.begin(), node.operands.end(), moved);
  for (const auto &[edge, target] : edges)
    result.nodes[edge.first].operands[edge.second] = target;
  for (StackInfo &stack : result.stacks) {
    std::for_each(stack.results.begin(), stack.results.end(), moved);
    moved(stack.until);
    moveNext(stack.nextStates);
  }
  for (auto &[name, node] : result.results)
    moved(node);
  std::for_each(result.parts.begin(), result.parts.end(), moved);
  moveNext(result.nextStates);
  result.nodes.insert(result.nodes.begin(), std::make_move_iterator(front.begin()), std::make_move_iterator(front.end()));
  return result;
}

Node inputLike(const Node &node, uint32_t index) {
  Node input;
  input.op = Op::Input;
  input.type = node.type;
  input.index = index;
  input.range = node.range;
  input.caller = node.caller;
  return input;
}

/// The nodes that `root` reads, itself first.
std::vector<NodeId> coneOf(const Entry &entry, NodeId root) {
  std::vector<NodeId> cone, open = {root};
  for (std::set<NodeId> seen; !open.empty();) {
    const NodeId id = open.back();
    open.pop_back();
    if (id == kNoNode || !seen.insert(id).second)
      continue;
    cone.push_back(id);
    const Node &node = entry.nodes[id];
    open.insert(open.end(), node.operands.rbegin(), node.operands.rend());
    if (isLoop(node)) {
      const StackInfo &stack = entry.stacks[node.index];
      open.insert(open.end(), stack.results.begin(), stack.results.end());
      open.push_back(stack.until);
    }
  }
  return cone;
}

} // namespace

// ---- which axes

RowAxes::RowAxes(const Entry &whole, const Entry &part, AxisId batch) {
  for (unsigned dim = 0; dim < whole.dims.size(); ++dim)
    for (unsigned factor : factorsOf(whole, dim))
      if (whole.axes[batch].size.coefficients().count(factor) != 0)
        ofRows.insert(dim);
  for (AxisId axis = 0; axis < whole.axes.size(); ++axis) {
    const Size &size = whole.axes[axis].size;
    along.push_back(axis == batch || sizes(size) || (axis < part.axes.size() && part.axes[axis].size != size));
  }
}

bool RowAxes::sizes(const Size &size) const {
  const auto &own = size.coefficients();
  return std::any_of(own.begin(), own.end(), [&](auto &term) { return ofRows.count(term.first) != 0; });
}

// ---- which sums

BatchTotals::BatchTotals(const Entry &whole, const Entry &part, AxisId batch, int64_t slices)
    : whole(whole), part(part), batch(batch), slices(slices), rows(whole, part, batch) {
  findFacts();
  auto pair = [&](const auto &all, const auto &others) {
    for (size_t i = 0; i < std::min(all.size(), others.size()); ++i)
      open.push_back({all[i].second, others[i].second});
  };
  pair(whole.results, part.results);
  pair(whole.nextStates, part.nextStates);
  for (size_t i = 0; i < std::min(whole.stacks.size(), part.stacks.size()); ++i)
    pair(whole.stacks[i].nextStates, part.stacks[i].nextStates);
  follow();
}

/// Operands stand before the nodes that read them.
void BatchTotals::findFacts() {
  for (const Node &node : whole.nodes) {
    Facts own;
    own.hasRows = rows.any(node.type.axes);
    own.isSum = (node.op == Op::Sum || node.op == Op::Dot) && rows.any(node.axesFrom);
    own.isFree = node.stack == ~0u && !isTied(node.op);
    own.varies = own.hasRows || own.isSum || isLoop(node);
    bool allSettled = true, anyTotal = false;
    for (NodeId operand : node.operands) {
      const Facts &its = facts[operand];
      own.isFree &= its.isFree;
      own.varies |= its.varies;
      allSettled &= its.isTotal || !its.varies;
      anyTotal |= its.isTotal;
    }
    own.isTotal = own.isFree && !own.hasRows && (own.isSum || (allSettled && anyTotal));
    facts.push_back(own);
  }
}

/// Whether an operand has to be that of the whole batch, for it would not add up.
bool BatchTotals::wantsAll(const Node &user, size_t operand) const {
  if (user.stack != ~0u || isLoop(user) || rows.any(user.type.axes) || rows.any(user.axesFrom))
    return true;
  switch (user.op) {
  case Op::Neg:
  case Op::ToReal:
  case Op::StopGradient:
  case Op::Transpose:
  case Op::Rename:
  case Op::Expand:
  case Op::Slice:
  case Op::Sum:
  case Op::Add:
  case Op::Sub:
    return false;
  case Op::Gather:
  case Op::Div:
    return operand == 1;
  case Op::Mul:
  case Op::Dot:
    return facts[user.operands[1 - operand]].varies;
  default:
    return true;
  }
}

void BatchTotals::follow() {
  for (std::set<Pair> seen; !open.empty();) {
    const Pair user = open.back();
    open.pop_back();
    const Node &a = whole.nodes[user.whole], &b = part.nodes[user.part];
    if (!seen.insert(user).second || a.op != b.op || a.operands.size() != b.operands.size())
      continue; // what differs does not add up
    for (size_t i = 0; i < a.operands.size(); ++i) {
      const Pair operand{a.operands[i], b.operands[i]};
      if (!facts[operand.whole].isTotal || !wantsAll(a, i)) {
        open.push_back(operand);
        continue;
      }
      const auto [root, isNew] = rootNumber.try_emplace(operand, roots.size());
      if (isNew) {
        roots.push_back(operand);
        include(operand);
      }
      wholeEdges[{user.whole, i}] = root->second;
      const auto [edge, isFirst] = partEdges.try_emplace({user.part, i}, root->second);
      ambiguous |= !isFirst && edge->second != root->second;
    }
    if (isLoop(a)) {
      const StackInfo &stack = whole.stacks[a.index], &other = part.stacks[b.index];
      for (size_t i = 0; i < std::min(stack.results.size(), other.results.size()); ++i)
        open.push_back({stack.results[i], other.results[i]});
      if (stack.until != kNoNode && other.until != kNoNode)
        open.push_back({stack.until, other.until});
    }
  }
}

/// The expression, down to its sums, whose terms may have others inside.
void BatchTotals::include(Pair root) {
  for (std::vector<Pair> work = {root}; !work.empty();) {
    const Pair pair = work.back();
    work.pop_back();
    if (!expressions.insert(pair).second)
      continue;
    const Node &a = whole.nodes[pair.whole], &b = part.nodes[pair.part];
    if (a.op != b.op || a.operands.size() != b.operands.size()) {
      ambiguous = true;
      continue;
    }
    if (isSum(pair)) {
      open.push_back(pair);
      continue;
    }
    for (size_t i = 0; i < a.operands.size(); ++i)
      work.push_back({a.operands[i], b.operands[i]});
  }
}

// ---- the entries

Entry BatchTotals::hidden(const Entry &entry, const std::map<Edge, size_t> &edges) const {
  std::vector<Node> front;
  for (const Pair &root : roots)
    front.push_back(inputLike(entry.nodes[&entry == &whole ? root.whole : root.part], 0));
  std::map<Edge, NodeId> targets;
  for (const auto &[edge, root] : edges)
    targets[edge] = static_cast<NodeId>(root);
  Entry result = withFront(entry, std::move(front), targets);
  for (StackInfo &stack : result.stacks)
    stack.until = kNoNode; // a slice is a batch of its own in what it skips, which changes no result (docs/language.md, `until`)
  return result;
}

Entry BatchTotals::hiddenWhole() const { return hidden(whole, wholeEdges); }
Entry BatchTotals::hiddenPart() const { return hidden(part, partEdges); }

std::vector<std::pair<NodeId, NodeId>> BatchTotals::sums() const {
  std::vector<std::pair<NodeId, NodeId>> found;
  const auto shift = static_cast<NodeId>(roots.size());
  for (const Pair &pair : expressions)
    if (isSum(pair))
      found.emplace_back(pair.whole + shift, pair.part + shift);
  return found;
}

/// A size of the whole batch, over the dims of a slice.
Size BatchTotals::ofBatch(const Size &size) const {
  Size result = size.constant();
  for (auto [dim, coefficient] : size.coefficients()) {
    int64_t times = coefficient;
    for (unsigned factor : factorsOf(whole, dim))
      times *= whole.axes[batch].size.coefficients().count(factor) != 0 ? slices : 1;
    result = *add(result, *multiply(Size::dim(dim), Size(times)));
  }
  return result;
}

Entry BatchTotals::divided() const {
  std::vector<Node> front;
  std::vector<Input> totals;
  std::map<Pair, NodeId> copies;
  for (const Pair &pair : expressions) { // operands first, as in the whole
    const Node &ofWhole = whole.nodes[pair.whole];
    Node copy = part.nodes[pair.part];
    if (isSum(pair)) {
      copy = inputLike(copy, static_cast<uint32_t>(part.inputs.size() + totals.size()));
      totals.emplace_back();
      totals.back().name = "total." + std::to_string(totals.size() - 1);
      totals.back().type = copy.type;
      totals.back().isTotal = true;
    } else {
      copy.number = ofWhole.number;
      copy.integer = ofWhole.integer;
      copy.size = ofBatch(ofWhole.size);
      for (size_t i = 0; i < copy.operands.size(); ++i)
        copy.operands[i] = copies.at({ofWhole.operands[i], copy.operands[i]});
    }
    copies[pair] = static_cast<NodeId>(front.size());
    front.push_back(std::move(copy));
  }
  std::map<Edge, NodeId> targets;
  for (const auto &[edge, root] : partEdges)
    targets[edge] = copies.at(roots[root]);
  Entry result = withFront(part, std::move(front), targets);
  result.inputs.insert(result.inputs.end(), totals.begin(), totals.end());
  return result;
}

std::optional<BatchTotals::Pass> BatchTotals::pass(const Entry &divided) const {
  if (roots.empty())
    return std::nullopt;
  Entry sums = divided;
  sums.results.clear();
  sums.nextStates.clear();
  sums.kind = Entry::Kind::Out;
  const auto shift = static_cast<NodeId>(expressions.size());
  for (const Pair &pair : expressions)
    if (isSum(pair))
      sums.results.emplace_back("total." + std::to_string(sums.results.size()), pair.part + shift);
  std::vector<std::string> inputOrder;
  for (const Input &input : sums.inputs)
    inputOrder.push_back(input.name);
  Live live(sums);
  for (const auto &[name, node] : sums.results)
    live.use(node);
  Compaction compaction(sums, live);
  compaction.keepsDims = true; // those of the train entry
  compaction.run(inputOrder);

  // One more run than the totals that stand inside of each other.
  std::vector<int64_t> level(sums.results.size(), 1);
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 0; i < level.size(); ++i)
      for (NodeId id : coneOf(sums, sums.results[i].second))
        if (const Node &node = sums.nodes[id]; node.op == Op::Input && node.index >= part.inputs.size())
          if (const int64_t above = level[node.index - part.inputs.size()] + 1; above > level[i]) {
            level[i] = above;
            changes = true;
          }
  }
  Pass result{std::move(compaction.entry), *std::max_element(level.begin(), level.end())};
  result.entry.name += ".totals";
  result.entry.makesTotals = true;
  return result;
}

// ---- why not

std::optional<BatchTotals::Obstacle> BatchTotals::obstacle(size_t index) const {
  std::vector<NodeId> open = {whole.results[index].second};
  for (std::set<NodeId> seen; !open.empty();) {
    const NodeId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second)
      continue;
    const Node &user = whole.nodes[id];
    for (size_t i = user.operands.size(); i-- > 0;) {
      const Facts &operand = facts[user.operands[i]];
      if (!operand.varies || operand.hasRows || operand.isTotal || !wantsAll(user, i)) {
        open.push_back(user.operands[i]);
        continue;
      }
      const std::vector<NodeId> cone = coneOf(whole, user.operands[i]);
      for (NodeId inside : cone) // where the rows go
        if (const Node &node = whole.nodes[inside]; !facts[inside].hasRows && !isLoop(node) && rows.any(node.axesFrom)) {
          if (!facts[inside].isSum)
            return Obstacle{inside, "over the rows, and no sum"};
          for (NodeId below : coneOf(whole, inside))
            if (whole.nodes[below].op == Op::Param)
              return Obstacle{inside, "a sum over the rows that depends on parameters"};
          return Obstacle{inside, "a sum over the rows that depends on states or draws"};
        }
    }
  }
  return std::nullopt;
}

} // namespace tenon::sema
