// What of an entry is needed for some of its values, and the entry that has nothing else. A carry of a stack that nobody reads
// disappears with its chain, and with it inputs, parameters, dims.
#pragma once
#include "frontend/graph/Graph.h"

namespace tenon::sema {

/// The nodes that what was used reads, and the results of stacks among them.
class Live {
public:
  explicit Live(const Entry &entry);
  const Entry &entry;
  std::vector<bool> node;
  std::vector<std::vector<bool>> result; // per stack, per result of its body
  std::vector<NodeId> producer;          // per stack; kNoNode: a stack of no elements leaves its body behind, unused

  void use(NodeId id);
  /// Whether the body is one of a loop that is there.
  bool runs(uint32_t body) const;
  bool reads(uint32_t state) const;

private:
  std::vector<NodeId> work;
  void useResult(uint32_t stack, size_t index);
  void visit(NodeId id);
};

/// The entry of what is live, numbered anew. Next values of states and the walked axis are the caller's.
class Compaction {
public:
  Compaction(const Entry &old, const Live &live) : stateKept(old.states.size()), old(old), live(live) {}
  Entry entry;
  std::vector<bool> stateKept; // besides those that are read
  bool keepsDims = false;      // those too that nothing mentions any more

  /// `inputOrder`: the names of inputs as they are to stand.
  void run(const std::vector<std::string> &inputOrder);
  NodeId number(NodeId id) const { return nodeNumber[id]; }
  uint32_t axis(AxisId axis) const { return axisNumber[axis]; } // ~0: it is gone
  uint32_t state(uint32_t index) const { return stateNumber[index]; }
  uint32_t stackOf(uint32_t index) const { return index == kEntryBody ? index : stackNumber[index]; }

private:
  const Entry &old;
  const Live &live;
  std::vector<uint32_t> nodeNumber, stackNumber, axisNumber, dimNumber, inputNumber, stateNumber;
  std::vector<std::vector<uint32_t>> resultNumber;
  std::vector<uint32_t> inputs; // kept ones, in their order
  std::vector<Requirement> requirements;

  void keepInputsAndStates(const std::vector<std::string> &inputOrder);
  void findAxesAndDims(const std::vector<bool> &stackKept);
  void copyInputsAndStates();
  bool isOfKept(const Size &side, const std::vector<bool> &dimKept) const;
  Size size(const Size &form) const;
  std::vector<AxisId> axes(std::vector<AxisId> list) const;
  StackInfo stack(size_t index) const;
  ValueType typeOf(const Node &node) const;
  Node node(const Node &from) const;
  uint32_t index(const Node &from) const;
};

} // namespace tenon::sema
