#include "frontend/graph/ComputeTypes.h"
#include "frontend/ElementTypes.h"
#include <algorithm>
#include <functional>

namespace tenon {
namespace {

/// What computes reals of reals, element by element.
bool computesReals(Op op) {
  return (isElementwise(op) && op != Op::Not && !(op >= Op::Equal && op <= Op::Or)) || op == Op::Dropout;
}
/// How many operands it takes elements of, without computing: the others are indices and conditions. 0: it is no such op.
size_t movedOperands(const Node &node) {
  switch (node.op) {
  case Op::Rename:
  case Op::Merge:
  case Op::Split:
  case Op::Expand:
  case Op::Transpose:
  case Op::Slice:
  case Op::Flip:
  case Op::Window:
  case Op::Gather:
  case Op::Append: // what is kept was made as what is new
    return 1;
  case Op::Concat:
    return node.operands.size();
  default:
    return 0;
  }
}

class ComputeTypes {
public:
  ComputeTypes(const Entry &entry, const std::vector<Param> &params, const std::map<std::string, std::string> &exceptions)
      : entry(entry), params(params), exceptions(exceptions) {}

  std::map<NodeId, std::string> run() {
    for (NodeId id = 0; id < entry.nodes.size(); ++id)
      if (isContraction(entry.nodes[id])) {
        const std::string type = excepted(entry.nodes[id]);
        if (std::string found = type.empty() ? exceptionOf(kEveryPath) : type; !found.empty())
          types[id] = found;
      }
    for (NodeId id = 0; id < entry.nodes.size(); ++id) // what is written wins
      if (isUsualReal(entry.nodes[id].type.pinned))
        for (NodeId made : contractionsOf(id))
          types[made] = runtime::nameOf(kUsualReal);
    while (alignAttention()) {
    }
    return std::move(types);
  }

private:
  static bool isContraction(const Node &node) { return node.op == Op::Dot || node.op == Op::Attend; }

  /// The contractions that a value is made of, element by element.
  std::set<NodeId> contractionsOf(NodeId from) const {
    std::set<NodeId> found, seen;
    std::vector<NodeId> work{from};
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      const Node &node = entry.nodes[id];
      if (node.type.element != Element::Real || !seen.insert(id).second)
        continue;
      if (isContraction(node))
        found.insert(id);
      const size_t count = computesReals(node.op) ? node.operands.size() : node.op == Op::Put ? 3 : movedOperands(node);
      for (size_t i = 0; i < count; ++i)
        work.push_back(node.operands[i]);
    }
    return found;
  }

  /// The parameters that a value is made of; nothing where anything else but numbers is a part of it.
  std::optional<std::set<std::string>> parametersOf(NodeId from) const {
    std::set<std::string> found;
    std::set<NodeId> seen;
    std::vector<NodeId> work{from};
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      const Node &node = entry.nodes[id];
      if (!seen.insert(id).second)
        continue;
      if (node.op == Op::Param)
        found.insert(params[node.index].path);
      else if (computesReals(node.op) || (movedOperands(node) > 0 && node.op != Op::Gather))
        work.insert(work.end(), node.operands.begin(), node.operands.end());
      else if (node.op != Op::Constant && node.op != Op::SizeValue)
        return std::nullopt;
    }
    return found;
  }

  std::string exceptionOf(const std::string &path) const {
    auto known = exceptions.find(path);
    return known == exceptions.end() ? "" : known->second;
  }

  std::string excepted(const Node &node) const {
    for (NodeId factor : node.op == Op::Dot ? node.operands : std::vector<NodeId>())
      if (auto made = parametersOf(factor))
        for (const std::string &path : *made)
          if (std::string type = exceptionOf(path); !type.empty())
            return type;
    return node.layer ? exceptionOf(node.layer->path) : "";
  }

  /// Whether an attention and the contractions of its scores got another type.
  bool alignAttention() {
    bool changed = false;
    for (NodeId id = 0; id < entry.nodes.size(); ++id) {
      const Node &node = entry.nodes[id];
      if (node.op != Op::Attend)
        continue;
      std::set<NodeId> parts{id};
      for (unsigned i = 0; i < node.attend->scores; ++i)
        parts.merge(contractionsOf(node.operands[i]));
      std::string type;
      for (NodeId part : parts) // the widest that one says
        if (auto known = types.find(part); known != types.end() && writtenBits(known->second) > writtenBits(type))
          type = known->second;
      for (NodeId part : parts)
        if (!type.empty() && types[part] != type)
          types[part] = type, changed = true;
    }
    return changed;
  }

  const Entry &entry;
  const std::vector<Param> &params;
  const std::map<std::string, std::string> &exceptions;
  std::map<NodeId, std::string> types;
};

/// What is computed in f64: from each value that is written so down to what it is made of.
class WideNodes {
public:
  explicit WideNodes(const Entry &entry) : entry(entry) {}

  std::set<NodeId> run(const std::map<NodeId, std::string> &computed) {
    for (const auto &[id, type] : computed)
      if (isWideReal(type) && isShortReal(entry.nodes[id].type.pinned)) // made in f64, and rounded as it is written
        wide.insert(id);
      else if (isWideReal(type))
        add(id);
    for (NodeId id = 0; id < entry.nodes.size(); ++id)
      if (isWideReal(entry.nodes[id].type.pinned))
        add(id);
    for (const StackInfo &stack : entry.stacks)
      for (NodeId result : stack.results)
        if (isWideResult(entry, result))
          add(result);
    while (alignAttention()) {
    }
    return std::move(wide);
  }

private:
  /// Whether values of this op have a type that something else decides: an input, what a loop hands on.
  static bool isMadeElsewhere(Op op) {
    return op == Op::Constant || op == Op::Input || op == Op::Param || op == Op::State || op == Op::BodyArgument ||
           op == Op::Stack || op == Op::Scan || op == Op::Result;
  }

  void add(NodeId from) {
    std::vector<NodeId> work{from};
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      const Node &node = entry.nodes[id];
      const bool isWritten = isWideReal(node.type.pinned);
      if (node.type.element != Element::Real || (!isWritten && (!node.type.pinned.empty() || isMadeElsewhere(node.op))) ||
          !wide.insert(id).second)
        continue;
      const size_t count = computesReals(node.op) ? node.operands.size() : node.op == Op::Put ? 3 : movedOperands(node);
      work.insert(work.end(), node.operands.begin(), node.operands.begin() + count);
    }
  }

  /// An attention and what its scores are made of are of one type. Whether another one became f64.
  bool alignAttention() {
    const size_t before = wide.size();
    for (NodeId id = 0; id < entry.nodes.size(); ++id) {
      const Node &node = entry.nodes[id];
      if (node.op != Op::Attend)
        continue;
      const auto scores = std::vector<NodeId>(node.operands.begin(), node.operands.begin() + node.attend->scores);
      if (wide.count(id) || std::any_of(scores.begin(), scores.end(), [&](NodeId score) { return wide.count(score) > 0; })) {
        add(id);
        for (NodeId score : scores)
          add(score);
      }
    }
    return wide.size() > before;
  }

  const Entry &entry;
  std::set<NodeId> wide;
};

} // namespace

bool isWideResult(const Entry &entry, NodeId from) {
  std::set<NodeId> seen;
  for (NodeId id = from; seen.insert(id).second;) {
    const Node &node = entry.nodes[id];
    if (isWideReal(node.type.pinned))
      return true;
    if (node.op == Op::Result && isLoop(entry.nodes[node.operands[0]])) {
      const StackInfo &info = entry.stacks[entry.nodes[node.operands[0]].index];
      id = info.results[bodyResultOf(info, node.index)];
    } else if (movedOperands(node) == 1 && node.op != Op::Append) {
      id = node.operands[0];
    }
  }
  return false;
}

std::set<NodeId> wideNodes(const Entry &entry, const std::map<NodeId, std::string> &computed) {
  return WideNodes(entry).run(computed);
}

void addLayers(const Entry &entry, std::map<std::string, LayerPath> &layers) {
  for (const Node &node : entry.nodes)
    if (node.layer)
      layers.try_emplace(node.layer->path, *node.layer);
}

std::map<NodeId, std::string> computeTypes(const Entry &entry, const std::vector<Param> &params,
                                           const std::map<std::string, std::string> &exceptions) {
  return ComputeTypes(entry, params, exceptions).run();
}

} // namespace tenon
