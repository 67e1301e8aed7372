// States that an entry which walks keeps: their names and shapes.
#pragma once
#include "frontend/graph/Graph.h"
#include <map>
#include <set>

namespace tenon::sema {

/// Adds states to an entry, each under a name of its own: the second `step.h.*.key` is `step.h.*.key.2`.
class KeptStates {
public:
  /// A state in place for values like `rows`, whose axes are those of `entry`: for each round of the loops around it apart.
  /// Bodies of one stack that run at other depths (`stacks` says which) share one.
  uint32_t add(Entry &entry, const std::vector<StackInfo> &stacks, const Node &rows, const std::string &path);

private:
  std::set<std::string> paths;             // of all states, once one was added
  std::map<std::string, unsigned> numbers; // the next one to try for states of one path
  struct Keepers {                         // of one state: its name without a number, and the bodies that write it
    std::string path;
    std::vector<uint32_t> bodies;
  };
  std::map<uint32_t, Keepers> keepers;
};

/// How many rounds the loops around a body make, outermost first.
std::vector<int64_t> roundsAround(const std::vector<StackInfo> &stacks, uint32_t body);
/// ENTRY.STACK.ROLE, with a * for each loop around.
std::string keptPath(const Entry &entry, const std::vector<StackInfo> &stacks, uint32_t body, const std::string &role);

} // namespace tenon::sema
