// Builds the nodes of one entry: hash-consing, result types, small folds. Knows nothing of names and reports nothing; the Checker
// has proved every call legal. A node belongs to the innermost stack body that one of its operands belongs to, so what does not
// depend on the depth stands outside the stack.
#pragma once
#include "frontend/Program.h"
#include <functional>
#include <string>
#include <unordered_map>

namespace tenon::sema {

constexpr uint32_t kEntryBody = ~0u; // the body of the entry itself, outside all stacks

class Graph {
public:
  Entry entry;
  std::function<ast::Range(ast::Range)> callerOf; // Node::caller of a range; may be empty
  std::vector<bool> axisRuntime;                  // parallel to entry.axes: the size varies at run time (also when bound here)

  AxisId newAxis(std::string name, Size size, bool runtime);
  /// Returns the equal node if there is one. `body` is a lower limit: leaves of a stack body and random nodes belong to it.
  NodeId add(Node node, uint32_t body = kEntryBody);
  uint32_t newStack(StackInfo info);
  bool within(uint32_t body, uint32_t outer) const; // body is outer or inside it

  const Node &operator[](NodeId id) const { return entry.nodes[id]; }
  const std::vector<AxisId> &axes(NodeId id) const { return entry.nodes[id].type.axes; }
  Element element(NodeId id) const { return entry.nodes[id].type.element; }
  bool has(NodeId id, AxisId axis) const;
  const Size &size(AxisId axis) const { return entry.axes[axis].size; }

  NodeId real(double number);
  NodeId integer(int64_t number);
  NodeId truth(bool value);
  NodeId sizeValue(const Size &size, ast::Range range);
  NodeId iota(AxisId axis, ast::Range range);
  NodeId toReal(NodeId id);
  NodeId toInt(NodeId id); // Bool counts as index(2)
  NodeId unary(Op op, NodeId operand, ast::Range range, std::optional<Element> element = std::nullopt);
  NodeId elementwise(Op op, std::vector<NodeId> operands, Element element, ast::Range range);
  NodeId rename(NodeId operand, const std::vector<AxisId> &from, const std::vector<AxisId> &to, ast::Range range);
  NodeId expand(NodeId operand, const std::vector<AxisId> &axes, ast::Range range); // `axes` contains the operand's
  NodeId transpose(NodeId operand, const std::vector<AxisId> &axes, ast::Range range);
  NodeId reduce(Op op, NodeId operand, const std::vector<AxisId> &axes, Element element, ast::Range range);
  NodeId result(NodeId producer, unsigned index, ValueType type, ast::Range range);
  /// The number of elements of a product of axes as a scalar Real.
  NodeId countReal(const std::vector<AxisId> &axes, ast::Range range);
  /// A value of this type of which nothing is known: stands for one whose mistake was reported.
  NodeId opaque(ValueType type, ast::Range range); // by value: callers pass the type of a node, and nodes move

  /// The axes of the operand with most axes first (ties: in order), then what the others add: the order in which results are
  /// stored.
  std::vector<AxisId> unite(const std::vector<NodeId> &ids) const;
  bool contains(NodeId all, NodeId some) const;
  bool isZero(NodeId id) const;
  std::optional<bool> constantTruth(NodeId id) const;

private:
  std::unordered_map<std::string, NodeId> known;
  std::vector<unsigned> stackLevels;
  unsigned level(uint32_t body) const { return body == kEntryBody ? 0 : stackLevels[body]; }
};

inline Node makeNode(Op op, ValueType type) {
  Node node;
  node.op = op;
  node.type = std::move(type);
  return node;
}

/// `axes` less those of `removed`.
std::vector<AxisId> without(const std::vector<AxisId> &axes, const std::vector<AxisId> &removed);
bool sameSet(std::vector<AxisId> a, std::vector<AxisId> b);
bool includes(const std::vector<AxisId> &axes, AxisId axis);
bool hasDuplicates(std::vector<AxisId> axes);

} // namespace tenon::sema
