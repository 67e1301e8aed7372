#include "frontend/graph/AttentionMaps.h"
#include "frontend/graph/Graph.h"
#include <algorithm>

namespace tenon::sema {
namespace {

class Maps {
public:
  explicit Maps(Entry &entry) : entry(entry) {}

  void run() {
    const NodeId end = NodeId(entry.nodes.size()); // what is added is no attend of the model
    for (NodeId id = 0; id < end; ++id)
      if (entry.nodes[id].op == Op::Attend)
        keep(id);
  }

private:
  struct Kept {
    std::string path;
    std::vector<uint32_t> bodies;
  };
  Entry &entry;
  std::map<uint32_t, Kept> kept; // by state

  NodeId add(Op op, Element element, std::vector<AxisId> axes, std::vector<NodeId> operands) {
    Node node = makeNode(op, {element, std::move(axes), {}});
    node.operands = std::move(operands);
    entry.nodes.push_back(std::move(node));
    return NodeId(entry.nodes.size() - 1);
  }

  void keep(NodeId id) {
    Node map = entry.nodes[id];
    map.attend = std::make_shared<AttendInfo>(*map.attend);
    map.attend->dropRate = 0;
    const AttendInfo &info = *map.attend;
    const size_t value = info.scores + info.masks;
    std::vector<AxisId> weighted; // axes of the weights
    for (size_t i = 0; i < map.operands.size(); ++i)
      if (i != value)
        for (AxisId axis : entry.nodes[map.operands[i]].type.axes)
          if (!includes(weighted, axis))
            weighted.push_back(axis);
    std::vector<AxisId> axes, queries;
    for (AxisId axis : map.type.axes)
      if (includes(weighted, axis) && !includes(info.queries, axis))
        axes.push_back(axis);
    for (AxisId axis : info.queries)
      if (includes(weighted, axis))
        queries.push_back(axis);
    axes.insert(axes.end(), queries.begin(), queries.end());
    const AxisId key = info.key, column = AxisId(entry.axes.size());
    entry.axes.push_back(Axis(entry.axes[key]));
    axes.push_back(column);
    NodeId row = add(Op::Iota, Element::Int, {key}, {}), place = add(Op::Iota, Element::Int, {column}, {});
    NodeId same = add(Op::Equal, Element::Bool, {key, column}, {row, place});
    map.operands[value] = add(Op::ToReal, Element::Real, {key, column}, {same});
    map.type.axes = axes;
    entry.nodes.push_back(map);
    auto &next = map.stack == kEntryBody ? entry.nextStates : entry.stacks[map.stack].nextStates;
    next.push_back({stateOf(map, queries), NodeId(entry.nodes.size() - 1)});
  }

  /// `path` with a star for each of `levels`: loops have none of their own, and what does not depend on the depth stands outside
  /// its stack.
  static std::string withStars(std::string path, size_t levels) {
    auto stars = size_t(std::count(path.begin(), path.end(), '*'));
    for (; stars < levels; ++stars)
      path += path.empty() ? "*" : ".*";
    for (; stars > levels; --stars)
      path.erase(path.rfind(".*"), 2);
    return path;
  }

  uint32_t stateOf(const Node &map, const std::vector<AxisId> &queries) {
    State state;
    state.init.a = -1;
    state.everyStep = true;
    for (uint32_t stack = map.stack; stack != kEntryBody; stack = bodyAround(entry.stacks, stack))
      state.stackCounts.insert(state.stackCounts.begin(), entry.stacks[stack].total.asConstant().value_or(1));
    for (AxisId axis : map.type.axes) {
      state.axes.push_back(entry.axes[axis].name);
      state.shape.push_back(entry.axes[axis].size);
    }
    std::string path = "attention[";
    for (AxisId axis : queries)
      path += entry.axes[axis].name + ", ";
    path += entry.axes[map.attend->key].name + "]";
    if (std::string layer = withStars(map.attend->path, state.stackCounts.size()); !layer.empty())
      path += " " + layer;
    // Bodies of one stack that run at other depths have their maps in one state.
    for (auto &[index, other] : kept)
      if (map.stack != kEntryBody && other.path == path && entry.states[index].axes == state.axes &&
          entry.states[index].shape == state.shape && std::none_of(other.bodies.begin(), other.bodies.end(), [&](uint32_t body) {
            return body == kEntryBody || bodiesMeet(entry.stacks, body, map.stack);
          })) {
        other.bodies.push_back(map.stack);
        return index;
      }
    const auto sameName = std::count_if(kept.begin(), kept.end(), [&](const auto &other) { return other.second.path == path; });
    state.path = sameName == 0 ? path : path + " (" + std::to_string(sameName + 1) + ")";
    const uint32_t index = uint32_t(entry.states.size());
    kept[index] = {path, {map.stack}};
    entry.states.push_back(state);
    return index;
  }
};

} // namespace

void keepAttentionMaps(Entry &entry) { Maps(entry).run(); }

} // namespace tenon::sema
