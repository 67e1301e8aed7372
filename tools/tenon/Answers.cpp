#include "tools/tenon/Answers.h"
#include "runtime/base/Convert.h"
#include <algorithm>

namespace tenon::driver {

namespace {

constexpr const char *kOutputs[] = {"first", "last"}, *kNone = "none";

/// The number of an output, or -1.
int outputOf(const runtime::EntryInfo &entry, const std::string &name) {
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].name == name)
      return static_cast<int>(i);
  return -1;
}

/// The sizes of the axes of an entry's inputs: a recipe binds those of its own entries alone.
std::map<std::string, int64_t> sizesOf(const runtime::Context &context) {
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < context.inputs().size(); ++i)
    for (size_t axis = 0; axis < context.inputs()[i].shape.size(); ++axis)
      sizes[context.entry().inputs[i].axes[axis]] = context.inputs()[i].shape[axis];
  return sizes;
}

/// The scores of all places of the batch of the last run.
Status readScores(const runtime::Context &context, int output, std::vector<double> &scores) {
  auto place = context.output(output);
  if (place.failed())
    return place.status();
  const runtime::BoundTensor &bound = context.outputs()[static_cast<size_t>(output)];
  for (size_t i = 0; i < scores.size(); ++i)
    scores[i] = runtime::numberAt(bound.type, *place, i);
  return {};
}

} // namespace

Expected<std::optional<Answers>> findAnswers(data::DataTask &task, const runtime::Context &evaluation,
                                             const std::shared_ptr<runtime::Parameters> &parameters,
                                             const std::shared_ptr<runtime::ThreadPool> &pool, std::optional<int64_t> id,
                                             double threshold) {
  const std::vector<runtime::EntryInfo> &entries = parameters->manifest().entries;
  const auto entry = std::find_if(entries.begin(), entries.end(), [](const runtime::EntryInfo &each) {
    return each.kind == runtime::EntryInfo::Kind::Out && outputOf(each, kOutputs[0]) >= 0 && outputOf(each, kOutputs[1]) >= 0;
  });
  if (entry == entries.end())
    return std::optional<Answers>();
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<train::Feeder> feeder;
  Status status = data::checkAnswersCanBeCompared();
  if (status.ok())
    status = train::makeContext(parameters, entry->name, sizesOf(evaluation), pool, context);
  if (status.ok())
    status = train::Feeder::create(*context, task, feeder, id);
  const std::vector<int64_t> shape =
      status.ok() ? context->outputs()[static_cast<size_t>(outputOf(*entry, kOutputs[0]))].shape : std::vector<int64_t>();
  for (const char *name : kOutputs)
    if (status.ok()) {
      const runtime::BoundTensor &output = context->outputs()[static_cast<size_t>(outputOf(*entry, name))];
      if (output.shape != shape || shape.size() != 2 || shape[1] != task.spans()->places() || !isReal(output.type))
        status = inputError("the output '", name, "' of the entry ", entry->name,
                            " must be a real number for each place of each row, for answers to be found");
    }
  const int none = outputOf(*entry, kNone);
  if (status.ok() && none >= 0) {
    const runtime::BoundTensor &output = context->outputs()[static_cast<size_t>(none)];
    if (output.shape != std::vector<int64_t>{shape[0]} || !isReal(output.type))
      status = inputError("the output '", kNone, "' of the entry ", entry->name,
                          " must be a real number for each row: that there is no answer");
  }
  if (status.failed())
    return status;
  data::AnswerSearch search(*task.spans());
  const auto rows = static_cast<size_t>(shape[0]), places = static_cast<size_t>(shape[1]);
  std::vector<double> scores[2] = {std::vector<double>(rows * places), std::vector<double>(rows * places)}, judged(rows);
  for (uint64_t batch = 0; batch < task.evaluationBatches(); ++batch) {
    status = feeder->fillEvaluation(batch);
    if (status.ok())
      status = context->run();
    for (size_t i = 0; i < 2 && status.ok(); ++i)
      status = readScores(*context, outputOf(*entry, kOutputs[i]), scores[i]);
    if (status.ok() && none >= 0)
      status = readScores(*context, none, judged);
    if (status.failed())
      return status;
    auto row = [&](const std::vector<double> &all, size_t b) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(b * places);
      return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(places));
    };
    for (size_t b = 0; b < static_cast<size_t>(task.validRows(batch)); ++b)
      search.add(static_cast<size_t>(batch) * rows + b, row(scores[0], b), row(scores[1], b),
                 none >= 0 ? std::optional<double>(judged[b]) : std::nullopt);
  }
  return std::optional<Answers>(Answers{search.result(threshold), search.predictions(threshold)});
}

} // namespace tenon::driver
