#include "frontend/graph/Slices.h"
#include "frontend/graph/Averages.h"
#include <algorithm>
#include <set>
#include <tuple>

namespace tenon::sema {
namespace {

bool contains(const std::vector<AxisId> &axes, AxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

/// The entry for a whole batch beside that for a slice: the same graph, but for sizes of the batch.
class Slices {
public:
  Slices(const Entry &whole, const Entry &part) : whole(whole), part(part) {
    // Formulas over the rows, as evaluations have them.
    Entry analysed = whole, analysedPart = part;
    addAverages(analysed);
    addAverages(analysedPart);
    averages = analysed.averages;
    partAverages = analysedPart.averages;
    batch = analysed.batchAxes.empty() ? 0 : analysed.batchAxes[0];
  }

  /// How a loss of the whole follows from those of the slices.
  enum class Kind { Fixed, Mean, Sum, Other };
  Kind kindOf(size_t result) const { return kindOf(averages[result], partAverages[result]); }

  /// What in a loss is computed over the rows before they are added up, or depends on how many there are; kNoNode: nothing. One
  /// that stands in a text, if there is one: divisors of means do not.
  NodeId mixedRows(size_t result) {
    open.push_back({whole.results[result].second, part.results[result].second, false});
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
      if (a.op != b.op || a.operands.size() != b.operands.size() || (pair.inside && mixes(a, b))) {
        if (found == kNoNode || hasPlace(a))
          found = pair.whole;
        if (hasPlace(a))
          open.clear();
        continue;
      }
      const bool inside = pair.inside || ((a.op == Op::Sum || a.op == Op::Dot) && contains(a.axesFrom, batch));
      for (size_t i = 0; i < a.operands.size(); ++i)
        open.push_back({a.operands[i], b.operands[i], inside});
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

  bool mixes(const Node &a, const Node &b) const {
    const bool hasRows = contains(a.type.axes, batch);
    if (contains(a.axesFrom, batch) || contains(a.axesTo, batch) || (a.attend && a.attend->key == batch))
      return true;
    if (hasRows && (a.op == Op::Iota || a.op == Op::Sinusoid))
      return true; // the number of the row
    if (a.number != b.number || a.integer != b.integer || a.size != b.size || dependsOnBatch(a.size))
      return true; // how many rows there are
    for (size_t i = 0; i < a.type.axes.size() && i < b.type.axes.size(); ++i) {
      const AxisId axis = a.type.axes[i];
      if (axis != batch && (whole.axes[axis].size != part.axes[b.type.axes[i]].size || dependsOnBatch(whole.axes[axis].size)))
        return true;
    }
    return !hasRows && !isLoop(a) && a.op != Op::Result && std::any_of(a.operands.begin(), a.operands.end(), [&](NodeId operand) {
      return contains(whole.nodes[operand].type.axes, batch);
    });
  }
  bool dependsOnBatch(const Size &size) const {
    const auto &own = size.coefficients(), &rows = whole.axes[batch].size.coefficients();
    return std::any_of(own.begin(), own.end(), [&](auto &term) { return rows.count(term.first) != 0; });
  }

  static Kind kindOf(const Average &a, const Average &b) {
    using Of = Average::Kind;
    if (a.perBatch || a.kind != b.kind || a.operands.size() != b.operands.size() || a.op != b.op ||
        (a.kind == Of::Constant && a.number != b.number))
      return Kind::Other;
    std::vector<Kind> kinds;
    for (size_t i = 0; i < a.operands.size(); ++i)
      kinds.push_back(kindOf(a.operands[i], b.operands[i]));
    const bool allFixed = std::all_of(kinds.begin(), kinds.end(), [](Kind kind) { return kind == Kind::Fixed; });
    switch (a.kind) {
    case Of::Constant:
    case Of::Value: // the same in every batch, else it would be perBatch
      return Kind::Fixed;
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

  const Entry &whole, &part;
  std::vector<Average> averages, partAverages;
  AxisId batch = 0;
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
  /// `mixed`: kNoNode if `what` is no sum or mean of what the rows give, else what in it is computed over the rows.
  void refuse(AxisId batch, const std::string &what, NodeId mixed) {
    Diagnostic &error = diagnostics.error(
        "T0644", slices.range,
        mixed == kNoNode
            ? "`slices` adds up slices of a batch, and " + what + " is no sum or mean over its rows"
            : "`slices` adds up slices of a batch, and a value of " + what + " is computed over its rows before they are summed",
        "no meaning for a slice");
    if (mixed != kNoNode &&
        Slices::hasPlace(entry.nodes[mixed])) // in the author's own file: the place itself, else the call of it
      error.related.push_back(
          {entry.nodes[mixed].range.file == slices.range.file ? entry.nodes[mixed].range : entry.nodes[mixed].caller,
           "over the rows, or by their number"});
    error.notes.emplace_back("note", "the rows are the places of " + entry.axes[batch].name + ", the first axis of the inputs");
    error.notes.emplace_back(
        "help", "mean(x) over the rows is, and sum(x), but not both added in one loss; `accumulate` takes each batch by itself");
  }

private:
  const Setting &slices;
  const Entry &entry;
  Diagnostics &diagnostics;
  const int64_t count;
};

} // namespace

std::optional<Entry> cutSlices(const CheckedRecipe &recipe, Entry entry, const std::map<std::string, int64_t> &binds,
                               const std::function<std::optional<Entry>(const std::map<std::string, int64_t> &)> &build,
                               Diagnostics &diagnostics) {
  const Setting *slices = recipe.find("slices");
  if (!slices || slices->kind != Setting::Kind::Int || slices->integer < 2)
    return entry;
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
  Slices losses(entry, *part);
  for (size_t i = 0; i < entry.results.size(); ++i) {
    const Slices::Kind kind = losses.kindOf(i);
    const NodeId mixed = losses.mixedRows(i);
    if (kind == Slices::Kind::Other || mixed != kNoNode) {
      cutter.refuse(*batch, "loss " + entry.results[i].first, mixed);
      return std::nullopt;
    }
    part->rowSums.push_back(kind == Slices::Kind::Sum);
  }
  if (const NodeId mixed = losses.mixedStates(); mixed != kNoNode) {
    cutter.refuse(*batch, "the states", mixed);
    return std::nullopt;
  }
  part->slices = slices->integer;
  part->batchAxis = axis;
  return part;
}

} // namespace tenon::sema
