#include "frontend/graph/Slices.h"
#include "frontend/graph/Averages.h"
#include "frontend/graph/BatchTotals.h"
#include "frontend/graph/SliceKinds.h"
#include <algorithm>

namespace tenon::sema {
namespace {

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
