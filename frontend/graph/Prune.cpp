#include "frontend/graph/Prune.h"
#include "frontend/Dims.h"

namespace tenon::sema {

// ---- what is needed

Live::Live(const Entry &entry)
    : entry(entry), node(entry.nodes.size()), result(entry.stacks.size()), producer(entry.stacks.size(), kNoNode) {
  for (size_t i = 0; i < entry.stacks.size(); ++i)
    result[i].resize(entry.stacks[i].results.size());
  for (NodeId i = 0; i < entry.nodes.size(); ++i)
    if (isLoop(entry.nodes[i]))
      producer[entry.nodes[i].index] = i;
}

void Live::use(NodeId id) {
  work.push_back(id);
  while (!work.empty()) {
    NodeId at = work.back();
    work.pop_back();
    if (!node[at]) {
      node[at] = true;
      visit(at);
    }
  }
}

bool Live::runs(uint32_t body) const {
  for (; body != kEntryBody; body = entry.nodes[producer[body]].stack)
    if (producer[body] == kNoNode)
      return false;
  return true;
}

bool Live::reads(uint32_t state) const {
  for (NodeId i = 0; i < entry.nodes.size(); ++i)
    if (node[i] && entry.nodes[i].op == Op::State && entry.nodes[i].index == state)
      return true;
  return false;
}

void Live::useResult(uint32_t stack, size_t index) {
  if (result[stack][index])
    return;
  result[stack][index] = true;
  work.push_back(entry.stacks[stack].results[index]);
  if (index < entry.stacks[stack].carries)
    work.push_back(entry.nodes[producer[stack]].operands[index]);
}

void Live::visit(NodeId id) {
  const Node &at = entry.nodes[id];
  switch (at.op) {
  case Op::Stack:
  case Op::Scan: // its operands are needed one by one
    if (const NodeId until = entry.stacks[at.index].until; until != kNoNode)
      work.push_back(until);
    return;
  case Op::BodyArgument:
    work.push_back(producer[at.stack]);
    return useResult(at.stack, at.index);
  case Op::Result: {
    const Node &from = entry.nodes[at.operands[0]];
    work.push_back(at.operands[0]);
    if (!isLoop(from))
      return;
    return useResult(from.index, bodyResultOf(entry.stacks[from.index], at.index));
  }
  default:
    work.insert(work.end(), at.operands.begin(), at.operands.end());
  }
}

// ---- what remains

namespace {

constexpr uint32_t kDropped = ~0u;

/// Numbers what is kept, in order.
std::vector<uint32_t> renumber(const std::vector<bool> &kept) {
  std::vector<uint32_t> numbers(kept.size(), kDropped);
  uint32_t next = 0;
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i])
      numbers[i] = next++;
  return numbers;
}

} // namespace

void Compaction::run(const std::vector<std::string> &inputOrder) {
  nodeNumber = renumber(live.node);
  std::vector<bool> stackKept(old.stacks.size());
  for (size_t i = 0; i < old.stacks.size(); ++i)
    stackKept[i] = live.producer[i] != kNoNode && live.node[live.producer[i]];
  stackNumber = renumber(stackKept);
  for (auto &results : live.result)
    resultNumber.push_back(renumber(results));
  keepInputsAndStates(inputOrder);
  findAxesAndDims(stackKept);
  entry.kind = old.kind;
  entry.name = old.name;
  entry.training = old.training;
  entry.metrics = old.metrics;
  entry.walkedAxis = old.walkedAxis;
  entry.walkedRange = old.walkedRange;
  for (size_t i = 0; i < old.dims.size(); ++i)
    if (dimNumber[i] != kDropped) {
      entry.dims.push_back(old.dims[i]);
      entry.dimUpperBound.push_back(size(old.dimUpperBound[i]));
      std::vector<unsigned> factors = i < old.dimFactors.size() ? old.dimFactors[i] : std::vector<unsigned>();
      for (unsigned &factor : factors)
        factor = dimNumber[factor];
      entry.dimFactors.push_back(std::move(factors));
    }
  for (Requirement &requirement : requirements) {
    requirement.left = size(requirement.left);
    requirement.right = size(requirement.right);
  }
  entry.requirements = std::move(requirements);
  for (size_t i = 0; i < old.axes.size(); ++i)
    if (axisNumber[i] != kDropped)
      entry.axes.push_back({old.axes[i].name, size(old.axes[i].size)});
  copyInputsAndStates();
  for (size_t i = 0; i < old.stacks.size(); ++i)
    if (stackKept[i])
      entry.stacks.push_back(stack(i));
  for (NodeId i = 0; i < old.nodes.size(); ++i)
    if (live.node[i])
      entry.nodes.push_back(node(old.nodes[i]));
  for (auto &[name, id] : old.results)
    entry.results.push_back({name, nodeNumber[id]});
}

void Compaction::keepInputsAndStates(const std::vector<std::string> &inputOrder) {
  std::vector<bool> kept(old.inputs.size());
  for (NodeId i = 0; i < old.nodes.size(); ++i)
    if (live.node[i]) {
      if (old.nodes[i].op == Op::Input)
        kept[old.nodes[i].index] = true;
      if (old.nodes[i].op == Op::State)
        stateKept[old.nodes[i].index] = true;
    }
  inputNumber.assign(old.inputs.size(), kDropped);
  for (const std::string &name : inputOrder)
    for (uint32_t i = 0; i < old.inputs.size(); ++i)
      if (kept[i] && old.inputs[i].name == name) {
        inputNumber[i] = uint32_t(inputs.size());
        inputs.push_back(i);
      }
  stateNumber = renumber(stateKept);
}

void Compaction::findAxesAndDims(const std::vector<bool> &stackKept) {
  std::vector<bool> axisKept(old.axes.size()), dimKept(old.dims.size(), keepsDims);
  for (size_t i = 0; i < dimKept.size(); ++i)
    dimKept[i] = dimKept[i] && !isProduct(old, unsigned(i)); // kept where a size needs it
  auto keep = [&](const std::vector<AxisId> &list) {
    for (AxisId axis : list)
      axisKept[axis] = true;
  };
  auto keepSize = [&](const Size &size) {
    for (auto &[dim, coefficient] : size.coefficients())
      dimKept[dim] = true;
  };
  for (NodeId i = 0; i < old.nodes.size(); ++i) {
    if (!live.node[i])
      continue;
    const Node &node = old.nodes[i];
    keep(typeOf(node).axes);
    keep(node.axesFrom);
    keep(node.axesTo);
    keepSize(node.size);
    if (node.attend) {
      keep({node.attend->key});
      keep(node.attend->queries);
    }
  }
  for (size_t i = 0; i < old.stacks.size(); ++i)
    if (stackKept[i]) {
      keepSize(old.stacks[i].count);
      if (old.stacks[i].history)
        axisKept[old.stacks[i].historyAxis] = true;
    }
  for (uint32_t i : inputs)
    keepSize(old.inputs[i].bound);
  for (size_t i = 0; i < old.states.size(); ++i)
    if (stateKept[i]) {
      for (auto &size : old.states[i].shape)
        keepSize(size);
      if (old.states[i].bound)
        keepSize(*old.states[i].bound);
    }
  for (size_t i = 0; i < old.axes.size(); ++i)
    if (axisKept[i])
      keepSize(old.axes[i].size);
  for (size_t i = old.dims.size(); i-- > 0;)
    if (dimKept[i]) {
      keepSize(old.dimUpperBound[i]); // a bound names earlier dims only, as a product has earlier factors
      for (unsigned factor : factorsOf(old, unsigned(i)))
        dimKept[factor] = true;
    }
  for (const Requirement &requirement : old.requirements)
    if (isOfKept(requirement.left, dimKept) && isOfKept(requirement.right, dimKept)) {
      requirements.push_back(requirement);
      keepSize(requirement.left); // what it multiplies may be a size of nothing else
      keepSize(requirement.right);
    }
  axisNumber = renumber(axisKept);
  dimNumber = renumber(dimKept);
}

/// Proofs go out from a requirement where all of its dims have a say: an entry that lacks one of them owes nothing to it.
bool Compaction::isOfKept(const Size &side, const std::vector<bool> &dimKept) const {
  return std::all_of(side.coefficients().begin(), side.coefficients().end(), [&](const auto &term) {
    const std::vector<unsigned> factors = factorsOf(old, term.first);
    return std::all_of(factors.begin(), factors.end(), [&](unsigned factor) { return dimKept[factor]; });
  });
}

Size Compaction::size(const Size &form) const {
  Size result = form.constant();
  for (auto &[dim, coefficient] : form.coefficients())
    result = *add(result, *multiply(Size::dim(dimNumber[dim]), Size(coefficient)));
  return result;
}

std::vector<AxisId> Compaction::axes(std::vector<AxisId> list) const {
  for (AxisId &axis : list)
    axis = axisNumber[axis];
  return list;
}

StackInfo Compaction::stack(size_t index) const {
  StackInfo info = old.stacks[index];
  info.parent = stackOf(info.parent);
  info.owner = stackOf(info.owner);
  info.count = size(info.count);
  info.total = size(info.total);
  std::vector<NodeId> results;
  unsigned carries = 0;
  for (size_t i = 0; i < info.results.size(); ++i)
    if (live.result[index][i]) {
      results.push_back(nodeNumber[info.results[i]]);
      carries += i < info.carries;
    }
  info.results = results;
  info.carries = carries;
  if (info.until != kNoNode)
    info.until = nodeNumber[info.until];
  info.nextStates.clear();
  info.historyAxis = info.history ? axisNumber[info.historyAxis] : 0;
  return info;
}

/// A loop has the type of its first carry, which can be another now.
ValueType Compaction::typeOf(const Node &node) const {
  if (!isLoop(node))
    return node.type;
  for (size_t i = 0; i < node.operands.size(); ++i)
    if (live.result[node.index][i])
      return old.nodes[node.operands[i]].type;
  return {Element::Real, {}, {}};
}

Node Compaction::node(const Node &from) const {
  Node to = from;
  to.type = typeOf(from);
  to.type.axes = axes(to.type.axes);
  to.axesFrom = axes(from.axesFrom);
  to.axesTo = axes(from.axesTo);
  to.size = size(from.size);
  to.stack = stackOf(from.stack);
  to.operands.clear();
  for (size_t i = 0; i < from.operands.size(); ++i)
    if (!isLoop(from) || live.result[from.index][i])
      to.operands.push_back(nodeNumber[from.operands[i]]);
  if (from.attend) {
    to.attend = std::make_shared<AttendInfo>(*from.attend);
    to.attend->key = axisNumber[from.attend->key];
    to.attend->queries = axes(from.attend->queries);
  }
  to.index = index(from);
  return to;
}

/// What `from` names by number: an input, a state, a stack, one of its results.
uint32_t Compaction::index(const Node &from) const {
  switch (from.op) {
  case Op::Input:
    return inputNumber[from.index];
  case Op::State:
    return stateNumber[from.index];
  case Op::BodyArgument:
    return resultNumber[from.stack][from.index];
  case Op::Stack:
  case Op::Scan:
    return stackNumber[from.index];
  case Op::Result: {
    const Node &producer = old.nodes[from.operands[0]];
    if (!isLoop(producer))
      return from.index;
    const auto &numbers = resultNumber[producer.index];
    unsigned carries = old.stacks[producer.index].carries, keptCarries = 0;
    for (unsigned i = 0; i < carries; ++i)
      keptCarries += numbers[i] != kDropped;
    const unsigned result = bodyResultOf(old.stacks[producer.index], from.index);
    return result == from.index ? numbers[result] : keptCarries + numbers[result];
  }
  default:
    return from.index;
  }
}

void Compaction::copyInputsAndStates() {
  for (uint32_t i : inputs) {
    Input input = old.inputs[i];
    input.type.axes = axes(input.type.axes);
    input.bound = size(input.bound);
    entry.inputs.push_back(input);
  }
  for (size_t i = 0; i < old.states.size(); ++i)
    if (stateKept[i]) {
      entry.states.push_back(old.states[i]);
      for (Size &each : entry.states.back().shape)
        each = size(each);
      if (entry.states.back().bound)
        entry.states.back().bound = size(*entry.states.back().bound);
    }
}

} // namespace tenon::sema
