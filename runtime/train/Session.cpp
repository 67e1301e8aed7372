#include "runtime/train/Session.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Formula.h"
#include "runtime/base/File.h"
#include "runtime/context/Context.h"
#include "runtime/train/BatchSizes.h"
#include "runtime/train/Evaluate.h"
#include "runtime/train/WeightsNote.h"
#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tenon::train {

using runtime::concat;
using runtime::EntryInfo;

Status addVocabulary(const data::Vocabulary &ofTask, data::Vocabulary &all, bool isFirst) {
  data::Vocabulary symbols = ofTask, known = all;
  symbols.classes.clear();
  known.classes.clear();
  if (isFirst || known.size() == 0) {
    symbols.classes = all.classes;
    symbols.numbered = all.numbered;
  } else if (symbols.size() > 0 && symbols.save() != known.save())
    return inputError("it has other symbols than the tasks before it: tasks share the parameters; give all of them one "
                      "vocabulary file (vocab = ..)");
  if (isFirst || known.size() == 0)
    all = symbols;
  // The run would keep the names, and a later command look for the numbers among them.
  for (const auto &[input, classes] : ofTask.classes)
    if (all.numbered.count(input))
      return inputError("it has names for the classes of '", input,
                        "' and a task before it whole numbers; classes of their own need an input of their own");
  for (const std::string &input : ofTask.numbered)
    if (all.numbered.insert(input); all.classes.count(input))
      return inputError("it has whole numbers for the classes of '", input,
                        "' and a task before it names; classes of their own need an input of their own");
  for (const auto &[input, classes] : ofTask.classes)
    if (auto [place, isNew] = all.classes.try_emplace(input, classes); !isNew && place->second != classes)
      return inputError("it has other names in '", input,
                        "' than a task before it; classes of their own need an input of their own");
  return {};
}

namespace {

/// The symbols of a run stay what they are: another vocabulary would give other ids to the same text.
Status checkVocabulary(const RunDirectory &run, const std::optional<data::Vocabulary> &known, const RunSettings &saved,
                       const RunSettings &now) {
  bool sameUnit =
      !known || !now.data.unit || !known->isOfCharacters() || (*now.data.unit == "bytes") == (known->unit() == data::Unit::Bytes);
  if (!known || (sameUnit && saved.data.vocabulary == now.data.vocabulary))
    return {};
  return runtime::usageError("the run in ", run.path,
                             " has its vocabulary already; another one (--vocab, --unit) needs --fresh or another --out");
}

/// A run may go on with another text, wherever its settings name it: the recipe or an earlier --text.
void noteOtherText(const runtime::Manifest &manifest, const RunSettings &saved, const Recipe &recipe,
                   std::vector<std::string> &notes) {
  auto before = readRecipe(manifest, saved.data, saved.seed);
  auto listed = [](const std::vector<std::string> &texts) {
    std::string list;
    for (const std::string &text : texts) {
      std::error_code failed;
      std::filesystem::path path = std::filesystem::absolute(text, failed);
      list += (list.empty() ? "" : ", ") + (failed ? text : path.string());
    }
    return list;
  };
  const std::string then = before.ok() ? listed(filesOf(before->data)) : "", now = listed(filesOf(recipe.data));
  if (!then.empty() && then != now)
    notes.push_back(concat(recipe.data.texts.empty() ? "the data are " : "the text is ", now, "; before ",
                           recipe.data.texts.empty() ? "they were " : "it was ", then));
  if (const double share = recipe.data.heldOut; before.ok() && before->data.heldOut != share)
    notes.push_back(concat("the share that is held out is ", share, "; before it was ", before->data.heldOut,
                           then == now && share > before->data.heldOut ? ", so a part of it has been trained on" : ""));
}

Expected<WeightsNote> weightsOf(const TrainOptions &options, const Recipe &recipe) {
  return options.weights.empty() ? WeightsNote::read(recipe.initFile, recipe.initPartial, false)
                                 : WeightsNote::read(options.weights, options.partial, true);
}

std::string trainEntryName(const runtime::Manifest &manifest, const std::string &wanted) {
  for (const EntryInfo &entry : manifest.entries)
    if (entry.kind == EntryInfo::Kind::Train && (wanted.empty() || entry.name == wanted))
      return entry.name;
  return {};
}

Status checkEvaluations(const TrainOptions &options, const Recipe &recipe, const std::vector<const EntryInfo *> &evaluations) {
  const int64_t every = options.data.validEvery.value_or(0);
  if (every > 0 && !recipe.valid)
    return runtime::usageError("--valid-every ", every,
                               ": there is no text to evaluate on; pass --held-out SHARE or --valid-text FILE");
  if (every > 0 && evaluations.empty())
    return runtime::usageError("--valid-every ", every, ": the artifact was compiled without the entry eval");
  return {};
}

} // namespace

Status Session::create(const std::shared_ptr<const runtime::Artifact> &artifact, const TrainOptions &options,
                       std::unique_ptr<Session> &result) {
  auto session = std::make_unique<Session>();
  session->tier = artifact->tier();
  RunDirectory run{options.runDirectory};
  auto saved = options.fresh ? Expected<RunSettings>(RunSettings()) : readRunSettings(run);
  if (!saved.ok())
    return saved.status();
  session->settings = mergeSettings(*saved, {options.data, options.bind, options.seed, {}});
  auto recipe = readRecipe(artifact->manifest(), session->settings.data, session->settings.seed);
  if (!recipe.ok())
    return recipe.status();
  session->recipe = recipe.take();
  std::vector<TaskRecipe> all = session->recipe.allTasks();
  std::vector<const EntryInfo *> evaluations = evaluationsOf(all, artifact->manifest());
  if (Status status = checkEvaluations(options, session->recipe, evaluations); status.failed())
    return status;
  auto measure = measureOf(session->recipe, evaluations);
  if (!measure.ok())
    return measure.status();
  session->measure = *measure;
  if (const std::string note = leftOutNote(evaluations); !note.empty())
    session->notes.push_back("note: " + note);
  const bool several = !session->recipe.tasks.empty();
  std::string entry = several ? "train_" + all[0].name : trainEntryName(artifact->manifest(), options.entry);
  if (entry.empty())
    return inputError("the artifact has no train entry", options.entry.empty() ? "" : " '" + options.entry + "'",
                      "; compile it with --recipe NAME");
  auto known = options.fresh ? Expected<std::optional<data::Vocabulary>>(std::optional<data::Vocabulary>()) : readVocabulary(run);
  if (!known.ok())
    return known.status();
  Status status = checkVocabulary(run, *known, *saved, session->settings);
  if (status.failed())
    return status;
  if (*known)
    noteOtherText(artifact->manifest(), *saved, session->recipe, session->notes);
  auto weights = *known ? Expected<WeightsNote>(WeightsNote()) : weightsOf(options, session->recipe);
  if (!weights.ok())
    return weights.status();
  weights->nameClasses(all);
  status = session->openTasks(all, artifact->manifest(), entry, *known ? &**known : nullptr);
  if (status.failed())
    return status;
  status = session->compareFiles(saved->files);
  if (status.failed())
    return status;
  status = session->makeParameters(artifact, options.threads);
  const std::vector<SessionTask *> tasks = session->tasks();
  for (size_t i = 0; i < all.size() && status.ok(); ++i) {
    status = session->makeContexts(all[i], i == 0 ? entry : "train_" + all[i].name, *tasks[i]);
    if (status.failed() && several)
      return status.in("task " + all[i].name);
  }
  if (status.ok() && std::any_of(all.begin(), all.end(), [](const auto &each) { return hasSetting(each.data.name, "vocab"); }))
    status = weights->check(session->vocabulary, session->notes);
  if (status.ok())
    result = std::move(session);
  return status;
}

Status Session::openTasks(std::vector<TaskRecipe> &all, const runtime::Manifest &manifest, const std::string &entry,
                          const data::Vocabulary *known) {
  others.resize(all.size() - 1);
  const std::vector<SessionTask *> made = tasks();
  for (size_t i = 0; i < all.size(); ++i) {
    made[i]->name = all[i].name;
    const EntryInfo *of = manifest.findEntry(i == 0 ? entry : "train_" + all[i].name);
    Status status = of ? setLengths(*of, settings.bind, all[i].sizes, all[i].data) : Status(); // without: an error of its own
    if (status.ok())
      status = data::makeTask(all[i].data, data::Part::Training, known, made[i]->trainTask);
    if (status.failed())
      return recipe.tasks.empty() ? status : status.in("task " + all[i].name);
  }
  return {};
}

Status Session::makeParameters(const std::shared_ptr<const runtime::Artifact> &artifact, int threads) {
  auto threadPool = runtime::ThreadPool::create(threads);
  if (!threadPool.ok())
    return threadPool.status();
  pool = threadPool.take();
  auto made = runtime::Parameters::create(artifact);
  if (!made.ok())
    return made.status();
  parameters = made.take();
  Status status = parameters->ensureTraining();
  if (status.failed() || !recipe.average)
    return status;
  auto means = AveragedWeights::create(*recipe.average, parameters, pool);
  if (means.ok())
    averages = means.take();
  return means.status();
}

std::vector<SessionTask *> Session::tasks() {
  std::vector<SessionTask *> all = {this};
  for (SessionTask &other : others)
    all.push_back(&other);
  return all;
}
std::vector<const SessionTask *> Session::tasks() const {
  std::vector<const SessionTask *> all = {this};
  for (const SessionTask &other : others)
    all.push_back(&other);
  return all;
}

RunParts Session::parts() {
  RunParts parts;
  parts.means = averages.get();
  for (SessionTask &other : others)
    parts.others.push_back(other.train.get());
  return parts;
}

Status Session::compareFiles(const std::vector<data::FileFingerprint> &before) {
  auto files = fingerprintsOf(recipe);
  if (!files.ok())
    return files.status();
  settings.files = files.take();
  if (std::string changes = data::changedFiles(before, settings.files); !changes.empty())
    notes.push_back(concat("the data are not what this run has seen: ", changes,
                           "; from here on it trains and evaluates on what is there now"));
  return {};
}

uint64_t Session::stepsOf(double epochs) const {
  const auto each = static_cast<double>(parameters->manifest().accumulate);
  if (others.empty())
    return static_cast<uint64_t>(
        std::max(1.0, std::ceil(std::ceil(epochs * static_cast<double>(trainTask->batchesPerEpoch())) / each)));
  double steps = 0;
  for (uint64_t epoch : stepsPerEpoch())
    steps += static_cast<double>(epoch);
  return static_cast<uint64_t>(std::max(1.0, std::ceil(epochs * steps)));
}

std::vector<uint64_t> Session::stepsPerEpoch() const {
  std::vector<uint64_t> steps;
  for (const SessionTask *task : tasks())
    steps.push_back(
        std::max<uint64_t>(1, task->trainTask->batchesPerEpoch() / static_cast<uint64_t>(parameters->manifest().accumulate)));
  return steps;
}

TaskOrder Session::order() const {
  std::vector<double> shares;
  for (const TaskRecipe &task : recipe.allTasks())
    shares.push_back(task.share);
  return TaskOrder(recipe.mix, std::move(shares), stepsPerEpoch(), recipe.seed);
}

void Session::lowerRate(uint64_t times) { setTotalSteps(times + 1); }

void Session::setTotalSteps(uint64_t steps) {
  for (SessionTask *task : tasks())
    for (runtime::Context *context : task->trainFeeder->contexts())
      context->setTotalSteps(steps);
}

void Session::setSeed(uint64_t seed) {
  for (SessionTask *task : tasks()) {
    for (runtime::Context *context : task->trainFeeder->contexts())
      context->setSeed(seed);
    if (task->valid)
      task->valid->setSeed(seed);
  }
}

std::vector<runtime::MemoryItem> Session::memoryItems() const {
  const runtime::Manifest &manifest = parameters->manifest();
  const runtime::DataType inMemory = manifest.split.value_or(manifest.parameterType);
  std::vector<runtime::MemoryItem> items = {
      {concat("parameters", inMemory != manifest.type ? concat(" in ", runtime::nameOf(inMemory)) : ""),
       manifest.parameterBytesIn(inMemory)},
      {"gradients", manifest.parameterBytes}};
  if (manifest.split)
    items.push_back({"remainders of parameters", manifest.parameterBytesIn(*manifest.split)});
  if (manifest.copies)
    items.push_back({concat("copies in ", runtime::nameOf(*manifest.copies)), manifest.parameterBytesIn(*manifest.copies)});
  if (manifest.moments > 0)
    items.push_back({"optimizer", manifest.momentBytes()});
  if (manifest.accumulate > 1)
    items.push_back({"sums of gradients", manifest.parameterBytes});
  if (manifest.partialSumBytes() > 0)
    items.push_back({"sums of slices", manifest.partialSumBytes()});
  if (averages)
    items.push_back({"averages", manifest.parameterBytesIn(inMemory) + averages->wideBytes()});
  auto add = [&](const std::string &name, const std::vector<runtime::Context *> &contexts) { // of one workspace
    uint64_t tensors = 0, states = 0;
    for (const runtime::Context *context : contexts) {
      states += context->stateBytes();
      for (const auto *list : {&context->inputs(), &context->outputs()})
        for (const runtime::BoundTensor &tensor : *list)
          tensors += tensor.bytes;
    }
    items.push_back({concat(name, " workspace"), contexts[0]->workspaceBytes() + contexts[0]->scratchBytes()});
    items.push_back({concat(name, " states and batches"), states + tensors});
  };
  for (const SessionTask *task : tasks()) {
    const std::string of = task->name.empty() ? "" : " of " + task->name;
    add("training" + of, task->trainFeeder->contexts());
    if (task->valid)
      add("evaluation" + of, {task->valid.get()});
  }
  return items;
}

std::optional<uint64_t> Session::workspaceSavingAll() const {
  const runtime::EntryInfo &info = train->entry();
  if (info.memory.workspaceSavingAll.empty())
    return std::nullopt;
  uint64_t most = 0;
  for (const runtime::Context *context : trainFeeder->contexts()) {
    std::map<std::string, int64_t, std::less<>> dims;
    for (size_t i = 0; i < info.dims.size(); ++i) // formulas are those of one slice
      dims[info.dims[i].name] = context->dims()[i] / (info.dims[i].name == info.sliceAxis ? info.slices : 1);
    auto bytes = runtime::evaluateFormula(info.memory.workspaceSavingAll, dims);
    if (!bytes.ok() || !*bytes)
      return std::nullopt;
    most = std::max(most, static_cast<uint64_t>(**bytes));
  }
  return most;
}

Status Session::saveDescription(const RunDirectory &run) const {
  if (Status status = runtime::replaceFile(run.vocabularyFile(), vocabulary.save()); status.failed())
    return status;
  return writeRunSettings(run, settings);
}

} // namespace tenon::train
