// What values in front of, in and behind the body of a loop, stack or scan have to do with each other.
#include "frontend/proofs/LinearValues.h"
#include <algorithm>

namespace tenon {

std::optional<NodeId> constantArgument(const Entry &entry, const Node &argument) {
  if (argument.stack >= entry.stacks.size() || argument.index < entry.stacks[argument.stack].carries)
    return std::nullopt; // a carry changes from step to step
  for (const Node &node : entry.nodes)
    if (node.op == Op::Stack && node.index == argument.stack && argument.index < node.operands.size()) {
      const ValueType &outside = entry.nodes[node.operands[argument.index]].type;
      for (AxisId axis : outside.axes)
        if (std::find(argument.type.axes.begin(), argument.type.axes.end(), axis) == argument.type.axes.end())
          return std::nullopt;
      return node.operands[argument.index];
    }
  return std::nullopt;
}

std::optional<std::pair<Size, Size>> depthRange(const Entry &entry, const Node &depth) {
  if (depth.stack >= entry.stacks.size())
    return std::nullopt;
  const StackInfo &info = entry.stacks[depth.stack], *rounds = roundsOf(entry.stacks, depth.stack);
  const int64_t later = rounds ? rounds->period * (rounds->count.constant() - 1) : 0;
  std::optional<Size> last = minus(info.count, Size(1 - info.first - later));
  return last ? std::optional(std::pair(Size(info.first), *last)) : std::nullopt;
}

/// What a result of a loop or scan is in its body, and what it is where no round runs; nothing for other results.
std::vector<NodeId> PlainBounds::loopResult(const Node &result) const {
  const Node &loop = entry.nodes[result.operands[0]];
  if (!isLoop(loop) || loop.index >= entry.stacks.size())
    return {};
  const StackInfo &info = entry.stacks[loop.index];
  const unsigned inBody = bodyResultOf(info, result.index);
  if (inBody >= info.results.size())
    return {};
  std::vector<NodeId> made = {info.results[inBody]};
  if (inBody < info.carries)
    made.push_back(loop.operands[inBody]);
  return made;
}

} // namespace tenon
