// Conditions of loops that the ranges of reals decide: what `until` compares is known when the body is.
#include "frontend/proofs/RealRanges.h"
#include "frontend/sema/Checker.h"
#include <cmath>
#include <sstream>

namespace tenon::sema {

static std::string textOf(const RealRange &range) {
  std::ostringstream out;
  const bool hasLow = std::isfinite(range.low), hasHigh = std::isfinite(range.high);
  if (hasLow && hasHigh)
    out << "between " << range.low << " and " << range.high;
  else
    out << (hasLow ? "at least " : "at most ") << (hasLow ? range.low : range.high);
  return out.str();
}

/// Comparisons of reals in a condition whose truth is known, the reasons for its own.
static std::vector<NodeId> decidedComparisons(const Entry &entry, RealRanges &ranges, NodeId condition) {
  std::vector<NodeId> found;
  for (std::vector<NodeId> open = {condition}; !open.empty();) {
    const NodeId id = open.back();
    open.pop_back();
    const Node &node = entry.nodes[id];
    if (node.type.element != Element::Bool || node.operands.empty())
      continue;
    if (entry.nodes[node.operands[0]].type.element == Element::Bool)
      open.insert(open.end(), node.operands.rbegin(), node.operands.rend());
    else if (isElementwise(node.op) && ranges.of(id).low == ranges.of(id).high)
      found.push_back(id);
  }
  return found;
}

/// Loops of more rounds are not followed round by round.
constexpr int64_t kMostRounds = 64;

void Checker::warnOfRanges(const StackCall &call, uint32_t body, const std::vector<NodeId> &initial,
                           const std::vector<NodeId> &results) {
  if (!openConditions.erase(body))
    return;
  const StackInfo &info = graph.entry.stacks[body];
  RealRanges ranges(graph.entry);
  const auto count = info.count.asConstant();
  RealRange truth{0, 1};
  if (count && *count <= kMostRounds) {
    truth = ranges.inRounds(body, initial, results, info.until, *count);
  } else {
    ranges.assumeCarries(body, initial, results);
    truth = ranges.of(info.until);
  }
  const ast::Range place = graph[info.until].range;
  if (session.spendProof(place, ranges.effort()) && truth.low == truth.high && info.count == call.instance.count)
    if (auto *mistake = warnOfTruth(call.instance, place, truth.low > 0))
      for (NodeId comparison : decidedComparisons(graph.entry, ranges, info.until))
        for (NodeId operand : graph[comparison].operands) {
          const RealRange &range = ranges.of(operand);
          if (graph[operand].op != Op::Constant && (std::isfinite(range.low) || std::isfinite(range.high)))
            mistake->related.push_back({graph[operand].range, textOf(range)});
        }
}

} // namespace tenon::sema
