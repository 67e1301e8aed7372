#include "tools/tenon/EvalMeasures.h"
#include "runtime/base/Convert.h"
#include "runtime/data/Measures.h"
#include "tools/tenon/AllRows.h"
#include "tools/tenon/Say.h"
#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::driver {

using runtime::BoundTensor;
using runtime::EntryInfo;

namespace {

constexpr const char *kSpanF1 = "span_f1", *kMatthews = "matthews", *kF1 = "f1", *kSpearman = "spearman", *kPearson = "pearson";
bool isOfSpans(const Measure &measure) { return measure.name == kSpanF1; }
bool isOfClasses(const Measure &measure) { return measure.name == kMatthews || measure.name == kF1; }
/// The input that has what is right.
std::string labelOf(const Measure &measure, const train::TaskRecipe &task) {
  if (isOfClasses(measure))
    return task.valid->label.empty() ? "label" : task.valid->label;
  return isOfSpans(measure) ? "tag" : "score";
}

/// Whether an evaluation has what is right: the losses or metrics of its entry read it.
bool hasLabels(const Measure &measure, const train::TaskRecipe &task, const runtime::Manifest &manifest) {
  const EntryInfo *entry = manifest.findEntry(train::evalEntryOf(task));
  const int input = task.valid && entry ? entry->inputIndex(labelOf(measure, task)) : -1;
  if (input < 0)
    return false;
  if (isOfClasses(measure)) // and not numbers under this name
    return entry->inputs[static_cast<size_t>(input)].bound.has_value();
  return !isOfSpans(measure) || task.valid->name == "tags";
}

/// What is right, row by row: the score or the class, or the tags of the words that count and where these stand in a row.
struct Labels {
  std::vector<double> scores;
  std::vector<std::vector<int32_t>> tags;
  std::vector<std::vector<size_t>> places;
};

/// The labels of all rows: those of words, whose `weight` is not 0, or numbers.
Expected<Labels> readLabels(const Measure &measure, const std::string &name, data::DataTask &task,
                            const runtime::Context &evaluation) {
  const auto input = static_cast<size_t>(evaluation.entry().inputIndex(name));
  const BoundTensor &bound = evaluation.inputs()[input];
  const bool spans = isOfSpans(measure);
  const auto most = evaluation.entry().inputs[input].bound;
  OwnTensor label(bound.name, most ? bound.type : runtime::DataType::F64, bound.shape,
                  most ? most->evaluate(evaluation.dims()).value_or(-1) : -1);
  OwnTensor weight("weight", runtime::DataType::F64, bound.shape, -1);
  std::vector<data::InputTensor> tensors = {label.tensor};
  if (spans)
    tensors.push_back(weight.tensor);
  else if (label.tensor.elements() != bound.shape[0])
    return inputError("--measure ", measure.name, " takes one number for each row, and the input '", name, "' has ",
                      label.tensor.elements() / bound.shape[0]);
  if (Status status = task.bind(tensors); status.failed())
    return status;
  Labels labels;
  const auto rows = static_cast<size_t>(bound.shape[0]), width = label.room.size() / rows;
  for (uint64_t batch = 0; batch < task.evaluationBatches(); ++batch) {
    if (Status status = task.fillEvaluation(batch, tensors); status.failed())
      return status;
    for (size_t row = 0; row < static_cast<size_t>(countedRows(task, batch, bound.shape[0])); ++row) {
      if (!spans) {
        labels.scores.push_back(most ? static_cast<const int32_t *>(label.tensor.data)[row] : label.room[row]);
        continue;
      }
      labels.tags.emplace_back();
      labels.places.emplace_back();
      for (size_t place = 0; place < width; ++place)
        if (weight.room[row * width + place] != 0) {
          labels.tags.back().push_back(static_cast<const int32_t *>(label.tensor.data)[row * width + place]);
          labels.places.back().push_back(place);
        }
    }
  }
  return labels;
}

/// The rows come first, and of tags the places behind them, as in the input of the labels: what a model computes may have its
/// axes in another order.
Status checkAxes(const Measure &measure, const std::string &label, const runtime::Context &evaluation,
                 const runtime::TensorInfo &output) {
  const std::vector<std::string> &wanted =
      evaluation.entry().inputs[static_cast<size_t>(evaluation.entry().inputIndex(label))].axes;
  const size_t count = isOfSpans(measure) ? 2 : 1;
  if (output.axes.size() >= count && wanted.size() >= count &&
      std::equal(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(count), output.axes.begin()))
    return {};
  std::string axes;
  for (const std::string &axis : output.axes)
    axes += concat(axes.empty() ? "" : ", ", axis);
  return inputError("--measure ", measure.name, " takes an output whose axes begin with ", wanted[0],
                    isOfSpans(measure) ? concat(", ", wanted[1]) : "", ", as those of the input '", label, "', and '",
                    measure.output, "' has [", axes, "]; declare it so (let ", measure.output, ": [", wanted[0], ", ..] = ..)");
}

Status addCorrelation(const Measure &measure, const Labels &labels, const AllRows &found, train::Evaluation &result) {
  if (found.width != 1)
    return inputError("--measure ", measure.name, " takes one number for each row, and the output '", measure.output, "' has ",
                      found.width, "; give the model an output that is the score, and name it by --measure ", measure.name,
                      "=OUTPUT");
  const double value =
      measure.name == kSpearman ? data::spearman(found.values, labels.scores) : data::pearson(found.values, labels.scores);
  result.numbers.push_back({measure.name, value, true});
  return {};
}

/// The class of each row: the output itself, or its highest score, of equal ones the first.
Status addClasses(const Measure &measure, const std::string &label, const runtime::Context &evaluation, const Labels &labels,
                  const AllRows &found, train::Evaluation &result) {
  const auto input = static_cast<size_t>(evaluation.entry().inputIndex(label));
  const auto classes = static_cast<size_t>(evaluation.entry().inputs[input].bound->evaluate(evaluation.dims()).value_or(-1));
  if (found.width != (runtime::isReal(found.type) ? classes : 1))
    return inputError("--measure ", measure.name, " takes scores of the ", classes, " classes of the input '", label,
                      "', or whole numbers that are classes, for each row, and the output '", measure.output, "' has ",
                      found.width, " numbers; name another by --measure ", measure.name, "=OUTPUT, or one task by --task");
  if (measure.name == kF1 && classes != 2)
    return inputError("--measure f1 is that of class 1 among two, and the input '", label, "' has ", classes,
                      "; matthews takes any number");
  data::ClassCounts counts;
  for (size_t row = 0; row < labels.scores.size(); ++row) {
    const double *values = found.values.data() + row * found.width;
    counts.add(static_cast<size_t>(labels.scores[row]),
               static_cast<size_t>(found.width == 1 ? values[0]
                                                    : static_cast<double>(std::max_element(values, values + classes) - values)));
  }
  result.numbers.push_back({measure.name, measure.name == kF1 ? counts.f1() : counts.matthews(), true});
  return {};
}

/// The tags of the words of a row: the output itself, or its highest score for each word, of equal ones the first.
std::vector<int32_t> foundTags(const AllRows &found, const std::vector<size_t> &places, size_t row) {
  const size_t classes = found.shape.size() == 3 ? static_cast<size_t>(found.shape[2]) : 1;
  std::vector<int32_t> tags;
  for (size_t place : places) {
    const auto first = found.values.begin() + static_cast<std::ptrdiff_t>(row * found.width + place * classes);
    tags.push_back(static_cast<int32_t>(
        classes == 1 ? *first
                     : static_cast<double>(std::max_element(first, first + static_cast<std::ptrdiff_t>(classes)) - first)));
  }
  return tags;
}

Status addSpans(const Measure &measure, const runtime::Context &evaluation, data::SpanCounts &counts, const Labels &labels,
                const AllRows &found, train::Evaluation &result) {
  const auto input = static_cast<size_t>(evaluation.entry().inputIndex("tag"));
  const std::vector<int64_t> &shape = evaluation.inputs()[input].shape;
  const bool isScores = runtime::isReal(found.type);
  std::vector<int64_t> wanted(shape);
  if (isScores)
    wanted.push_back(evaluation.entry().inputs[input].bound->evaluate(evaluation.dims()).value_or(-1));
  if (found.shape != wanted)
    return inputError(
        "--measure span_f1 takes scores of all tags for each place, or whole numbers that are tags, and the output '",
        measure.output, "' has neither; name one that does by --measure span_f1=OUTPUT");
  for (size_t row = 0; row < labels.tags.size(); ++row)
    counts.add(labels.tags[row], foundTags(found, labels.places[row], row));
  const data::SpanCounts::Measures measures = counts.measures();
  result.numbers.push_back({"span_precision", measures.precision, true});
  result.numbers.push_back({"span_recall", measures.recall, true});
  result.numbers.push_back({kSpanF1, measures.f1, true});
  return {};
}

/// The names of tags, as spans need them.
Status readTags(const data::DataTask &task, data::SpanCounts &counts) {
  const auto names = task.vocabulary().classes.find("tag");
  if (names == task.vocabulary().classes.end())
    return inputError("--measure span_f1: spans are marked by labels B-X, I-X and O, and the labels of the data are numbers");
  return data::SpanCounts::make(names->second, counts).in("--measure span_f1");
}

} // namespace

void addMeasureOption(CLI::App &command, std::vector<std::string> &texts) {
  command
      .add_option("--measure", texts,
                  "what is no mean over rows, of an output (default: logits): span_f1 of tags B-X, I-X, O; matthews and f1 of "
                  "classes; spearman and pearson of it and the input score")
      ->type_name("NAME[=OUTPUT]");
}

Expected<std::vector<Measure>> readMeasures(const std::vector<std::string> &texts) {
  std::vector<Measure> measures;
  for (const std::string &text : texts) {
    Measure measure;
    const size_t sign = text.find('=');
    measure.name = text.substr(0, sign);
    if (sign != std::string::npos)
      measure.output = text.substr(sign + 1);
    if (!isOfSpans(measure) && !isOfClasses(measure) && measure.name != kSpearman && measure.name != kPearson)
      return usageError("--measure takes span_f1, matthews, f1, spearman or pearson, and '", measure.name, "' is none of these");
    for (const Measure &other : measures)
      if (other.name == measure.name)
        return usageError("--measure ", measure.name, " is given twice");
    measures.push_back(std::move(measure));
  }
  return measures;
}

Status checkMeasures(const std::vector<Measure> &measures, const train::Recipe &recipe, const runtime::Manifest &manifest) {
  const std::vector<train::TaskRecipe> tasks = recipe.allTasks();
  for (const Measure &measure : measures) {
    if (std::none_of(tasks.begin(), tasks.end(), [&](const auto &task) { return hasLabels(measure, task, manifest); }))
      return usageError("--measure ", measure.name,
                        isOfSpans(measure) ? " is for recipes with the data task tags, whose input 'tag' a loss or metric reads"
                        : isOfClasses(measure)
                            ? " compares an output with classes of rows, the input 'label' or that of the data, which no loss or "
                              "metric reads"
                            : " compares an output with the input 'score', which no loss or metric reads");
    if (!entryOfOutput(measure.output, manifest))
      return usageError("--measure ", measure.name, " compares the output '", measure.output,
                        "', which no entry has; name one by --measure ", measure.name,
                        "=OUTPUT (there are: ", outputNames(manifest), ")");
  }
  return {};
}

Status checkNumbers(const std::vector<train::TaskEvaluation> &results) {
  for (const train::TaskEvaluation &each : results) {
    if (const std::string text = each.evaluation.perBatchNote(); !text.empty())
      note("note: " + text);
    for (const train::Evaluation::Number &number : each.evaluation.numbers)
      if (!std::isfinite(number.value))
        return Status(runtime::ErrorKind::Numeric,
                      concat("the ", number.metric ? "metric " : "loss ", number.name, " is not finite"));
  }
  return {};
}

Status addMeasures(const std::vector<Measure> &measures, const train::TaskRecipe &recipe, data::DataTask &task,
                   const runtime::Context &evaluation, const std::shared_ptr<runtime::ThreadPool> &pool,
                   train::Evaluation &result) {
  for (const Measure &measure : measures) {
    if (!hasLabels(measure, recipe, evaluation.parameters()->manifest()))
      continue;
    data::SpanCounts counts;
    if (Status status = isOfSpans(measure) ? readTags(task, counts) : Status(); status.failed())
      return status;
    const std::string label = labelOf(measure, recipe);
    auto labels = readLabels(measure, label, task, evaluation);
    if (labels.failed())
      return labels.status();
    const EntryInfo &entry = *entryOfOutput(measure.output, evaluation.parameters()->manifest());
    const auto &output = entry.outputs[static_cast<size_t>(entry.outputIndex(measure.output))];
    if (Status status = checkAxes(measure, label, evaluation, output); status.failed())
      return status;
    auto found = outputOfAllRows(measure.output, recipe, task, evaluation, pool);
    if (found.failed())
      return found.status();
    Status status = isOfSpans(measure)     ? addSpans(measure, evaluation, counts, *labels, *found, result)
                    : isOfClasses(measure) ? addClasses(measure, label, evaluation, *labels, *found, result)
                                           : addCorrelation(measure, *labels, *found, result);
    if (status.failed())
      return status;
  }
  return {};
}

} // namespace tenon::driver
