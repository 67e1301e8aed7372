#include "tools/tenon/Predictions.h"
#include "runtime/base/Json.h"
#include "tools/tenon/AllRows.h"
#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::driver {

namespace {

constexpr const char *kTags = "tags";
bool isOfQuestions(const train::TaskRecipe &task) { return task.valid && task.valid->name == "squad"; }
bool hasRows(const train::TaskRecipe &task) {
  static const char *const names[] = {"single", "pairs", kTags, "groups", "images", "arrays", "jsonl"};
  return task.valid && std::find(std::begin(names), std::end(names), task.valid->name) != std::end(names);
}

/// The axes of the rows of an evaluation, and of tags those of the places in them, as the first of its inputs that has them: what
/// a model computes may have its axes in another order.
std::vector<std::string> axesOfRows(const data::DataTask &task, const runtime::Context &evaluation, bool areTags) {
  for (const runtime::TensorInfo &input : evaluation.entry().inputs)
    if (!task.isFixed(input.name) && input.axes.size() >= (areTags ? 2 : 1))
      return {input.axes.begin(), input.axes.begin() + (areTags ? 2 : 1)};
  return {};
}

/// The lines of the rows of one output.
class Rows {
public:
  Rows(const std::string &output, const AllRows &found, const std::vector<std::string> &names)
      : output(output), found(found), names(names) {}

  std::string said(size_t row) const {
    const double *values = found.values.data() + row * found.width;
    if (!runtime::isReal(found.type))
      return concat("\"label\": ", labelOf(static_cast<size_t>(values[0])));
    if (found.width == 1)
      return concat("\"score\": ", numberOf(values[0]));
    std::string scores;
    for (size_t i = 0; i < found.width; ++i)
      scores += concat(i ? ", " : "", names.empty() ? "" : keyOf(i) + ": ", numberOf(values[i]));
    return concat("\"label\": ", labelOf(bestOf(values, found.width)), ", \"scores\": ", names.empty() ? "[" : "{", scores,
                  names.empty() ? "]" : "}");
  }

  /// `places`: those of the words.
  std::string saidOfTags(size_t row, const std::vector<size_t> &places) const {
    const bool isReal = runtime::isReal(found.type);
    const size_t classes = isReal ? static_cast<size_t>(found.shape[2]) : 1;
    std::string tags;
    for (size_t place : places) {
      const double *values = found.values.data() + row * found.width + place * classes;
      tags += concat(tags.empty() ? "" : ", ", labelOf(isReal ? bestOf(values, classes) : static_cast<size_t>(values[0])));
    }
    return concat("\"tags\": [", tags, "]");
  }

  /// `axes`: of the rows, and of tags of their places.
  Status check(const std::vector<std::string> &axes) const {
    const bool areTags = axes.size() == 2, isReal = runtime::isReal(found.type);
    const size_t rank = axes.size() + (isReal ? 1 : 0);
    const bool areFirst = found.axes.size() >= axes.size() && std::equal(axes.begin(), axes.end(), found.axes.begin());
    if (areFirst && (found.shape.size() == rank || (!areTags && isReal && found.width == 1)))
      return {};
    std::string own, wanted;
    for (const std::string &axis : found.axes)
      own += concat(own.empty() ? "" : ", ", axis);
    for (const std::string &axis : axes)
      wanted += axis + ", ";
    return inputError("--predictions takes scores of classes, or whole numbers that are classes, for each ",
                      areTags ? "place of each row" : "row", areTags ? "" : ", or a number", ", [", wanted,
                      "..], and the output '", output, "' has the axes [", own, "]; name another by --predicted OUTPUT");
  }

private:
  /// Of equal ones the first, as argmax has it.
  static size_t bestOf(const double *values, size_t count) {
    return static_cast<size_t>(std::max_element(values, values + count) - values);
  }
  static std::string numberOf(double value) {
    char text[40];
    snprintf(text, sizeof text, std::isfinite(value) ? "%.9g" : "null", value);
    return text;
  }
  std::string keyOf(size_t number) const {
    return runtime::quoteJson(number < names.size() ? names[number] : std::to_string(number));
  }
  std::string labelOf(size_t number) const { return names.empty() ? std::to_string(number) : keyOf(number); }

  const std::string &output;
  const AllRows &found;
  const std::vector<std::string> &names;
};

/// Per row the places of the words that have tags.
Expected<std::vector<std::vector<size_t>>> placesOfWords(data::DataTask &task, int64_t rows, int64_t places) {
  OwnTensor weight("weight", runtime::DataType::F64, {rows, places}, -1);
  std::vector<data::InputTensor> tensors = {weight.tensor};
  if (Status status = task.bind(tensors); status.failed())
    return status;
  std::vector<std::vector<size_t>> all;
  for (uint64_t batch = 0; batch < task.evaluationBatches(); ++batch) {
    if (Status status = task.fillEvaluation(batch, tensors); status.failed())
      return status;
    for (int64_t row = 0; row < countedRows(task, batch, rows); ++row) {
      all.emplace_back();
      for (int64_t place = 0; place < places; ++place)
        if (weight.room[static_cast<size_t>(row * places + place)] != 0)
          all.back().push_back(static_cast<size_t>(place));
    }
  }
  return all;
}

/// The names of the classes, where the data have any: of tags, else of the only input with classes.
std::vector<std::string> namesOf(const data::DataTask &task, bool areTags) {
  const auto &classes = task.vocabulary().classes;
  const auto found = areTags ? classes.find("tag") : classes.size() == 1 ? classes.begin() : classes.find("label");
  return found == classes.end() ? std::vector<std::string>() : found->second;
}

/// Of the outputs that have scores, or a number, for each row or place: logits, else classes or tags, else the only one; or
/// nothing.
std::string chosenOutput(bool areTags, const runtime::Manifest &manifest) {
  std::vector<std::string> fitting;
  for (const runtime::EntryInfo &entry : manifest.entries)
    for (const runtime::TensorInfo &output : entry.outputs)
      if (entryOfOutput(output.name, manifest) == &entry)
        if (const size_t rank = output.shape.size(); areTags ? rank == 3 : rank == 1 || rank == 2)
          fitting.push_back(output.name);
  for (const char *name : {"logits", "classes", "tags"})
    if (std::find(fitting.begin(), fitting.end(), name) != fitting.end())
      return name;
  return fitting.size() == 1 ? fitting[0] : std::string();
}

} // namespace

void addPredictionOptions(CLI::App &command, PredictionOptions &options) {
  command
      .add_option("--predictions", options.path,
                  "what the model says of each row: of rows with labels (single, pairs, tags, groups, images, arrays, jsonl) a "
                  "JSON object a line, of questions (squad) one of the answers by their ids")
      ->type_name("FILE");
  command
      .add_option("--predicted", options.output,
                  "the output that they are made of (default: logits, else classes or tags, else the only one)")
      ->type_name("OUTPUT")
      ->needs("--predictions");
  command
      .add_option("--no-answer-above", options.noneAbove,
                  "of questions (squad) some of which have no answer: by how much the score of there being none must exceed that "
                  "of the best answer (default: 0)")
      ->type_name("X");
}

Status checkPredictions(PredictionOptions &options, bool isPart, const train::Recipe &recipe, const runtime::Manifest &manifest) {
  if (options.noneAbove && !std::isfinite(*options.noneAbove))
    return usageError("--no-answer-above takes a finite number");
  if (options.path.empty() && !options.noneAbove)
    return {};
  const std::vector<train::TaskRecipe> tasks = recipe.allTasks();
  const bool asks = std::any_of(tasks.begin(), tasks.end(), isOfQuestions);
  if (options.noneAbove && (!asks || isPart))
    return usageError("--no-answer-above is for recipes with the data task squad, without --batches");
  if (isPart)
    return usageError("--predictions is of all rows; leave out --batches");
  if (asks)
    return options.output.empty() ? Status() : usageError("--predicted: answers are made of the outputs `first` and `last`");
  if (tasks.size() > 1)
    return usageError("--predictions is of one task, and this recipe has ", tasks.size(), "; pass --task NAME");
  if (!hasRows(tasks[0]))
    return usageError("--predictions is for rows with labels and for questions (squad), and not for the data task ",
                      tasks[0].data.name);
  if (options.output.empty())
    options.output = chosenOutput(tasks[0].valid->name == kTags, manifest);
  const std::string names = outputNames(manifest);
  if (options.output.empty() || !entryOfOutput(options.output, manifest))
    return usageError("--predictions: ",
                      options.output.empty() ? std::string("name the output")
                                             : concat("no entry has the output '", options.output, "'"),
                      "; --predicted OUTPUT names one (there are: ", names, ")");
  return {};
}

bool areOfRows(const PredictionOptions &options, const train::TaskRecipe &recipe) {
  return !options.path.empty() && !isOfQuestions(recipe);
}

Expected<std::string> predictRows(const PredictionOptions &options, const train::TaskRecipe &recipe, data::DataTask &task,
                                  const runtime::Context &evaluation, const std::shared_ptr<runtime::ThreadPool> &pool) {
  const bool areTags = recipe.valid->name == kTags;
  const std::vector<std::string> axes = axesOfRows(task, evaluation, areTags);
  auto found = outputOfAllRows(options.output, recipe, task, evaluation, pool);
  if (found.failed())
    return found.status();
  const std::vector<std::string> names = namesOf(task, areTags);
  const Rows rows(options.output, *found, names);
  if (Status status = rows.check(axes); status.failed())
    return status;
  auto places = areTags ? placesOfWords(task, found->shape[0], found->shape[1]) : std::vector<std::vector<size_t>>();
  if (places.failed())
    return places.status();
  std::map<uint64_t, std::string> lines; // by the number of the row
  for (size_t row = 0; row < found->values.size() / std::max<size_t>(found->width, 1); ++row)
    lines[task.evaluationRow(row)] = areTags ? rows.saidOfTags(row, (*places)[row]) : rows.said(row);
  std::string text;
  for (const auto &[row, said] : lines)
    text += concat("{\"row\": ", row + 1, ", ", said, "}\n");
  return text;
}

} // namespace tenon::driver
