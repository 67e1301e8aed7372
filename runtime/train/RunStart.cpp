#include "runtime/train/RunStart.h"
#include "runtime/train/TrainingText.h"
#include <algorithm>
#include <filesystem>
#include <fnmatch.h>

namespace tenon::train {

using runtime::concat;

namespace {

uint64_t metricsOf(const RunDirectory &run) {
  std::error_code failed;
  uint64_t bytes = std::filesystem::file_size(run.metrics(), failed);
  return failed ? 0 : bytes;
}

/// Whether a pattern of a recipe's `freeze`, in which * crosses dots, is that of a parameter. `freeze`: null without one.
bool isFrozenBy(const runtime::JsonValue *freeze, const std::string &name) {
  if (!freeze)
    return false;
  const std::vector<runtime::JsonValue> patterns = freeze->isArray() ? freeze->elements : std::vector{*freeze};
  return std::any_of(patterns.begin(), patterns.end(), [&](const runtime::JsonValue &pattern) {
    return pattern.isString() && fnmatch(pattern.text.c_str(), name.c_str(), 0) == 0;
  });
}

/// What no step changes and the file does not have, where it starts from draws: a reference that the file was to give is warned
/// of; what the losses do not reach is said.
std::vector<std::string> keptAsDrawn(const runtime::Parameters &parameters, const runtime::LoadReport &report,
                                     const std::string &file) {
  using Kind = runtime::InitializerInfo::Kind;
  std::vector<std::string> texts;
  const runtime::JsonValue *settings = parameters.manifest().recipe.find("settings");
  const runtime::JsonValue *freeze = settings ? settings->find("freeze") : nullptr;
  for (bool unreached : {false, true}) {
    std::string first;
    size_t count = 0;
    for (const runtime::LoadReport::Stayed &one : report.stayed) {
      const auto place = parameters.find(one.name); // or it is a state
      if (!place.ok() || !place->info->frozen || isFrozenBy(freeze, one.name) == unreached ||
          place->info->init.kind == Kind::Constant || place->info->init.kind == Kind::Table)
        continue;
      first = count++ == 0 ? one.name : first;
    }
    if (count == 0)
      continue;
    const char *const them = count > 1 ? "them" : "it";
    const std::string names = concat(first, count > 1 ? concat(" and ", runtime::counted(count - 1, "other")) : "");
    texts.push_back(unreached ? concat("not reached by the loss: ", names, "; ", file, " does not have ", them, ", and ",
                                       count > 1 ? "they stay as they were drawn" : "it stays as it was drawn")
                              : concat("warning: frozen, and stays as it was drawn: ", names, "; ", file, " does not have ", them,
                                       ", and no step changes ", them));
  }
  return texts;
}

} // namespace

Status RunStart::setLength(std::vector<std::string> &notes) const {
  const double epochs = session.parameters->manifest().epochs;
  if (options.steps && session.recipe.warmsByShare &&
      (epochs > 0 || session.recipe.steps != static_cast<int64_t>(*options.steps)))
    notes.push_back(concat("the warm-up is a share of the ", epochs > 0 ? "epochs" : "steps",
                           " that the recipe says, not of --steps ", *options.steps));
  if (session.recipe.epochs > 0)
    notes.push_back(epochsText(session, session.recipe.epochs));
  if (epochs == 0)
    return {};
  const uint64_t steps = session.stepsOf(epochs);
  if (static_cast<uint64_t>(session.recipe.warmup) >= steps)
    return inputError("the recipe ", session.recipe.name, " warms up for ", session.recipe.warmup, " steps, but its schedule of ",
                      epochs, " epochs has ", steps, " with this text");
  session.setTotalSteps(steps);
  return {};
}

Status RunStart::initialize(std::vector<std::string> &notes) const {
  runtime::Parameters &parameters = *session.parameters;
  if (Status status = parameters.initialize(state.seed); status.failed())
    return status;
  const std::string &file = options.weights.empty() ? session.recipe.initFile : options.weights;
  if (file.empty())
    return {};
  runtime::LoadOptions load;
  load.scheme = options.weights.empty() ? session.recipe.initScheme : options.scheme;
  load.allowMissing = load.allowExtra = true;
  const bool partial = options.weights.empty() ? session.recipe.initPartial : options.partial;
  load.allowOther = partial;
  load.remedy = options.weights.empty() ? "partial = true in load(..) leaves initial what has another shape"
                                        : "--partial leaves initial what has another shape";
  load.grow = {session.recipe.initGrow.begin(), session.recipe.initGrow.end()};
  load.rows = {session.recipe.initRows.begin(), session.recipe.initRows.end()};
  auto report = parameters.load(file, load);
  if (!report.ok())
    return report.status();
  if (report->loaded.empty())
    return inputError(file, " has none of the parameters of this model");
  notes.push_back(concat("loaded ", runtime::counted(report->loaded.size(), "parameter"), " from ", file, "; ",
                         runtime::counted(report->missing.size(), "initial value"), " for what it lacks, ",
                         runtime::counted(report->extra.size(), "unused tensor")));
  for (std::string &kept : keptAsDrawn(parameters, *report, file))
    notes.push_back(std::move(kept));
  for (const auto &[name, rows] : report->grown)
    notes.push_back(concat(name, ": the file has ", runtime::counted(rows, "row"), ", those behind them ",
                           load.rows.empty() ? "stay initial" : "start as those that `rows` says"));
  if (partial)
    for (const runtime::LoadReport::Stayed &one : report->stayed)
      notes.push_back(concat(one.name, " stays initial: ", one.reason));
  return {};
}

Status RunStart::prepareDirectory(bool resumed, std::vector<std::string> &notes) const {
  if (session.averages && !resumed) // of initial values
    if (Status status = session.averages->restart(); status.failed())
      return status;
  std::error_code failed;
  std::filesystem::create_directories(run.path, failed);
  if (failed)
    return runtime::fileError("create", run.path, failed.value());
  if (Status status = lockNew(notes); status.failed())
    return status;
  if (options.fresh)
    if (Status status = setAside(run.checkpoints(), notes); status.failed())
      return status;
  if (!options.from.empty())
    if (Status status = goBack(notes); status.failed())
      return status;
  // Without its checkpoints an earlier run cannot go on: its steps stay readable, and this one's begin a file of their own.
  if (!resumed && metricsOf(run) > 0) {
    if (!options.fresh)
      notes.push_back(concat("there is no checkpoint in ", run.checkpoints(), ": training starts from step 0"));
    if (Status status = setAside(run.metrics(), notes); status.failed())
      return status;
  }
  return options.prepare ? options.prepare() : Status();
}

static Status copyFolder(const std::string &from, const std::string &to) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(to).parent_path(), failed);
  if (!failed)
    std::filesystem::copy(from, to, failed);
  return failed ? runtime::fileError("copy to", to, failed.value()) : Status();
}

/// The folder of the best checkpoint of an earlier step than the one that the run goes back to. Where the run has it no more, the
/// best is sought anew. Empty: none is needed.
std::string RunStart::bestBefore(std::vector<std::string> &notes) const {
  if (!state.best || state.best->step == state.step || session.recipe.best.empty())
    return "";
  std::error_code ignored;
  for (const std::string &folder : {bestDirectory(run.checkpoints()), run.checkpoints()})
    if (std::string path = concat(folder, "/step-", state.best->step); std::filesystem::exists(path, ignored))
      return path;
  notes.push_back(concat("the best evaluation up to step ", state.step, " was that of step ", state.best->step,
                         ", whose checkpoint a later best one took the place of; the best is sought from here on"));
  state.best.reset();
  return "";
}

Status RunStart::goBack(std::vector<std::string> &notes) const {
  const std::string best = bestBefore(notes);
  if (metricsOf(run) > 0)
    if (Status status = keepCopy(run.metrics(), notes); status.failed())
      return status;
  const std::string made =
      run.checkpoints() + ".new"; // whole before it takes the other's place: a kill leaves the one or the other
  std::error_code failed;
  std::filesystem::remove_all(made, failed);
  std::filesystem::create_directories(made, failed);
  if (failed)
    return runtime::fileError("create", made, failed.value());
  Status status = session.averages ? session.averages->prepare(run.checkpoints(), state.step, checkpointEvery, notes) : Status();
  if (status.ok())
    status = saveRun(made, state, *session.train, keep, session.parts());
  if (status.ok())
    status = copyNeeded(made);
  if (status.ok() && !best.empty())
    status = copyFolder(best, concat(bestDirectory(made), "/step-", state.best->step));
  else if (status.ok() && state.best && !session.recipe.best.empty())
    status = saveBest(made, state, *session.train, session.parts());
  return status.ok() ? takePlace(made, run.checkpoints(), notes) : status;
}

Status RunStart::copyNeeded(const std::string &made) const {
  if (!session.averages)
    return {};
  for (uint64_t step : session.averages->needed(run.checkpoints(), state.step, checkpointEvery)) {
    if (step == state.step)
      continue;
    const std::string folder = concat("/step-", step);
    if (Status status = copyFolder(run.checkpoints() + folder, made + folder); status.failed())
      return status;
  }
  return {};
}

Status RunStart::lockNew(std::vector<std::string> &notes) const {
  if (lock.held())
    return {};
  std::string note;
  auto taken = RunLock::take(run.path, note);
  if (!taken.ok())
    return taken.status();
  lock = taken.take();
  if (!note.empty())
    notes.push_back(note);
  std::error_code ignored;
  if (std::filesystem::exists(run.settingsFile(), ignored)) // all of the above was read before it came
    return runtime::usageError("another process has made the run in ", run.path,
                               " meanwhile; the same command goes on from there");
  return {};
}

} // namespace tenon::train
