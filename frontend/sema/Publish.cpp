#include "frontend/sema/Publish.h"
#include <algorithm>

namespace tenon::sema {

/// The elements of a stacked parameter that a body reads: those of its depths, and of the depths of the stacks that it belongs to.
static void markPresent(Param &param, const Entry &entry, uint32_t body) {
  std::vector<const StackInfo *> bodies;
  for (; body < entry.stacks.size(); body = entry.stacks[body].owner)
    bodies.insert(bodies.begin(), &entry.stacks[body]);
  size_t elements = 1;
  for (int64_t count : param.stackCounts)
    elements *= size_t(count);
  param.present.resize(elements);
  for (size_t i = 0; i < elements; ++i) {
    bool inside = true;
    size_t rest = i;
    for (size_t level = param.stackCounts.size(); level-- > 0; rest /= size_t(param.stackCounts[level])) {
      const int64_t depth = int64_t(rest) % param.stackCounts[level];
      const StackInfo *stack = level < bodies.size() ? bodies[level] : nullptr;
      inside &= !stack || (depth >= stack->first && depth < stack->first + stack->count.constant());
    }
    if (inside)
      param.present[i] = true;
  }
}

void adoptParameters(const Session &session, Program &program, Entry &entry) {
  for (Node &node : entry.nodes) {
    if (node.op != Op::Param)
      continue;
    const ParameterRecord &record = session.parameters[node.index];
    auto found = std::find_if(program.params.begin(), program.params.end(),
                              [&](const Param &param) { return param.path == record.param.path; });
    if (found == program.params.end()) {
      program.params.push_back(record.param);
      found = program.params.end() - 1;
    }
    node.index = uint32_t(found - program.params.begin());
    markPresent(*found, entry, node.stack);
  }
}

void publish(const Session &session, Program &program, const NameTables &tables) {
  for (Param &param : program.params) {
    if (std::find(param.present.begin(), param.present.end(), false) == param.present.end())
      param.present.clear();
    const ParameterRecord &record = session.parameters[session.parameterByPath.at(param.path)];
    std::vector<UseStep> chain;
    for (auto &step : record.steps)
      chain.push_back({step.layer, step.use, step.count.has_value()});
    for (auto &scheme : tables.schemes())
      param.publicNames[scheme] = tables.publicNames(scheme, program.model, chain, record.leaf, param.stackCounts);
  }
}

} // namespace tenon::sema
