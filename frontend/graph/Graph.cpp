#include "frontend/graph/Graph.h"
#include <algorithm>
#include <cstring>

namespace tenon::sema {
namespace {

/// Bytes that are equal iff two nodes compute the same value in the same body.
class Key {
public:
  template <class T> Key &number(T value) {
    text.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  Key &list(const std::vector<uint32_t> &values) {
    number(uint32_t(values.size()));
    for (uint32_t value : values)
      number(value);
    return *this;
  }
  Key &size(const Size &size) {
    number(size.constant()).number(uint32_t(size.coefficients().size()));
    for (auto &[dim, coefficient] : size.coefficients())
      number(dim).number(coefficient);
    return *this;
  }
  Key &word(const std::string &word) {
    number(uint32_t(word.size()));
    text += word;
    return *this;
  }
  std::string text;
};

std::string keyOf(const Node &node) {
  Key key;
  key.number(node.op).number(node.type.element).list(node.type.axes).word(node.type.pinned);
  key.list(node.operands).list(node.axesFrom).list(node.axesTo).number(node.index).number(node.integer).number(node.number);
  key.size(node.size).number(node.interleaved).number(node.t2tSteps).number(node.clamp);
  key.number(node.clampIndex).number(node.stack);
  for (const WindowSteps &steps : node.windows)
    key.number(steps.stride).number(steps.padLow).number(steps.padHigh).number(steps.dilation);
  if (auto *attend = node.attend.get()) {
    key.number(attend->key).list(attend->queries).number(attend->scores).number(attend->masks).number(attend->scale);
    key.number(attend->scaleOperand).number(attend->dropRate).number(attend->site);
    for (auto &name : attend->scoreNames)
      key.word(name);
  }
  return key.text;
}

} // namespace

std::vector<AxisId> without(const std::vector<AxisId> &axes, const std::vector<AxisId> &removed) {
  std::vector<AxisId> rest;
  for (AxisId axis : axes)
    if (!includes(removed, axis))
      rest.push_back(axis);
  return rest;
}
bool includes(const std::vector<AxisId> &axes, AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }
bool sameSet(std::vector<AxisId> a, std::vector<AxisId> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}
bool hasDuplicates(std::vector<AxisId> axes) {
  std::sort(axes.begin(), axes.end());
  return std::adjacent_find(axes.begin(), axes.end()) != axes.end();
}

AxisId Graph::newAxis(std::string name, Size size, bool runtime) {
  entry.axes.push_back({std::move(name), std::move(size)});
  axisRuntime.push_back(runtime);
  return AxisId(entry.axes.size() - 1);
}

uint32_t Graph::newStack(StackInfo info) {
  stackLevels.push_back(level(info.parent) + 1);
  entry.stacks.push_back(std::move(info));
  return uint32_t(entry.stacks.size() - 1);
}

bool Graph::within(uint32_t body, uint32_t outer) const {
  while (body != outer && body != kEntryBody)
    body = entry.stacks[body].parent;
  return body == outer;
}

NodeId Graph::add(Node node, uint32_t body) {
  node.stack = body;
  for (NodeId operand : node.operands)
    if (level(entry.nodes[operand].stack) > level(node.stack))
      node.stack = entry.nodes[operand].stack;
  auto [place, isNew] = known.try_emplace(keyOf(node), NodeId(entry.nodes.size()));
  if (isNew) {
    node.caller = callerOf ? callerOf(node.range) : node.range;
    entry.nodes.push_back(std::move(node));
  }
  return place->second;
}

bool Graph::has(NodeId id, AxisId axis) const { return includes(axes(id), axis); }

NodeId Graph::real(double number) {
  Node node = makeNode(Op::Constant, {Element::Real, {}, {}});
  node.number = number;
  return add(node);
}
NodeId Graph::integer(int64_t number) {
  Node node = makeNode(Op::Constant, {Element::Int, {}, {}});
  node.integer = number;
  return add(node);
}
NodeId Graph::truth(bool value) {
  Node node = makeNode(Op::Constant, {Element::Bool, {}, {}});
  node.integer = value;
  return add(node);
}
NodeId Graph::sizeValue(const Size &size, ast::Range range) {
  if (auto number = size.asConstant())
    return integer(*number);
  Node node = makeNode(Op::SizeValue, {Element::Int, {}, {}});
  node.size = size;
  node.range = range;
  return add(node);
}
NodeId Graph::iota(AxisId axis, ast::Range range) {
  Node node = makeNode(Op::Iota, {Element::Int, {axis}, {}});
  node.range = range;
  return add(node);
}

NodeId Graph::toReal(NodeId id) {
  const Node &operand = entry.nodes[id];
  if (operand.type.element == Element::Real)
    return id;
  if (operand.op == Op::Constant)
    return real(double(operand.integer));
  return unary(Op::ToReal, id, operand.range, Element::Real);
}
NodeId Graph::toInt(NodeId id) {
  if (element(id) != Element::Bool)
    return id;
  if (entry.nodes[id].op == Op::Constant)
    return integer(entry.nodes[id].integer);
  ast::Range range = entry.nodes[id].range;
  NodeId one = integer(1), zero = integer(0);
  return elementwise(Op::Select, {id, one, zero}, Element::Int, range);
}

NodeId Graph::unary(Op op, NodeId operand, ast::Range range, std::optional<Element> element) {
  Node node = makeNode(op, entry.nodes[operand].type);
  node.type.pinned.clear();
  if (element)
    node.type.element = *element;
  if (op == Op::Not)
    if (auto value = constantTruth(operand))
      return truth(!*value);
  node.operands = {operand};
  node.range = range;
  return add(node);
}

NodeId Graph::elementwise(Op op, std::vector<NodeId> operands, Element element, ast::Range range) {
  Node node = makeNode(op, {element, unite(operands), {}});
  if (op == Op::Add || op == Op::Sub) { // an absent bias reads 0
    if (isZero(operands[1]) && axes(operands[0]) == node.type.axes && this->element(operands[0]) == element)
      return operands[0];
    if (op == Op::Add && isZero(operands[0]) && axes(operands[1]) == node.type.axes && this->element(operands[1]) == element)
      return operands[1];
  }
  if (op == Op::And || op == Op::Or)
    for (unsigned side = 0; side < 2; ++side)
      if (auto value = constantTruth(operands[side]))
        return *value == (op == Op::And) ? operands[1 - side] : truth(op == Op::Or);
  if (op == Op::Select)
    if (auto value = constantTruth(operands[0])) {
      NodeId chosen = operands[*value ? 1 : 2];
      if (axes(chosen) == node.type.axes && this->element(chosen) == element)
        return chosen;
    }
  node.operands = std::move(operands);
  node.range = range;
  return add(node);
}

NodeId Graph::rename(NodeId operand, const std::vector<AxisId> &from, const std::vector<AxisId> &to, ast::Range range) {
  Node node = makeNode(Op::Rename, entry.nodes[operand].type);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != to[i] && has(operand, from[i])) {
      node.axesFrom.push_back(from[i]);
      node.axesTo.push_back(to[i]);
    }
  if (node.axesFrom.empty())
    return operand;
  for (AxisId &axis : node.type.axes)
    for (size_t i = 0; i < node.axesFrom.size(); ++i)
      if (axis == node.axesFrom[i]) {
        axis = node.axesTo[i];
        break;
      }
  // Back to where it came from: a layer's output axis returns to the caller's name.
  if (const Node &inner = entry.nodes[operand];
      inner.op == Op::Rename && inner.axesFrom == node.axesTo && inner.axesTo == node.axesFrom)
    return inner.operands[0];
  if (entry.nodes[operand].op == Op::Iota) {
    NodeId renamed = iota(node.axesTo[0], range);
    return renamed;
  }
  node.operands = {operand};
  node.range = range;
  return add(node);
}

NodeId Graph::expand(NodeId operand, const std::vector<AxisId> &axes, ast::Range range) {
  if (this->axes(operand) == axes)
    return operand;
  if (sameSet(this->axes(operand), axes))
    return transpose(operand, axes, range);
  Node node = makeNode(Op::Expand, {element(operand), axes, {}});
  node.operands = {operand};
  node.range = range;
  return add(node);
}
NodeId Graph::transpose(NodeId operand, const std::vector<AxisId> &axes, ast::Range range) {
  if (this->axes(operand) == axes)
    return operand;
  Node node = makeNode(Op::Transpose, entry.nodes[operand].type);
  node.type.axes = axes;
  node.operands = {operand};
  node.range = range;
  return add(node);
}
NodeId Graph::reduce(Op op, NodeId operand, const std::vector<AxisId> &axes, Element element, ast::Range range) {
  Node node = makeNode(op, {element, without(this->axes(operand), axes), {}});
  node.operands = {operand};
  node.axesFrom = axes;
  node.range = range;
  return axes.empty() ? operand : add(node);
}
NodeId Graph::result(NodeId producer, unsigned index, ValueType type, ast::Range range) {
  Node node = makeNode(Op::Result, std::move(type));
  node.operands = {producer};
  node.index = index;
  node.range = range;
  return add(node);
}

NodeId Graph::countReal(const std::vector<AxisId> &axes, ast::Range range) {
  Size product = 1;
  std::vector<Size> rest; // factors that do not fit into one linear form
  for (AxisId axis : axes) {
    if (auto both = multiply(product, size(axis)))
      product = *both;
    else
      rest.push_back(size(axis));
  }
  NodeId count = toReal(sizeValue(product, range));
  for (auto &factor : rest)
    count = elementwise(Op::Mul, {count, toReal(sizeValue(factor, range))}, Element::Real, range);
  return count;
}

NodeId Graph::opaque(ValueType type, ast::Range range) {
  NodeId scalar = type.element == Element::Real ? real(0.5) : type.element == Element::Int ? integer(0) : truth(false);
  return type.axes.empty() ? scalar : expand(scalar, type.axes, range);
}

std::vector<AxisId> Graph::unite(const std::vector<NodeId> &ids) const {
  std::vector<std::pair<size_t, size_t>> order; // most axes first, else as given
  for (size_t i = 0; i < ids.size(); ++i)
    order.emplace_back(~axes(ids[i]).size(), i);
  std::sort(order.begin(), order.end());
  std::vector<AxisId> all;
  for (auto [rank, i] : order)
    for (AxisId axis : axes(ids[i]))
      if (!includes(all, axis))
        all.push_back(axis);
  return all;
}
bool Graph::contains(NodeId all, NodeId some) const {
  for (AxisId axis : axes(some))
    if (!has(all, axis))
      return false;
  return true;
}
bool Graph::isZero(NodeId id) const {
  while (entry.nodes[id].op == Op::Expand || entry.nodes[id].op == Op::ToReal || entry.nodes[id].op == Op::Rename)
    id = entry.nodes[id].operands[0];
  const Node &node = entry.nodes[id];
  return node.op == Op::Constant && node.type.element != Element::Bool && node.number == 0 && node.integer == 0;
}
std::optional<bool> Graph::constantTruth(NodeId id) const {
  const Node &node = entry.nodes[id];
  if (node.op == Op::Constant && node.type.element == Element::Bool)
    return node.integer != 0;
  return std::nullopt;
}

} // namespace tenon::sema
