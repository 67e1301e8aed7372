// From the graph of everything that was evaluated to the entry: only what its results and the states it advances need.
#include "frontend/graph/Prune.h"
#include "frontend/sema/Checker.h"
#include "frontend/walk/Walk.h"

namespace tenon::sema {

/// An entry that walks meets the places of a text call by call, and a condition over all of them cannot be known at the first
/// ones: loops along the walk run all of their rounds.
static void runAllRoundsAlong(Entry &entry, AxisId walked) {
  const std::vector<AxisId> places = placesOf(entry, walked);
  for (const Node &node : entry.nodes)
    if (std::any_of(node.type.axes.begin(), node.type.axes.end(), [&](AxisId axis) { return includes(places, axis); }))
      for (uint32_t body = node.stack; body != kEntryBody; body = entry.stacks[body].parent)
        entry.stacks[body].until = kNoNode;
}

std::optional<Entry> Checker::finish() {
  if (walked)
    runAllRoundsAlong(graph.entry, *walked);
  Live live(graph.entry);
  for (auto &[name, node] : graph.entry.results)
    live.use(node);
  std::vector<bool> needed(nextValues.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < nextValues.size(); ++i) {
      if (needed[i] || !live.runs(nextValues[i].body))
        continue;
      if (walked && endsRecurrence(graph.entry, nextValues[i].state, nextValues[i].value, *walked))
        continue;
      bool isNeeded = live.reads(nextValues[i].state);
      for (NodeId node : nextValues[i].with)
        isNeeded |= bool(live.node[node]);
      if (!isNeeded)
        continue;
      needed[i] = changed = true;
      live.use(nextValues[i].value);
    }
  }
  std::vector<std::string> inputOrder;
  for (auto &statement : model.body)
    if (statement->kind == ast::Stmt::Kind::In)
      inputOrder.push_back(statement->name.text);
  Compaction compaction(graph.entry, live);
  for (size_t i = 0; i < nextValues.size(); ++i)
    if (needed[i])
      compaction.stateKept[nextValues[i].state] = true;
  compaction.run(inputOrder);
  Entry entry = std::move(compaction.entry);
  for (size_t i = 0; i < nextValues.size(); ++i) {
    if (!needed[i])
      continue;
    bool again = false;
    for (size_t before = 0; before < i; ++before)
      again |= needed[before] && nextValues[before].state == nextValues[i].state &&
               bodiesMeet(graph.entry.stacks, nextValues[before].body, nextValues[i].body);
    if (again) {
      error("T0408", nextValues[i].range,
            "state " + graph.entry.states[nextValues[i].state].path +
                " would be set twice in one step: its layer is called twice");
      continue;
    }
    std::pair<uint32_t, NodeId> next = {compaction.state(nextValues[i].state), compaction.number(nextValues[i].value)};
    uint32_t body = compaction.stackOf(nextValues[i].body);
    (body == kEntryBody ? entry.nextStates : entry.stacks[body].nextStates).push_back(next);
  }
  if (walked && compaction.axis(*walked) != ~0u) {
    entry.walked = compaction.axis(*walked);
    checkWalk(entry, entry.walked);
  } else {
    entry.walkedAxis.clear(); // nothing has this axis: one call is all there is
  }
  if (failed)
    return std::nullopt;
  return entry;
}

} // namespace tenon::sema
