#include "tools/tenon/Answers.h"
#include "tools/tenon/Call.h"
#include <algorithm>
#include <cmath>

namespace tenon::driver {

namespace {

/// The outputs of an entry that says where answers may stand, and their values for the batch of its last run. Either `first` and
/// `last` are scores of all places, [B, T], or they are the best places, whole numbers [B, N] and [B, N, M], whose scores are
/// `first_score` and `last_score`. `none` [B]: that there is no answer. Axes are those of the input `ids` [B, T] by their names,
/// too: with as many rows as places another order of them would fit.
class AnswerOutputs {
public:
  static bool has(const runtime::EntryInfo &entry) { return find(entry, "first") >= 0 && find(entry, "last") >= 0; }
  explicit AnswerOutputs(const runtime::Context &context) : context(context) {}

  /// `mustJudge`: some questions have no answer.
  Status check(int64_t places, bool mustJudge) {
    T = places;
    const std::vector<int64_t> shape = shapeOf("first");
    listed = !isReal(typeOf("first"));
    const std::vector<runtime::TensorInfo> &outputs = context.entry().outputs;
    const Axes text = axesOf(context.entry().inputs, "ids"), own = axesOf(outputs, "first");
    const Axes rows = text.empty() ? Axes() : Axes{text.front()};
    Status status;
    if (!listed)
      status = checkOutput("first", "a real number for each place of each row", shape.size() == 2 && shape[1] == T, text);
    else
      status = checkOutput("first", "whole numbers for each row", shape.size() == 2 && typeOf("first") == runtime::DataType::I32,
                           rows, own.size() == 2 ? own.back() : "");
    if (status.failed())
      return status;
    B = shape[0];
    N = shape[1];
    if (!listed) {
      status = checkOutput("last", "a real number for each place of each row", shapeOf("last") == shape && isReal(typeOf("last")),
                           text);
    } else {
      const std::vector<int64_t> last = shapeOf("last");
      M = last.empty() ? 0 : last.back();
      const Axes all = axesOf(outputs, "last");
      status = checkOutput("last", "whole numbers for each place of `first`",
                           last == std::vector<int64_t>{B, N, M} && typeOf("last") == runtime::DataType::I32, own,
                           all.size() == 3 ? all.back() : "");
      for (const char *name : {"first", "last"})
        if (const std::string score = std::string(name) + "_score"; status.ok())
          status = checkOutput(score, concat("a real number for each place of `", name, "`"),
                               shapeOf(score) == shapeOf(name) && isReal(typeOf(score)), axesOf(outputs, name));
    }
    judges = find(context.entry(), "none") >= 0;
    if (status.ok() && (judges || (listed && mustJudge)))
      status = checkOutput("none", "a real number for each row: that there is no answer",
                           shapeOf("none") == std::vector<int64_t>{B} && isReal(typeOf("none")), rows);
    return status;
  }

  Status read() {
    for (const char *name : {"first", "last", "first_score", "last_score", "none"})
      if (const int output = find(context.entry(), name); output >= 0)
        if (Status status = read(output, values[name]); status.failed())
          return status;
    if (listed)
      for (const char *name : {"first", "last"})
        for (double place : values[name])
          if (place < 0 || place >= static_cast<double>(T))
            return inputError("the output '", name, "' of the entry ", context.entry().name, " has the place ",
                              static_cast<int64_t>(place), ", and a row has those from 0 to ", T - 1);
    return {};
  }

  void add(data::AnswerSearch &search, size_t window, int64_t row) {
    const double none = judges ? values["none"][static_cast<size_t>(row)] : -HUGE_VAL;
    if (!listed) {
      search.add(window, part("first", row, T), part("last", row, T), judges ? std::optional<double>(none) : std::nullopt);
      return;
    }
    data::AnswerPlaces places;
    for (int64_t i = row * N; i < (row + 1) * N; ++i) {
      places.first.push_back(placeOf("first", "first_score", i));
      std::vector<data::AnswerPlaces::Place> &last = places.last.emplace_back();
      for (int64_t j = i * M; j < (i + 1) * M; ++j)
        last.push_back(placeOf("last", "last_score", j));
    }
    search.add(window, places, none);
  }

  int64_t rows() const { return B; }

private:
  using Axes = std::vector<std::string>;
  /// Of a tensor, by name; empty where there is none, or `ids` is no text of two axes.
  static Axes axesOf(const std::vector<runtime::TensorInfo> &all, const std::string &name) {
    for (const runtime::TensorInfo &each : all)
      if (each.name == name)
        return name == "ids" && each.axes.size() != 2 ? Axes() : each.axes;
    return {};
  }
  static std::string listOf(const Axes &axes) {
    std::string list;
    for (const std::string &axis : axes)
      list += (list.empty() ? "" : ", ") + axis;
    return list;
  }
  /// The number of an output, or -1.
  static int find(const runtime::EntryInfo &entry, const std::string &name) {
    for (size_t i = 0; i < entry.outputs.size(); ++i)
      if (entry.outputs[i].name == name)
        return static_cast<int>(i);
    return -1;
  }
  const runtime::BoundTensor *tensor(const std::string &name) const {
    const int output = find(context.entry(), name);
    return output < 0 ? nullptr : &context.outputs()[static_cast<size_t>(output)];
  }
  std::vector<int64_t> shapeOf(const std::string &name) const {
    return tensor(name) ? tensor(name)->shape : std::vector<int64_t>();
  }
  runtime::DataType typeOf(const std::string &name) const { return tensor(name) ? tensor(name)->type : runtime::DataType::Bool; }

  /// `axes`: those it has to have by name, `last` behind them; empty: not known.
  Status checkOutput(const std::string &name, const std::string &what, bool fits, Axes axes, const std::string &last = "") const {
    const Axes has = axesOf(context.entry().outputs, name);
    const bool areKnown = !axes.empty();
    if (!last.empty())
      axes.push_back(last);
    if (fits && (!areKnown || axes == has))
      return {};
    return inputError("the output '", name, "' of the entry ", context.entry().name, " must be ", what,
                      ", for answers to be found",
                      !tensor(name) ? "; there is none"
                      : fits        ? concat("; its axes are [", listOf(has), "], and have to be [", listOf(axes), "]")
                                    : "");
  }

  Status read(int output, std::vector<double> &all) {
    auto numbers = outputNumbers(context, output);
    if (numbers.failed())
      return numbers.status();
    all = numbers.take();
    return {};
  }

  std::vector<double> part(const char *name, int64_t row, int64_t width) {
    const auto begin = values[name].begin() + row * width;
    return {begin, begin + width};
  }
  data::AnswerPlaces::Place placeOf(const char *name, const char *score, int64_t at) {
    return {static_cast<int64_t>(values[name][static_cast<size_t>(at)]), values[score][static_cast<size_t>(at)]};
  }

  const runtime::Context &context;
  bool listed = false, judges = false;
  int64_t B = 0, T = 0, N = 0, M = 0;
  std::map<std::string, std::vector<double>> values;
};

} // namespace

Expected<std::optional<Answers>> findAnswers(data::DataTask &task, const runtime::Context &evaluation,
                                             const std::shared_ptr<runtime::Parameters> &parameters,
                                             const std::shared_ptr<runtime::ThreadPool> &pool, std::optional<int64_t> id,
                                             double threshold) {
  const std::vector<runtime::EntryInfo> &entries = parameters->manifest().entries;
  const auto entry = std::find_if(entries.begin(), entries.end(), [](const runtime::EntryInfo &each) {
    return each.kind == runtime::EntryInfo::Kind::Out && AnswerOutputs::has(each);
  });
  if (entry == entries.end())
    return std::optional<Answers>();
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<train::Feeder> feeder;
  Status status = train::makeContext(parameters, entry->name, inputSizes(evaluation), pool, context);
  if (status.ok())
    status = train::Feeder::create(*context, task, feeder, id);
  if (status.failed())
    return status;
  data::AnswerSearch search(*task.spans());
  AnswerOutputs outputs(*context);
  status = outputs.check(task.spans()->places(), search.hasQuestionsWithout());
  for (uint64_t batch = 0; batch < task.evaluationBatches() && status.ok(); ++batch) {
    status = feeder->fillEvaluation(batch);
    if (status.ok())
      status = context->run();
    if (status.ok())
      status = outputs.read();
    for (int64_t row = 0; row < task.validRows(batch) && status.ok(); ++row)
      outputs.add(search, static_cast<size_t>(batch) * static_cast<size_t>(outputs.rows()) + static_cast<size_t>(row), row);
  }
  if (status.failed())
    return status;
  return std::optional<Answers>(Answers{search.result(threshold), search.predictions(threshold)});
}

} // namespace tenon::driver
