#include "frontend/proofs/IndexProof.h"
#include "frontend/Dims.h"
#include "frontend/proofs/LinearSystem.h"
#include <algorithm>
#include <set>

namespace tenon {

namespace {

/// Conditions that multiply the cases beyond this are dropped: that can lose a proof, not make a false one.
constexpr size_t kMaxSystems = 512;

/// Of one proof, about microseconds.
constexpr uint64_t kMostProofEffort = 200'000;

/// How many nodes a condition is made of, up to a number beyond which it does not matter.
size_t extentOf(const Entry &entry, NodeId condition) {
  constexpr size_t kMost = 1000;
  std::set<NodeId> seen = {condition};
  for (std::vector<NodeId> open = {condition}; !open.empty() && seen.size() < kMost;) {
    const NodeId id = open.back();
    open.pop_back();
    for (NodeId operand : entry.nodes[id].operands)
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return seen.size();
}

/// The conditions with each `and` taken apart: one of them may be enough where all together have too many cases.
std::vector<NodeId> conjunctsOf(const Entry &entry, const std::vector<NodeId> &conditions) {
  std::vector<std::pair<size_t, NodeId>> found;
  std::set<NodeId> seen;
  for (std::vector<NodeId> open(conditions.rbegin(), conditions.rend()); !open.empty();) {
    const NodeId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second)
      continue;
    const Node &node = entry.nodes[id];
    if (node.op == Op::And || node.op == Op::Expand || node.op == Op::Transpose)
      open.insert(open.end(), node.operands.rbegin(), node.operands.rend());
    else
      found.emplace_back(extentOf(entry, id), id);
  }
  std::sort(found.begin(), found.end());
  std::vector<NodeId> conjuncts;
  for (auto &[extent, id] : found)
    conjuncts.push_back(id);
  return conjuncts;
}

/// What conditions allow, as far as it is linear: `all` where every one with one alternative holds, and the alternatives of each
/// further one, those with few of them first.
struct Allowed {
  bool never = false;
  Conjunction all;
  std::vector<Alternatives> choices;
};

Allowed allowedBy(LinearValues &values, const Entry &entry, const std::vector<NodeId> &conditions) {
  Allowed allowed;
  for (NodeId condition : conjunctsOf(entry, conditions)) {
    Alternatives ways = values.truth(condition, true);
    allowed.never |= ways.empty();
    if (ways.size() == 1)
      allowed.all.insert(allowed.all.end(), ways[0].begin(), ways[0].end());
    else
      allowed.choices.push_back(std::move(ways));
  }
  std::sort(allowed.choices.begin(), allowed.choices.end(), [](auto &a, auto &b) { return a.size() < b.size(); });
  return allowed;
}

/// "i = 0, j = 3 gives -3 when M = 0, T = 5", with the places that `relevant` mentions: those of unrelated conditions say
/// nothing.
std::string exampleText(const Entry &entry, const LinearValues &values, const Point &point, const Conjunction &relevant,
                        const std::string &outcome) {
  for (auto [variable, value] : point)
    if (isProduct(entry, variable)) { // the system takes it for a number of its own
      int64_t product = 1;
      for (unsigned factor : entry.dimFactors[variable])
        product *= point.count(factor) ? std::clamp<int64_t>(point.at(factor), 0, INT16_MAX) : 0;
      if (product != value)
        return "";
    }
  std::set<unsigned> mentioned;
  for (const Constraint &constraint : relevant)
    for (auto [variable, coefficient] : constraint.form.coefficients())
      mentioned.insert(variable);
  std::vector<std::string> places, dims;
  for (auto [variable, value] : point) {
    const std::string &name = values.variables()[variable].name;
    const bool isDim = variable < entry.dims.size();
    if (!name.empty() && !isProduct(entry, variable) && (isDim || mentioned.count(variable)))
      (isDim ? dims : places).push_back(name + " = " + std::to_string(value));
  }
  std::sort(places.begin(), places.end()); // queries are i, keys are j
  auto listed = [](const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &word : words)
      text += (text.empty() ? "" : ", ") + word;
    return text;
  };
  const std::string text = listed(places) + (places.empty() || outcome.empty() ? "" : " gives ") + outcome;
  return text + (dims.empty() ? "" : " when " + listed(dims));
}

std::string boundText(const Entry &entry, std::vector<std::optional<Form>> bounds, bool lower) {
  std::vector<Form> extreme;
  for (const std::optional<Form> &bound : bounds) {
    if (!bound || extreme.size() > 4)
      return "";
    if (std::find(extreme.begin(), extreme.end(), *bound) != extreme.end())
      continue;
    bool kept = true;
    for (size_t i = 0; i < extreme.size() && kept;) {
      if (lower ? provablyAtMost(extreme[i], *bound, entry) : provablyAtMost(*bound, extreme[i], entry))
        kept = false;
      else if (lower ? provablyAtMost(*bound, extreme[i], entry) : provablyAtMost(extreme[i], *bound, entry))
        extreme.erase(extreme.begin() + i);
      else
        ++i;
    }
    if (kept)
      extreme.push_back(*bound);
  }
  if (extreme.size() == 1)
    return extreme[0].text(entry.dims);
  std::string text = lower ? "min(" : "max(";
  for (size_t i = 0; i < extreme.size(); ++i)
    text += (i ? ", " : "") + extreme[i].text(entry.dims);
  return text + ")";
}

std::string rangeText(const Entry &entry, const LinearValues &values, const Cases &cases) {
  std::vector<std::optional<Form>> lows, highs;
  for (const ValueCase &each : cases) {
    Interval interval = intervalOf(each.value, values.variables(), entry.dims.size());
    lows.push_back(interval.low);
    highs.push_back(interval.high);
  }
  const std::string low = boundText(entry, lows, true), high = boundText(entry, highs, false);
  if (low.empty() && high.empty())
    return "";
  if (low == high)
    return low;
  return (low.empty() ? "any" : low) + " .. " + (high.empty() ? "any" : high);
}

/// One bound of each side: numbers say most.
std::string plainText(const Entry &entry, const Bounds &bounds) {
  auto chosen = [&](const std::vector<Form> &side) {
    auto number = std::find_if(side.begin(), side.end(), [](const Form &form) { return form.isConstant(); });
    return side.empty() ? std::string("any") : (number != side.end() ? *number : side[0]).text(entry.dims);
  };
  const std::string low = chosen(bounds.lows), high = chosen(bounds.highs);
  return low != high ? low + " .. " + high : bounds.lows.empty() ? "" : low;
}

Conjunction together(const Conjunction &a, const Conjunction &b) {
  Conjunction all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

/// Looks for points of systems, until that takes too long.
class Search {
public:
  Search(const Entry &entry, const LinearValues &values, IndexProof &proof) : entry(entry), values(values), proof(proof) {}
  /// Also true, with `exhausted` set, if nobody knows.
  bool hasPoint(const Conjunction &constraints) {
    const LinearSystem system(entry, values.variables(), constraints);
    proof.effort += system.effort();
    proof.exhausted |= proof.effort > kMostProofEffort;
    return proof.exhausted || system.hasPoint();
  }
  /// One of those that hasPoint() has found.
  std::optional<Point> point(const Conjunction &constraints) {
    return proof.exhausted ? std::nullopt : LinearSystem(entry, values.variables(), constraints).point();
  }

private:
  const Entry &entry;
  const LinearValues &values;
  IndexProof &proof;
};

/// Drops the cases of min, max, where that cannot happen, so that the range does not speak of them.
Cases possible(Search &search, const Cases &cases) {
  Cases kept;
  for (const ValueCase &each : cases)
    if (each.when.empty() || search.hasPoint(each.when))
      kept.push_back(each);
  return kept;
}

/// What is left of `goal` where the conditions allow it; empty if they exclude it. A condition is first asked alone, since one of
/// many masks is often enough, and then with those before it, where a combination that has no point is not gone on with.
Alternatives leftOf(Search &search, const Conjunction &goal, const Allowed &allowed) {
  Conjunction base = together(goal, allowed.all);
  if (allowed.never || !search.hasPoint(goal) || !search.hasPoint(base))
    return {};
  auto under = [&](const Alternatives &before, const Alternatives &choices) {
    Alternatives left;
    for (const Conjunction &a : before)
      for (const Conjunction &b : choices)
        if (Conjunction both = together(a, b); search.hasPoint(both))
          left.push_back(std::move(both));
    return left;
  };
  for (const Alternatives &choices : allowed.choices)
    if (under({base}, choices).empty())
      return {};
  Alternatives left = {base};
  for (size_t i = 0; i < allowed.choices.size() && !left.empty(); ++i)
    if (left.size() * allowed.choices[i].size() <= kMaxSystems)
      left = under(left, allowed.choices[i]);
  return left;
}

std::optional<int64_t> valueAt(const Form &form, const Point &point) {
  std::optional<Form> value = Form(form.constant());
  for (auto [variable, coefficient] : form.coefficients()) {
    auto found = point.find(variable);
    if (found == point.end())
      return std::nullopt;
    value = plus(value, multiply(Form(found->second), Form(coefficient)));
  }
  return value ? value->asConstant() : std::nullopt;
}

} // namespace

IndexProof proveIndex(const Entry &entry, NodeId index, const Size &low, const Size &highExclusive,
                      const std::vector<NodeId> &conditions, const ProofHints &hints) {
  LinearValues values(entry, hints);
  const size_t dims = entry.dims.size();
  IndexProof proof;
  proof.proved = values.bounds().within(index, low, highExclusive);
  proof.range = plainText(entry, values.bounds().of(index));
  proof.effort = values.effort();
  if (proof.proved)
    return proof;
  Cases cases = values.value(index);
  proof.effort = values.effort();
  proof.proved = true;
  for (const ValueCase &each : cases) {
    Interval interval = intervalOf(each.value, values.variables(), dims);
    std::optional<Form> below = minus(interval.low, low), above = minus(minus(highExclusive, interval.high), Form(1));
    proof.proved &= below && above && plainlyNonNegative(*below, entry) && plainlyNonNegative(*above, entry);
  }
  if (proof.proved) {
    proof.range = rangeText(entry, values, cases);
    return proof;
  }
  const Allowed allowed = allowedBy(values, entry, conditions);
  proof.effort = values.effort();
  Search search(entry, values, proof);
  proof.proved = true;
  cases = possible(search, cases);
  if (std::string range = rangeText(entry, values, cases); !range.empty())
    proof.range = range;
  for (const ValueCase &each : cases)
    for (std::optional<Form> violation : {minus(minus(low, each.value), Form(1)), minus(each.value, highExclusive)}) {
      const Alternatives left = leftOf(search, violation ? together(each.when, {{*violation, false}}) : each.when, allowed);
      if (left.empty())
        continue;
      proof.proved = false;
      std::optional<Point> point = violation ? search.point(left[0]) : std::nullopt;
      if (std::optional<int64_t> value = point ? valueAt(each.value, *point) : std::nullopt)
        proof.example = exampleText(entry, values, *point, together(each.when, {{each.value, false}}), std::to_string(*value));
      if (proof.exhausted || !proof.example.empty())
        return proof;
    }
  return proof;
}

IndexProof proveCondition(const Entry &entry, NodeId goal, const std::vector<NodeId> &conditions, const ProofHints &hints) {
  LinearValues values(entry, hints);
  const Alternatives failures = values.truth(goal, false); // first: nothing is left of the effort behind costly conditions
  const Allowed allowed = allowedBy(values, entry, conditions);
  IndexProof proof;
  proof.effort = values.effort();
  Search search(entry, values, proof);
  proof.proved = true;
  for (const Conjunction &failure : failures) {
    const Alternatives left = leftOf(search, failure, allowed);
    if (left.empty())
      continue;
    proof.proved = false;
    if (std::optional<Point> point = search.point(left[0]))
      proof.example = exampleText(entry, values, *point, left[0], "");
    if (proof.exhausted || !proof.example.empty())
      return proof;
  }
  return proof;
}

IndexProof proveNonNegative(const Size &size, const Entry &entry) {
  IndexProof proof;
  proof.range = size.text(entry.dims);
  proof.proved = plainlyNonNegative(size, entry);
  if (proof.proved)
    return proof;
  std::optional<Form> negative = multiply(size, Size(-1));
  if (!negative || !(negative = minus(negative, Form(1))))
    return proof;
  const ProofHints hints;
  LinearValues values(entry, hints);
  Search search(entry, values, proof);
  proof.proved = !search.hasPoint({{*negative, false}});
  if (proof.proved)
    return proof;
  if (std::optional<Point> point = search.point({{*negative, false}}))
    if (std::optional<int64_t> value = valueAt(size, *point))
      proof.example = exampleText(entry, values, *point, {}, std::to_string(*value));
  return proof;
}

bool provablyAtMost(const Size &left, const Size &right, const Entry &entry) {
  std::optional<Size> room = subtract(right, left);
  return room && proveNonNegative(*room, entry).proved;
}

IndexProof proveSlice(const Size &low, const Size &count, const Size &total, const Entry &entry) {
  IndexProof proof;
  std::optional<Size> end = add(low, count), last = minus(end, Size(1)), room = minus(total, end);
  if (!last || !room)
    return proof;
  IndexProof start = proveNonNegative(low, entry), stop = proveNonNegative(*room, entry);
  proof.proved = start.proved && stop.proved;
  proof.range = low.text(entry.dims) + " .. " + last->text(entry.dims);
  if (!start.proved && !start.example.empty())
    proof.example = "the slice starts at " + start.example;
  else if (!stop.proved && !stop.example.empty()) // "-2 when T = 5": so many places are missing
    proof.example = "the slice ends " + stop.example.substr(1, stop.example.find(' ') - 1) + " after the last place" +
                    stop.example.substr(std::min(stop.example.find(' '), stop.example.size()));
  return proof;
}

std::optional<int> compareAlways(const Size &left, const Size &right, const Entry &entry) {
  if (left == right)
    return 0;
  std::optional<Size> leftNext = add(left, Size(1)), rightNext = add(right, Size(1));
  if (leftNext && provablyAtMost(*leftNext, right, entry))
    return -1;
  if (rightNext && provablyAtMost(*rightNext, left, entry))
    return 1;
  return std::nullopt;
}

} // namespace tenon
