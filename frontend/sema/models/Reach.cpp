#include "frontend/sema/models/Reach.h"
#include <algorithm>

namespace tenon::sema {
namespace {

class Reach {
public:
  Reach(const Entry &entry, const std::function<bool(uint32_t)> &isFixed) : entry(entry), producer(entry.stacks.size(), kNoNode) {
    for (NodeId i = 0; i < entry.nodes.size(); ++i)
      if (isLoop(i))
        producer[entry.nodes[i].index] = i;
    reached.resize(entry.nodes.size());
    for (bool changed = true; changed;) { // a carry may be reached at its second step only
      changed = false;
      for (NodeId i = 0; i < entry.nodes.size(); ++i)
        if (!reached[i] && isReached(entry.nodes[i], isFixed))
          reached[i] = changed = true;
    }
  }
  std::vector<bool> reached;

private:
  const Entry &entry;
  std::vector<NodeId> producer; // of each stack

  bool isLoop(NodeId id) const { return tenon::isLoop(entry.nodes[id]); }
  bool isCarryReached(uint32_t stack, size_t index) const {
    const StackInfo &info = entry.stacks[stack];
    return reached[info.results[index]] || (index < info.carries && reached[entry.nodes[producer[stack]].operands[index]]);
  }
  bool isReached(const Node &node, const std::function<bool(uint32_t)> &isFixed) const {
    if (node.type.element != Element::Real)
      return false;
    switch (node.op) {
    case Op::Param:
      return !isFixed(node.index);
    case Op::StopGradient:
    case Op::Mod: // steps: their slope is taken as 0
    case Op::FloorDiv:
    case Op::Round:
    case Op::Floor:
    case Op::Ceil:
    case Op::State:
    case Op::Stack: // its results are asked one by one
    case Op::Scan:
      return false;
    case Op::BodyArgument:
      return isCarryReached(node.stack, node.index);
    case Op::Result:
      if (isLoop(node.operands[0])) {
        const Node &from = entry.nodes[node.operands[0]];
        return isCarryReached(from.index, bodyResultOf(entry.stacks[from.index], node.index));
      }
      break;
    default:
      break;
    }
    for (NodeId operand : node.operands)
      if (reached[operand])
        return true;
    return false;
  }
};

} // namespace

/// Whether `node` depends on a parameter through differentiable steps only. Parameters that `isFixed` names (by Node::index) do
/// not count.
static bool reachesParameter(const Entry &entry, NodeId node, const std::function<bool(uint32_t)> &isFixed) {
  return Reach(entry, isFixed).reached[node];
}

void checkReach(Session &session, const ast::Model &model, const CheckedRecipe &recipe, const Entry &entry,
                const std::vector<std::pair<std::string, double>> &weights, const std::map<std::string, ParamPolicy> &policies,
                const std::function<std::string(uint32_t)> &pathOf) {
  auto isFrozen = [&](uint32_t index) {
    auto policy = policies.find(pathOf(index));
    return policy != policies.end() && policy->second.frozen;
  };
  const std::string *first = nullptr;
  bool reached = false, free = false;
  for (auto &[name, node] : entry.results) {
    if (std::any_of(weights.begin(), weights.end(), [&](auto &weight) { return weight.first == name && weight.second == 0; }))
      continue;
    first = first ? first : &name;
    reached |= reachesParameter(entry, node, [](uint32_t) { return false; });
    free |= reachesParameter(entry, node, isFrozen);
  }
  const Setting *freeze = recipe.find("freeze"), *loss = recipe.find(recipe.find("tasks") ? "tasks" : "loss");
  if (!first && loss && !entry.results.empty()) {
    session.error("T0626", loss->range,
                  recipe.find("tasks") ? "a task weighs every loss by 0: there is nothing to train"
                                       : "this weighs every loss by 0: there is nothing to train");
  } else if (first && !reached) {
    for (auto &statement : model.body)
      if (statement->kind == ast::Stmt::Kind::Loss && statement->name.text == *first)
        session.error(
            "T0626", statement->name.range,
            "no parameter reaches loss " + *first + ", so " +
                (recipe.name.empty() ? "there is no gradient to take" : "recipe `" + recipe.name + "` would train nothing"));
  } else if (first && !free && freeze) {
    session.error("T0641", freeze->range, "`freeze` leaves no parameter that recipe `" + recipe.name + "` could train");
  }
}

} // namespace tenon::sema
