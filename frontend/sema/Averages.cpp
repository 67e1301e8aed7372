#include "frontend/sema/Averages.h"
#include "frontend/sema/FormulaBudget.h"
#include <algorithm>

namespace tenon::sema {

namespace {

class Averages {
public:
  explicit Averages(Entry &entry) : entry(entry) {
    const Input *first = nullptr; // symbols, if the entry reads any: their second axis is that of the text
    for (const Input &input : entry.inputs)
      if (!input.type.axes.empty() && (!first || (!isText(*first) && isText(input))))
        first = &input;
    if (first)
      entry.batchAxes.assign(first->type.axes.begin(), first->type.axes.begin() + std::min<size_t>(2, first->type.axes.size()));
  }

  std::vector<std::string> run() {
    std::vector<std::string> names;
    FormulaBudget budget(entry);
    for (auto &[name, result] : entry.results) {
      entry.averages.push_back(budget.allows(result) ? of(result) : value(result));
      const Depends depends = dependsOf(entry.averages.back());
      entry.averages.back().perBatch = depends.onBatch;
      if (depends.onSums)
        names.push_back(name);
    }
    for (Average &average : entry.averages)
      giveOutputs(average);
    return names;
  }

private:
  using Kind = Average::Kind;
  Entry &entry;
  std::vector<std::pair<uint32_t, NodeId>> summed; // output of a sum, and what the text sums for it

  static bool isText(const Input &input) { return input.type.element == Element::Int && input.type.axes.size() >= 2; }
  const Node &node(NodeId id) const { return entry.nodes[id]; }
  static bool contains(const std::vector<AxisId> &axes, AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

  /// What a number still has of a single batch.
  struct Depends {
    bool onBatch = false, onSums = false; // on any of its values; on a sum over its rows
  };
  Depends dependsOf(const Average &average) const {
    Depends result;
    if (average.kind == Kind::Value)
      result = reached(average.output, true);
    for (auto &[output, terms] : summed)
      if (average.kind == Kind::Sum && output == average.output)
        result = reached(terms, false);
    for (const Average &operand : average.operands) {
      const Depends inner = dependsOf(operand);
      result = {result.onBatch || inner.onBatch, result.onSums || inner.onSums};
    }
    return result;
  }
  /// `leaves`: whether an input that it comes from makes it one of the batch; else only what is reduced over the rows does.
  Depends reached(NodeId root, bool leaves) const {
    Depends result;
    std::vector<bool> seen(entry.nodes.size());
    for (std::vector<NodeId> open = {root}; !open.empty();) {
      const NodeId id = open.back();
      open.pop_back();
      if (seen[id])
        continue;
      seen[id] = true;
      const Node &each = node(id);
      const bool overRows = !entry.batchAxes.empty() && contains(each.axesFrom, entry.batchAxes[0]);
      result.onSums |= each.op == Op::Sum && overRows;
      result.onBatch |= overRows && (each.op == Op::Sum || each.op == Op::ReduceMax || each.op == Op::ReduceMin || each.op == Op::All || each.op == Op::Any);
      result.onBatch |= leaves && (each.op == Op::Input || each.op == Op::State || each.op == Op::Stack || each.op == Op::BodyArgument);
      open.insert(open.end(), each.operands.begin(), each.operands.end());
    }
    return result;
  }

  /// Its output is a node until all formulas are known, since whole formulas without a sum become one value.
  Average value(NodeId id) const {
    Average result;
    result.kind = Kind::Value;
    result.output = id;
    return result;
  }
  void giveOutputs(Average &average) {
    for (Average &operand : average.operands)
      giveOutputs(operand);
    if (average.kind != Kind::Value)
      return;
    auto own = std::find_if(entry.results.begin(), entry.results.end(), [&](auto &result) { return result.second == average.output; });
    average.output = own != entry.results.end() ? uint32_t(own - entry.results.begin()) : part(average.output);
  }
  uint32_t part(NodeId id) {
    auto found = std::find(entry.parts.begin(), entry.parts.end(), id);
    if (found == entry.parts.end())
      found = entry.parts.insert(found, id);
    return uint32_t(entry.results.size() + (found - entry.parts.begin()));
  }

  Average of(NodeId id) {
    const Op op = node(id).op;
    if (op == Op::Constant) {
      Average result;
      result.number = node(id).type.element == Element::Real ? node(id).number : double(node(id).integer);
      return result;
    }
    if (op == Op::Sum)
      return sum(id);
    if (op == Op::ToReal || op == Op::StopGradient)
      return replaced(of(node(id).operands[0]), id);
    static const Op known[] = {Op::Neg, Op::Exp, Op::Log, Op::Sqrt, Op::Abs, Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Pow, Op::Max, Op::Min};
    if (std::find(std::begin(known), std::end(known), op) == std::end(known) || (op == Op::Div && node(id).type.element != Element::Real))
      return value(id);
    return apply(id);
  }
  /// The value of an operand is of no use where that of the whole is to be had.
  Average replaced(Average average, NodeId whole) const { return average.kind == Kind::Value ? value(whole) : average; }

  Average apply(NodeId id) {
    Average result;
    result.kind = Kind::Apply;
    result.op = node(id).op;
    const std::vector<NodeId> operands = node(id).operands;
    for (NodeId operand : operands)
      result.operands.push_back(of(operand));
    if (result.op == Op::Div)
      if (const Average *part = firstSum(result.operands[0]))
        if (auto count = countOf(operands[1], *part))
          result.operands[1] = *count;
    const bool sums = std::any_of(result.operands.begin(), result.operands.end(), [](const Average &each) { return firstSum(each); });
    // Without a sum it is the same in every batch, or nothing that adds up. A size of the run-time dims that counts nothing of the batch is that too.
    return sums ? result : value(id);
  }
  static const Average *firstSum(const Average &average) {
    if (average.kind == Kind::Sum)
      return &average;
    for (const Average &operand : average.operands)
      if (const Average *found = firstSum(operand))
        return found;
    return nullptr;
  }

  Average sum(NodeId id) {
    NodeId terms = node(id).operands[0];
    if (!node(id).type.axes.empty())
      return value(id);
    while (!hasBatch(terms) && isView(terms)) // summed over all axes: their names and order do not matter
      terms = node(terms).operands[0];
    if (!hasBatch(terms))
      return value(id);
    Average result;
    result.kind = Kind::Sum;
    result.output = part(perPlace(terms));
    summed.emplace_back(result.output, terms);
    return result;
  }
  bool hasBatch(NodeId id) const { return !entry.batchAxes.empty() && contains(node(id).type.axes, entry.batchAxes[0]); }
  bool isView(NodeId id) const {
    const Op op = node(id).op;
    return op == Op::Rename || op == Op::Transpose || op == Op::Merge || op == Op::Split;
  }
  /// Summed over all axes but those of batch and places: rows and places can be left out of what remains.
  NodeId perPlace(NodeId terms) {
    Node rest;
    rest.op = Op::Sum;
    rest.type.element = node(terms).type.element;
    rest.range = node(terms).range;
    rest.operands = {terms};
    for (AxisId axis : node(terms).type.axes)
      (contains(entry.batchAxes, axis) ? rest.type.axes : rest.axesFrom).push_back(axis);
    if (rest.axesFrom.empty())
      return terms;
    for (NodeId i = 0; i < entry.nodes.size(); ++i)
      if (const Node &each = entry.nodes[i]; each.op == Op::Sum && each.operands == rest.operands && each.axesFrom == rest.axesFrom && each.stack == rest.stack)
        return i;
    entry.nodes.push_back(rest);
    return NodeId(entry.nodes.size() - 1);
  }

  /// A divisor that is the number of rows, or of all or some of the places that a sum runs over: mean(x), sum(x) / real(B).
  std::optional<Average> countOf(NodeId divisor, const Average &of) const {
    const std::vector<int64_t> dims = nominalDims(entry);
    const auto wanted = productOfSizes(entry, divisor, dims);
    for (auto &[output, terms] : summed)
      if (const std::vector<AxisId> &axes = node(terms).type.axes; wanted && output == of.output && axes.size() <= 8)
        for (unsigned chosen = (1u << axes.size()) - 1; chosen > 0; --chosen) // all axes first
          if (auto count = countAlong(axes, chosen, dims); count && count->second == *wanted) {
            count->first.output = output;
            return count->first;
          }
    return std::nullopt;
  }
  /// The sizes of the axes that `chosen` has bits for, and their product; nullopt without the batch.
  std::optional<std::pair<Average, double>> countAlong(const std::vector<AxisId> &axes, unsigned chosen, const std::vector<int64_t> &dims) const {
    std::pair<Average, double> result = {{}, 1};
    result.first.kind = Kind::Count;
    bool hasRows = false;
    for (size_t i = 0; i < axes.size(); ++i)
      if (chosen >> i & 1) {
        result.first.sizes.push_back(entry.axes[axes[i]].size);
        result.second *= double(result.first.sizes.back().evaluate(dims));
        hasRows |= axes[i] == entry.batchAxes[0];
      }
    return hasRows ? std::optional(result) : std::nullopt;
  }
};

} // namespace

std::vector<int64_t> nominalDims(const Entry &entry) {
  static const int64_t primes[] = {10007, 10009, 10037, 10039, 10061, 10067, 10069, 10079};
  std::vector<int64_t> dims;
  for (size_t i = 0; i < entry.dims.size(); ++i)
    dims.push_back(primes[i % std::size(primes)]);
  return dims;
}

std::optional<double> productOfSizes(const Entry &entry, NodeId id, const std::vector<int64_t> &dims) {
  const Node &node = entry.nodes[id];
  if (node.op == Op::Constant)
    return node.type.element == Element::Real ? node.number : double(node.integer);
  if (node.op == Op::SizeValue)
    return double(node.size.evaluate(dims));
  if (node.op == Op::ToReal)
    return productOfSizes(entry, node.operands[0], dims);
  if (node.op != Op::Mul)
    return std::nullopt;
  auto left = productOfSizes(entry, node.operands[0], dims), right = productOfSizes(entry, node.operands[1], dims);
  return left && right ? std::optional(*left * *right) : std::nullopt;
}

std::vector<std::string> addAverages(Entry &entry) { return Averages(entry).run(); }

} // namespace tenon::sema
