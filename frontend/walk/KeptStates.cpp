#include "frontend/walk/KeptStates.h"
#include "frontend/ElementTypes.h"
#include <algorithm>

namespace tenon::sema {

std::vector<int64_t> roundsAround(const std::vector<StackInfo> &stacks, uint32_t body) {
  std::vector<int64_t> rounds;
  for (; body != kEntryBody; body = bodyAround(stacks, body))
    rounds.insert(rounds.begin(), stacks[body].total.asConstant().value_or(1));
  return rounds;
}

std::string keptPath(const Entry &entry, const std::vector<StackInfo> &stacks, uint32_t body, const std::string &role) {
  std::string path = entry.name + ".";
  if (body != kEntryBody)
    path += stacks[body].path + ".";
  const auto loops = std::ptrdiff_t(roundsAround(stacks, body).size());
  for (auto stars = std::count(path.begin(), path.end(), '*'); stars < loops; ++stars)
    path += "*.";
  return path + role;
}

uint32_t KeptStates::add(Entry &entry, const std::vector<StackInfo> &stacks, const Node &rows, const std::string &path) {
  State state;
  state.stackCounts = roundsAround(stacks, rows.stack); // each round of a loop keeps its own
  state.element = rows.type.element;
  if (isOtherReal(rows.type.pinned)) // values of 16 bits are kept as such: they were rounded when they were made
    state.stored = rows.type.pinned;
  state.inPlace = true;
  for (AxisId axis : rows.type.axes) {
    state.axes.push_back(entry.axes[axis].name);
    state.shape.push_back(entry.axes[axis].size);
  }
  if (rows.op == Op::Append)
    state.places = int(std::find(rows.type.axes.begin(), rows.type.axes.end(), rows.axesTo[0]) - rows.type.axes.begin());
  for (auto &[index, kept] : keepers) { // bodies of one stack that run at other depths have their places in one state
    const State &other = entry.states[index];
    if (rows.stack == kEntryBody || kept.path != path || other.element != state.element || other.stored != state.stored ||
        other.axes != state.axes || other.shape != state.shape ||
        std::any_of(kept.bodies.begin(), kept.bodies.end(), [&](uint32_t body) { return bodiesMeet(stacks, body, rows.stack); }))
      continue;
    kept.bodies.push_back(rows.stack);
    return index;
  }
  keepers[uint32_t(entry.states.size())] = {path, {rows.stack}};
  if (paths.empty()) {
    paths.insert(entry.name + ".position");
    for (const State &other : entry.states)
      paths.insert(other.path);
  }
  state.path = path;
  for (unsigned &number = numbers.try_emplace(path, 2).first->second; !paths.insert(state.path).second; ++number)
    state.path = path + "." + std::to_string(number);
  entry.states.push_back(state);
  return uint32_t(entry.states.size() - 1);
}

} // namespace tenon::sema
