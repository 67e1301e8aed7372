#include "frontend/graph/Slices.h"
#include "frontend/graph/Averages.h"
#include "frontend/graph/BatchTotals.h"
#include <algorithm>
#include <set>
#include <tuple>

namespace tenon::sema {
namespace {

bool contains(const std::vector<AxisId> &axes, AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

/// The entry for a whole batch beside that for a slice: the same graph, but for sizes of the batch.
class Slices {
public:
  Slices(Entry itsWhole, Entry itsPart, AxisId batch)
      : whole(std::move(itsWhole)), part(std::move(itsPart)), batch(batch), rows(whole, part, batch) {
    // Formulas over the rows, as evaluations have them.
    addAverages(whole);
    addAverages(part);
  }
  const Node &node(NodeId id) const { return whole.nodes[id]; }

  /// How a loss of the whole follows from those of the slices.
  enum class Kind { Fixed, Mean, Sum, Other };
  Kind kindOf(size_t result) { return kindOf(whole.averages[result], part.averages[result]); }

  /// What in a loss is computed over the rows before they are added up, or depends on how many there are; kNoNode: nothing. One
  /// that stands in a text, if there is one: divisors of means do not.
  NodeId mixedRows(size_t result) {
    open.push_back({whole.results[result].second, part.results[result].second, false});
    return search();
  }
  /// The same of the terms of a sum over the rows.
  NodeId mixedTerms(NodeId sum, NodeId ofPart) {
    open.push_back({sum, ofPart, false});
    return search();
  }
  /// The same of the new values of states, which have rows.
  NodeId mixedStates() {
    auto add = [&](const auto &next, const auto &others) {
      for (size_t i = 0; i < std::min(next.size(), others.size()); ++i)
        open.push_back({next[i].second, others[i].second, true});
    };
    add(whole.nextStates, part.nextStates);
    for (size_t i = 0; i < std::min(whole.stacks.size(), part.stacks.size()); ++i)
      add(whole.stacks[i].nextStates, part.stacks[i].nextStates);
    return search();
  }
  static bool hasPlace(const Node &node) { return node.caller.end > node.caller.begin; }

private:
  NodeId search() {
    NodeId found = kNoNode;
    while (!open.empty()) {
      const Pair pair = open.back();
      open.pop_back();
      if (!seen.insert(std::tie(pair.whole, pair.part, pair.inside)).second)
        continue;
      const Node &a = whole.nodes[pair.whole], &b = part.nodes[pair.part];
      if (a.op != b.op || a.operands.size() != b.operands.size() || (pair.inside && mixes(a, b)) || countsRows(a, b)) {
        if (found == kNoNode || hasPlace(a))
          found = pair.whole;
        if (hasPlace(a))
          open.clear();
        continue;
      }
      const bool isSummed = !pair.inside && (a.op == Op::Sum || a.op == Op::Dot) && rows.any(a.axesFrom);
      for (size_t i = 0; i < a.operands.size(); ++i)
        open.push_back(isSummed ? terms({a.operands[i], b.operands[i], true}) : Pair{a.operands[i], b.operands[i], pair.inside});
      if (isLoop(a)) {
        const auto &results = whole.stacks[a.index].results, &others = part.stacks[b.index].results;
        for (size_t i = 0; i < std::min(results.size(), others.size()); ++i)
          open.push_back({results[i], others[i], true});
      }
    }
    return found;
  }
  struct Pair {
    NodeId whole, part;
    bool inside; // of what is summed over the rows, or of a stack
  };

  /// Names and order of axes that are summed do not matter, nor what they are joined to.
  Pair terms(Pair pair) const {
    for (;;) {
      const Node &a = whole.nodes[pair.whole], &b = part.nodes[pair.part];
      if (a.op != b.op || (a.op != Op::Rename && a.op != Op::Transpose && a.op != Op::Merge && a.op != Op::Split))
        return pair;
      pair.whole = a.operands[0];
      pair.part = b.operands[0];
    }
  }
  /// A loop of as many rounds as there are rows.
  bool countsRows(const Node &a, const Node &b) const {
    if (!isLoop(a))
      return false;
    const Size &count = whole.stacks[a.index].count;
    return count != part.stacks[b.index].count || rows.sizes(count);
  }
  bool mixes(const Node &a, const Node &b) const {
    const bool hasRows = contains(a.type.axes, batch);
    if (contains(a.axesFrom, batch) || contains(a.axesTo, batch) || (a.attend && a.attend->key == batch))
      return true;
    if (hasRows && (a.op == Op::Iota || a.op == Op::Sinusoid))
      return true; // the number of the row
    if (a.number != b.number || a.integer != b.integer || a.size != b.size || rows.sizes(a.size))
      return true; // how many rows there are
    for (size_t i = 0; i < a.type.axes.size() && i < b.type.axes.size(); ++i) {
      const AxisId axis = a.type.axes[i];
      if (axis != batch && (whole.axes[axis].size != part.axes[b.type.axes[i]].size || rows.has(axis)))
        return true;
    }
    return !hasRows && !isLoop(a) && a.op != Op::Result && std::any_of(a.operands.begin(), a.operands.end(), [&](NodeId operand) {
      return contains(whole.nodes[operand].type.axes, batch);
    });
  }
  /// The node whose value a formula takes as it is.
  static NodeId nodeOf(const Entry &entry, const Average &value) {
    return value.output < entry.results.size() ? entry.results[value.output].second
                                               : entry.parts[value.output - entry.results.size()];
  }

  /// A number that stands in the text, or how many elements a batch has. One that is the same for the whole and for a slice is
  /// the former, even if by chance there are as many rows.
  static std::optional<double> numberOf(const Entry &entry, const Average &average) {
    if (average.kind == Average::Kind::Constant)
      return average.number;
    if (average.kind != Average::Kind::Count)
      return std::nullopt;
    double product = 1;
    for (const Size &size : average.sizes)
      product *= double(size.evaluate(nominalDims(entry)));
    return product;
  }
  bool isSameNumber(const Average &a, const Average &b) const {
    const auto ofWhole = numberOf(whole, a), ofPart = numberOf(part, b);
    return whole.axes[batch].size.isConstant() && ofWhole && ofWhole == ofPart;
  }

  Kind kindOf(const Average &a, const Average &b) {
    using Of = Average::Kind;
    if (isSameNumber(a, b))
      return Kind::Fixed;
    if (a.perBatch || a.kind != b.kind || a.operands.size() != b.operands.size() || a.op != b.op ||
        (a.kind == Of::Constant && a.number != b.number))
      return Kind::Other;
    std::vector<Kind> kinds;
    for (size_t i = 0; i < a.operands.size(); ++i)
      kinds.push_back(kindOf(a.operands[i], b.operands[i]));
    const bool allFixed = std::all_of(kinds.begin(), kinds.end(), [](Kind kind) { return kind == Kind::Fixed; });
    switch (a.kind) {
    case Of::Constant:
      return Kind::Fixed;
    case Of::Value: // the same in every batch, else it would be perBatch, but maybe not in one of another size
      open.push_back({nodeOf(whole, a), nodeOf(part, b), true});
      return search() == kNoNode ? Kind::Fixed : Kind::Other;
    case Of::Sum:
    case Of::Count:
      return Kind::Sum;
    case Of::Greatest:
    case Of::Least:
      return Kind::Other;
    case Of::Apply:
      return allFixed ? Kind::Fixed : applied(a, kinds);
    case Of::Along:
      return allFixed || a.op == Op::Sum || a.op == Op::Div ? kinds[0] : Kind::Other;
    case Of::Rename:
    case Of::Expand:
    case Of::Slice:
      return kinds[0];
    }
    return Kind::Other;
  }
  static Kind applied(const Average &average, const std::vector<Kind> &kinds) {
    switch (average.op) {
    case Op::Neg:
      return kinds[0];
    case Op::Add:
    case Op::Sub: {
      auto meanOr = [](Kind kind) { return kind == Kind::Fixed ? Kind::Mean : kind; };
      return meanOr(kinds[0]) == meanOr(kinds[1]) ? meanOr(kinds[0]) : Kind::Other;
    }
    case Op::Mul:
      return kinds[0] == Kind::Fixed ? kinds[1] : kinds[1] == Kind::Fixed ? kinds[0] : Kind::Other;
    case Op::Div:
      return kinds[1] == Kind::Fixed                                                     ? kinds[0]
             : kinds[0] == Kind::Sum && average.operands[1].kind == Average::Kind::Count ? Kind::Mean
                                                                                         : Kind::Other;
    default:
      return Kind::Other;
    }
  }

  Entry whole, part;
  const AxisId batch;
  const RowAxes rows;
  std::vector<Pair> open;
  std::set<std::tuple<NodeId, NodeId, bool>> seen;
};

/// The batch is the first axis of what the entry reads and keeps.
class Cutter {
public:
  Cutter(const Setting &slices, const Entry &entry, Diagnostics &diagnostics)
      : slices(slices), entry(entry), diagnostics(diagnostics), count(slices.integer) {}

  /// Its axis, where all that the entry reads can be cut along it.
  std::optional<AxisId> batchAxis() {
    Entry analysed = entry;
    addAverages(analysed);
    if (analysed.batchAxes.empty()) {
      notYet("`slices` where no input has an axis");
      return std::nullopt;
    }
    const AxisId batch = analysed.batchAxes[0];
    for (const State &state : entry.states)
      if (state.ofModel || state.inPlace || std::count(state.axes.begin(), state.axes.end(), entry.axes[batch].name) != 1 ||
          state.axes[0] != entry.axes[batch].name) {
        notYet("`slices` with the state `" + state.path + "`, whose first axis is not " + entry.axes[batch].name);
        return std::nullopt;
      }
    for (const Input &input : entry.inputs)
      if (auto place = std::find(input.type.axes.begin(), input.type.axes.end(), batch);
          place != input.type.axes.begin() && place != input.type.axes.end()) {
        notYet("`slices` of the input `" + input.name + "`, whose first axis is not " + entry.axes[batch].name);
        return std::nullopt;
      }
    return batch;
  }
  bool divides(AxisId batch) {
    auto rows = entry.axes[batch].size.asConstant();
    if (!rows || *rows % count == 0)
      return true;
    diagnostics
        .error("T0643", slices.range,
               "`slices = " + std::to_string(count) + "` does not divide the batch: " + entry.axes[batch].name + " = " +
                   std::to_string(*rows),
               "slices of equal size")
        .notes.emplace_back("help", "`bind` another " + entry.axes[batch].name + ", or say another number of slices");
    return false;
  }
  void notYet(const std::string &what) { diagnostics.error("T0690", slices.range, "not supported yet: " + what); }
  /// `what` is no sum or mean of what the rows give, for it divides by `obstacle` or the like.
  void refuse(AxisId batch, const std::string &what, const std::optional<BatchTotals::Obstacle> &obstacle) {
    Diagnostic &error = report(batch, "`slices` adds up slices of a batch, and " + what + " is no sum or mean over its rows");
    if (obstacle)
      point(error, entry.nodes[obstacle->node], obstacle->why);
  }
  /// `mixed`: what is computed over the rows in `what`.
  void refuse(AxisId batch, const std::string &what, const Node &mixed) {
    point(report(batch, "`slices` adds up slices of a batch, and a value of " + what +
                            " is computed over its rows before they are summed"),
          mixed, "over the rows, or by their number");
  }

private:
  Diagnostic &report(AxisId batch, const std::string &message) {
    Diagnostic &error = diagnostics.error("T0644", slices.range, message, "no meaning for a slice");
    error.notes.emplace_back("note", "the rows are the places of " + entry.axes[batch].name + ", the first axis of the inputs");
    error.notes.emplace_back("help",
                             "mean(x) over the rows is, and sum(x), but not both added in one loss, and either divided by a "
                             "sum that depends on no parameter; `accumulate` takes each batch by itself");
    return error;
  }
  void point(Diagnostic &error, const Node &node, const std::string &label) const {
    if (Slices::hasPlace(node)) // in the author's own file: the place itself, else the call of it
      error.related.push_back({node.range.file == slices.range.file ? node.range : node.caller, label});
  }

  const Setting &slices;
  const Entry &entry;
  Diagnostics &diagnostics;
  const int64_t count;
};

/// How each loss adds up, where `totals` are known; nullopt after a refusal.
std::optional<std::vector<bool>> rowSumsOf(const Entry &entry, const BatchTotals &totals, AxisId batch, Cutter &cutter) {
  Slices losses(totals.hiddenWhole(), totals.hiddenPart(), batch);
  std::vector<bool> rowSums;
  for (size_t i = 0; i < entry.results.size(); ++i) {
    const std::string what = "loss " + entry.results[i].first;
    const Slices::Kind kind = losses.kindOf(i);
    if (const NodeId mixed = losses.mixedRows(i); mixed != kNoNode)
      cutter.refuse(batch, what, losses.node(mixed));
    else if (kind == Slices::Kind::Other)
      cutter.refuse(batch, what, totals.obstacle(i));
    else {
      rowSums.push_back(kind == Slices::Kind::Sum);
      continue;
    }
    return std::nullopt;
  }
  if (const NodeId mixed = losses.mixedStates(); mixed != kNoNode) {
    cutter.refuse(batch, "the states", losses.node(mixed));
    return std::nullopt;
  }
  for (const auto &[sum, ofPart] : totals.sums())
    if (const NodeId mixed = losses.mixedTerms(sum, ofPart); mixed != kNoNode) {
      cutter.refuse(batch, "a divisor", losses.node(mixed));
      return std::nullopt;
    }
  return rowSums;
}

} // namespace

std::optional<std::vector<Entry>>
cutSlices(const CheckedRecipe &recipe, Entry entry, const std::map<std::string, int64_t> &binds,
          const std::function<std::optional<Entry>(const std::map<std::string, int64_t> &)> &build, Diagnostics &diagnostics) {
  const Setting *slices = recipe.find("slices");
  if (!slices || slices->kind != Setting::Kind::Int || slices->integer < 2)
    return std::vector<Entry>{std::move(entry)};
  Cutter cutter(*slices, entry, diagnostics);
  std::optional<AxisId> batch = cutter.batchAxis();
  if (!batch || !cutter.divides(*batch))
    return std::nullopt;
  const std::string axis = entry.axes[*batch].name;
  std::optional<Entry> part = entry;
  if (auto rows = entry.axes[*batch].size.asConstant()) {
    auto cut = binds;
    auto bound = cut.find(axis);
    if (bound == cut.end()) {
      cutter.notYet("`slices` of the axis " + axis + ", which no `bind` gives a size");
      return std::nullopt;
    }
    bound->second = *rows / slices->integer;
    part = build(cut);
  }
  if (!part)
    return std::nullopt;
  const BatchTotals totals(entry, *part, *batch, slices->integer);
  auto rowSums = rowSumsOf(entry, totals, *batch, cutter);
  if (!rowSums)
    return std::nullopt;
  if (totals.isAmbiguous()) {
    cutter.notYet("`slices` where one divisor stands for two, which differ in the sizes of the batch");
    return std::nullopt;
  }
  std::vector<Entry> result = {totals.divided()};
  if (auto pass = totals.pass(result[0])) {
    result[0].totals = pass->entry.name;
    result[0].totalPasses = pass->times;
    result.push_back(std::move(pass->entry));
  }
  result[0].slices = slices->integer;
  result[0].batchAxis = axis;
  result[0].rowSums = std::move(*rowSums);
  return result;
}

} // namespace tenon::sema
