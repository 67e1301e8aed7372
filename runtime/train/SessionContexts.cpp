// The contexts of a session: of a training, of an evaluation, and of batches of several sizes.
#include "runtime/context/Context.h"
#include "runtime/data/VocabularyNote.h"
#include "runtime/train/BatchSizes.h"
#include "runtime/train/Session.h"
#include <algorithm>

namespace tenon::train {

using runtime::EntryInfo;

Status makeContext(const std::shared_ptr<runtime::Parameters> &parameters, const std::string &entry,
                   const std::map<std::string, int64_t> &bind, const std::shared_ptr<runtime::ThreadPool> &pool,
                   std::unique_ptr<runtime::Context> &result) {
  const EntryInfo *info = parameters->manifest().findEntry(entry);
  if (!info)
    return inputError("the artifact has no entry '", entry, "'");
  std::vector<int64_t> dims;
  std::string missing;
  for (const runtime::DimInfo &dim : info->dims) {
    auto found = bind.find(dim.name);
    if (found == bind.end())
      missing += (missing.empty() ? "" : ", ") + dim.name;
    else
      dims.push_back(found->second);
  }
  if (!missing.empty())
    return runtime::usageError("the entry ", entry, " leaves ", missing, " open; pass --bind, such as --bind ",
                               missing.substr(0, missing.find(',')), "=8, or bind it in the recipe: bind ",
                               missing.substr(0, missing.find(',')), " = 8");
  auto context = runtime::Context::create(parameters, entry, std::span<const int64_t>(dims), pool);
  if (!context.ok())
    return context.status();
  result = context.take();
  return {};
}

/// The sizes of a context: those of the longest batches where the task chooses them.
static std::map<std::string, int64_t> boundFor(const data::DataTask &task, const std::string &name, const EntryInfo *entry,
                                               const std::map<std::string, int64_t> &bind) {
  const std::vector<data::BatchSize> sizes = task.sizes();
  auto dims = sizes.empty() || !entry ? Expected<BatchDims>(BatchDims()) : batchDims(*entry, name);
  return sizes.empty() || !dims.ok() ? bind : dims->with(bind, sizes.back());
}

Status makeEvaluation(const TaskRecipe &recipe, const data::Vocabulary *vocabulary,
                      const std::shared_ptr<runtime::Parameters> &parameters, const std::map<std::string, int64_t> &bind,
                      const std::shared_ptr<runtime::ThreadPool> &pool, std::unique_ptr<data::DataTask> &task,
                      std::unique_ptr<runtime::Context> &context, std::unique_ptr<Feeder> &feeder) {
  const EntryInfo *entry = parameters->manifest().findEntry(evalEntryOf(recipe));
  data::TaskSettings data = *recipe.valid;
  if (Status status = entry ? setLengths(*entry, bind, recipe.sizes, data) : Status(); status.failed())
    return status;
  if (auto note = parameters->notes.find(runtime::kVocabularyNote); !vocabulary && note != parameters->notes.end()) {
    auto said = data::VocabularyNote::parse(note->second);
    if (!said.ok())
      return said.status();
    data.classes = said->classes;
  }
  // Files that a person has named say in their own messages which they are.
  const std::string what =
      hasSetting(data.name, "text") ? "held-out text" : runtime::concat("data for evaluation (", data.name, ")");
  if (Status status = data::makeTask(data, data::Part::HeldOut, vocabulary, task); status.failed())
    return status.in(what);
  if (Status status = makeContext(parameters, evalEntryOf(recipe), boundFor(*task, data.name, entry, bind), pool, context);
      status.failed())
    return status;
  return Feeder::create(*context, *task, feeder, recipe.id).in(what);
}

std::string evalEntryOf(const TaskRecipe &recipe) { return recipe.name.empty() ? "eval" : "eval_" + recipe.name; }

std::vector<const EntryInfo *> evaluationsOf(const std::vector<TaskRecipe> &tasks, const runtime::Manifest &manifest) {
  std::vector<const EntryInfo *> evaluations;
  for (const TaskRecipe &task : tasks)
    if (const EntryInfo *eval = manifest.findEntry(evalEntryOf(task)); eval && task.valid)
      evaluations.push_back(eval);
  return evaluations;
}

namespace {

/// Rows of numbers have no symbols that could differ from those of a text beside them.
data::Vocabulary vocabularyOf(const TaskRecipe &task, const data::DataTask &data, const Recipe &recipe) {
  auto hasSymbols = [](const TaskRecipe &each) { return hasSetting(each.data.name, "vocab"); };
  const std::vector<TaskRecipe> all = recipe.allTasks();
  if (hasSymbols(task) || std::none_of(all.begin(), all.end(), hasSymbols))
    return data.vocabulary();
  data::Vocabulary classes;
  classes.classes = data.vocabulary().classes;
  classes.numbered = data.vocabulary().numbered;
  return classes;
}

} // namespace

Status Session::makeContexts(const TaskRecipe &task, const std::string &entry, SessionTask &result) {
  const EntryInfo *info = parameters->manifest().findEntry(entry);
  Status status =
      makeContext(parameters, entry, boundFor(*result.trainTask, task.data.name, info, settings.bind), pool, result.train);
  if (status.ok())
    status = Feeder::create(*result.train, *result.trainTask, result.trainFeeder, task.id);
  if (status.ok())
    status = addShorter(task, result);
  if (status.ok()) // its classes are known by now
    status = addVocabulary(vocabularyOf(task, *result.trainTask, recipe), vocabulary, &result == this);
  if (status.ok())
    for (const std::string &note : result.trainTask->notes())
      notes.push_back(note);
  if (status.ok() && task.valid && parameters->manifest().findEntry(evalEntryOf(task)))
    status = makeEvaluation(task, &vocabulary, averages ? averages->parameters() : parameters, settings.bind, pool,
                            result.validTask, result.valid, result.validFeeder);
  return status;
}

/// Contexts for all but the longest batches, in the workspace of the first one.
Status Session::addShorter(const TaskRecipe &task, SessionTask &result) {
  const std::vector<data::BatchSize> sizes = result.trainTask->sizes();
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    auto dims = batchDims(result.train->entry(), task.data.name);
    if (!dims.ok())
      return dims.status();
    const std::map<std::string, int64_t> bound = dims->with(settings.bind, sizes[i]);
    std::vector<int64_t> values;
    for (const runtime::DimInfo &dim : result.train->entry().dims)
      values.push_back(bound.at(dim.name)); // as the first one has all of them
    auto shorter = result.train->withSizes(values);
    if (!shorter.ok())
      return shorter.status();
    if (Status status = result.trainFeeder->add(shorter.take()); status.failed())
      return status;
  }
  return {};
}

} // namespace tenon::train
