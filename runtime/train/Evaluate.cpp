#include "runtime/train/Evaluate.h"
#include "runtime/train/Averages.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

namespace tenon::train {

using runtime::BoundTensor;
using runtime::TensorInfo;

namespace {

/// Symbols or rows of a batch that count. `shift`: predictions of symbols are made so many places before them in the row itself.
int64_t countedUnits(const Counted &counted, int64_t rows, int64_t places, bool perRow, int64_t shift) {
  const int64_t last = counted.rows < 0 ? rows : counted.rows, end = counted.places < 0 ? places : counted.places;
  if (perRow || places < 0)
    return last;
  int64_t units = 0;
  for (int64_t row = 0; row < last; ++row)
    units += std::max<int64_t>(0, end - std::max(shift, counted.first.empty() ? 0 : counted.first[static_cast<size_t>(row)]));
  return units;
}

/// The sign of a NaN is chance, and would be printed.
double withoutSign(double value) { return std::isnan(value) ? std::nan("") : value; }

Counted countedOf(const data::DataTask &task, uint64_t batch, int64_t rows) {
  Counted counted{task.validRows(batch), task.validPlaces(batch), {}, task.tellsLengths()};
  for (int64_t row = 0; row < (counted.rows < 0 ? rows : counted.rows); ++row)
    counted.first.push_back(task.firstPlace(batch, row));
  if (std::all_of(counted.first.begin(), counted.first.end(), [](int64_t first) { return first == 0; }))
    counted.first.clear();
  return counted;
}

/// Whether a number needs values of whole rows, such as the sum of lengths.
bool needsRows(const runtime::AverageInfo &average, const std::vector<TensorInfo> &outputs) {
  using Kind = runtime::AverageInfo::Kind;
  const bool isPart =
      average.kind == Kind::Sum || average.kind == Kind::Greatest || average.kind == Kind::Least || average.kind == Kind::Count;
  const TensorInfo *part = isPart ? &outputs[static_cast<size_t>(average.output)] : nullptr;
  return (part && part->rows >= 0 && part->places < 0) ||
         std::any_of(average.operands.begin(), average.operands.end(),
                     [&](const runtime::AverageInfo &operand) { return needsRows(operand, outputs); });
}

/// Windows that overlap leave places out, which a value of a whole row has in it.
Status checkOverlap(const std::vector<TensorInfo> &outputs) {
  for (const TensorInfo &output : outputs)
    if (output.average && needsRows(*output.average, outputs))
      return runtime::usageError("--stride leaves out the places of a window that another one has predicted, and ",
                                 output.metric ? "the metric '" : "the loss '", output.name,
                                 "' takes something of each row as a whole, such as sum(len); make it of places, such as "
                                 "sum(where(iota[T]() < len, 1, 0)), or evaluate without --stride");
  return {};
}

} // namespace

int entropyOutput(const runtime::Context &context, const data::DataTask &task) {
  const std::vector<TensorInfo> &outputs = context.entry().outputs;
  for (size_t i = 0; i < outputs.size() && task.perCharacter(); ++i)
    if (outputs[i].nats && !outputs[i].metric)
      return static_cast<int>(i);
  return -1;
}

int64_t predictionShift(const runtime::EntryInfo &eval) {
  std::optional<int64_t> least;
  for (const TensorInfo &output : eval.outputs)
    if (output.places >= 0)
      least = std::min(least.value_or(output.shift), output.shift);
  return least.value_or(0);
}

double Evaluation::bitsPerCharacter() const { return numbers[static_cast<size_t>(entropy)].value / M_LN2; }

std::optional<double> Evaluation::perplexity() const {
  for (const bool isMetric : {false, true})
    for (const Number &number : numbers)
      if (number.nats && number.metric == isMetric)
        return std::exp(number.value);
  return std::nullopt;
}

std::string Evaluation::perBatchNote() const {
  std::string names;
  size_t count = 0;
  for (const Number &number : numbers)
    if (number.perBatch && ++count)
      names += runtime::concat(names.empty() ? "" : ", ", number.name);
  const uint64_t smaller = batches - wholeBatches;
  if (names.empty() || (batches == 1 && smaller == 0))
    return {};
  if (wholeBatches == 0)
    return runtime::concat(names, count == 1 ? " is" : " are",
                           " of one batch that is not whole: its last row or place is in it several times");
  return runtime::concat(
      names, count == 1 ? " is the mean" : " are means", " over ", wholeBatches,
      wholeBatches == 1 ? " whole batch" : " whole batches",
      smaller == 0 ? "" : runtime::concat(", without the ", smaller, smaller == 1 ? " smaller one" : " smaller ones", " behind"),
      "; batches of another size give another number");
}

const Evaluation::Number *Evaluation::find(const std::string &name) const {
  for (const Number &number : numbers)
    if (number.name == name)
      return &number;
  return nullptr;
}

std::string leftOutNote(const std::vector<const runtime::EntryInfo *> &evaluations) {
  std::vector<std::pair<std::string, std::string>> groups; // a reason, and what is left out for it
  for (const auto &[name, why] : evaluations.empty() ? decltype(runtime::EntryInfo::leftOut)() : evaluations.front()->leftOut) {
    auto lacks = [&](const runtime::EntryInfo *entry) {
      return std::any_of(entry->leftOut.begin(), entry->leftOut.end(), [&](const auto &each) { return each.first == name; });
    };
    if (!std::all_of(evaluations.begin(), evaluations.end(), lacks))
      continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto &each) { return each.first == why; });
    if (group == groups.end())
      groups.emplace_back(why, name);
    else
      group->second += ", " + name;
  }
  std::string text;
  for (const auto &[why, names] : groups)
    text += runtime::concat(text.empty() ? "not evaluated: " : "; ", names, " (", why, ")");
  return text;
}

std::vector<TaskEvaluation> nameNumbers(std::vector<TaskEvaluation> results) {
  std::map<std::string, int> owners;
  for (TaskEvaluation &each : results) {
    each.prefix = results.size() > 1 ? each.task + "." : "";
    for (const Evaluation::Number &number : each.evaluation.numbers)
      ++owners[number.name];
  }
  for (TaskEvaluation &each : results)
    for (Evaluation::Number &number : each.evaluation.numbers)
      if (owners[number.name] > 1)
        number.name = each.prefix + number.name;
  return results;
}

const Evaluation::Number *findNumber(const std::vector<TaskEvaluation> &results, const std::string &name) {
  for (const TaskEvaluation &each : results)
    for (const std::string &wanted : {name, each.prefix + name})
      if (const Evaluation::Number *number = each.evaluation.find(wanted))
        return number;
  return nullptr;
}

runtime::Expected<Evaluation> evaluate(runtime::Context &context, Feeder &feeder, uint64_t maxBatches, bool (*stop)()) {
  auto begin = std::chrono::steady_clock::now();
  const data::DataTask &task = feeder.task();
  uint64_t batches = task.evaluationBatches();
  if (maxBatches > 0)
    batches = std::min(batches, maxBatches);
  Evaluation result;
  result.extent = task.extent();
  result.extent.covered = 0;
  int64_t rows = 1, places = -1; // of a batch
  for (const BoundTensor &input : context.inputs())
    if (!input.shape.empty() && !task.isFixed(input.name)) {
      rows = input.shape[0];
      if (places < 0 && input.shape.size() > 1)
        places = input.shape[1];
    }
  const int64_t shift = predictionShift(context.entry());
  Totals totals(context);
  context.resetStates();
  for (uint64_t i = 0; i < batches && !(stop && stop()); ++i) {
    Counted counted = countedOf(task, i, rows);
    Status fits = counted.first.empty() ? Status() : checkOverlap(context.entry().outputs);
    if (fits.ok())
      fits = feeder.fillEvaluation(i);
    if (fits.failed())
      return fits;
    context.setStep(i);
    if (Status status = context.run(); status.failed())
      return status;
    if (counted.rows >= rows)
      counted.rows = -1;
    if (counted.places >= places)
      counted.places = -1;
    if (Status status = totals.add(counted); status.failed())
      return status;
    result.wholeBatches += counted.rows < 0 && counted.places < 0;
    const int64_t covers = task.covers(i);
    result.extent.covered +=
        covers >= 0 ? covers : countedUnits(counted, rows, places, std::string_view(result.extent.unit) == "rows", shift);
    ++result.batches;
  }
  if (result.batches > 0 && result.extent.all > 0 && result.extent.covered == 0)
    return runtime::inputError("there is nothing to predict in ", result.extent.all, " ", result.extent.unit);
  const std::vector<TensorInfo> &outputs = context.entry().outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].axes.empty() && !outputs[i].name.starts_with("part."))
      result.numbers.push_back({outputs[i].name, result.batches ? withoutSign(totals.of(i)) : std::nan(""), outputs[i].metric,
                                outputs[i].nats && task.mayPredictSymbols(), outputs[i].perBatch});
  result.entropy = entropyOutput(context, task);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace tenon::train
