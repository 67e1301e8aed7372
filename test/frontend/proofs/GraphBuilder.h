// A little hand for tests: integer graphs of a checked entry, written as expressions.
#pragma once
#include "frontend/Program.h"
#include <algorithm>
#include <optional>

namespace tenon::test {

struct GraphBuilder {
  Entry entry;

  Size dim(const std::string &name, Size upper = Size(-1)) {
    entry.dims.push_back(name);
    entry.dimUpperBound.push_back(upper);
    return Size::dim(unsigned(entry.dims.size() - 1));
  }
  AxisId axis(const std::string &name, Size size) {
    entry.axes.push_back({name, size});
    return AxisId(entry.axes.size() - 1);
  }
  NodeId node(Op op, Element element, std::vector<NodeId> operands, std::vector<AxisId> axes) {
    Node made;
    made.op = op;
    made.type.element = element;
    made.type.axes = std::move(axes);
    made.operands = std::move(operands);
    entry.nodes.push_back(made);
    return NodeId(entry.nodes.size() - 1);
  }
  Node &at(NodeId id) { return entry.nodes[id]; }
  NodeId number(int64_t value) {
    NodeId id = node(Op::Constant, Element::Int, {}, {});
    at(id).integer = value;
    return id;
  }
  NodeId size(Size value) {
    NodeId id = node(Op::SizeValue, Element::Int, {}, {});
    at(id).size = value;
    return id;
  }
  NodeId iota(AxisId axis) { return node(Op::Iota, Element::Int, {}, {axis}); }
  NodeId input(const std::string &name, std::vector<AxisId> axes, std::optional<Size> bound, Element element = Element::Int) {
    Input made;
    made.name = name;
    made.type = {element, axes, ""};
    made.isIndex = bound.has_value();
    made.bound = bound.value_or(Size(0));
    entry.inputs.push_back(made);
    NodeId id = node(Op::Input, element, {}, axes);
    at(id).index = uint32_t(entry.inputs.size() - 1);
    return id;
  }
  std::vector<AxisId> unite(const std::vector<NodeId> &operands) {
    std::vector<AxisId> axes;
    for (NodeId operand : operands)
      for (AxisId axis : at(operand).type.axes)
        if (std::find(axes.begin(), axes.end(), axis) == axes.end())
          axes.push_back(axis);
    return axes;
  }
  NodeId arithmetic(Op op, std::vector<NodeId> operands) { return node(op, Element::Int, operands, unite(operands)); }
  NodeId predicate(Op op, std::vector<NodeId> operands) { return node(op, Element::Bool, operands, unite(operands)); }
  NodeId plus(NodeId a, NodeId b) { return arithmetic(Op::Add, {a, b}); }
  NodeId minus(NodeId a, NodeId b) { return arithmetic(Op::Sub, {a, b}); }
  NodeId clip(NodeId x, NodeId low, NodeId high) { return arithmetic(Op::Min, {arithmetic(Op::Max, {x, low}), high}); }
  NodeId where(NodeId c, NodeId a, NodeId b) { return arithmetic(Op::Select, {c, a, b}); }
  NodeId gather(NodeId x, AxisId axis, NodeId index) {
    std::vector<AxisId> axes;
    for (AxisId each : at(x).type.axes)
      if (each != axis)
        axes.push_back(each);
    for (AxisId each : at(index).type.axes)
      if (std::find(axes.begin(), axes.end(), each) == axes.end())
        axes.push_back(each);
    NodeId id = node(Op::Gather, at(x).type.element, {x, index}, axes);
    at(id).axesFrom = {axis};
    return id;
  }
  NodeId rename(NodeId x, AxisId from, AxisId to) {
    std::vector<AxisId> axes = at(x).type.axes;
    std::replace(axes.begin(), axes.end(), from, to);
    NodeId id = node(Op::Rename, at(x).type.element, {x}, axes);
    at(id).axesFrom = {from};
    at(id).axesTo = {to};
    return id;
  }
};

} // namespace tenon::test
