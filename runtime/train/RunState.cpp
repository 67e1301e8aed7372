#include "runtime/train/RunState.h"
#include "runtime/files/Safetensors.h"
#include "runtime/parameters/PublicNames.h"
#include "runtime/train/AveragedWeights.h"
#include "runtime/train/RunMetadata.h"
#include "runtime/train/StateFile.h"
#include "tenon/artifact.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace tenon::train {

using runtime::BoundTensor;
using runtime::Context;
using runtime::inputError;
using runtime::JsonValue;
using runtime::ParameterArena;
using runtime::Parameters;
using runtime::Status;

namespace {

constexpr struct {
  ParameterArena arena;
  const char *file;
} kArenas[] = {{ParameterArena::Values, "parameters.safetensors"},
               {ParameterArena::Moment1, "moment1.safetensors"},
               {ParameterArena::Moment2, "moment2.safetensors"}};
constexpr const char *kStatesFile = "states.safetensors", *kMeansFile = "average.safetensors";
/// Of task number `task`, from 0.
std::string statesFile(size_t task) {
  return task == 0 ? std::string(kStatesFile) : runtime::concat("states-", task + 1, ".safetensors");
}

/// "; its first difference: emb is [256, 32] there and [256, 64] here", or nothing.
std::string firstDifference(const runtime::LoadedCheckpoint &checkpoint, const Parameters &parameters) {
  auto file = runtime::SafetensorsFile::open(checkpoint.filePath(kArenas[0].file));
  if (!file.ok())
    return {};
  for (const std::string &name : parameters.names()) {
    const runtime::SafetensorsEntry *entry = file->find(name);
    auto place = parameters.find(name);
    if (!entry)
      return runtime::concat("; it has no ", name);
    const runtime::Shape shape(place->info->shape.begin(), place->info->shape.end());
    if (entry->shape != shape)
      return runtime::concat("; ", name, " is ", runtime::shapeText(entry->shape), " there and ", runtime::shapeText(shape),
                             " here");
  }
  for (const runtime::SafetensorsEntry &entry : file->entries())
    if (!parameters.find(entry.name).ok() && parameters.modelStates().empty())
      return runtime::concat("; it has ", entry.name, ", which the model has not");
  return {};
}

Status checkMetadata(const runtime::LoadedCheckpoint &checkpoint, const Parameters &parameters, bool training) {
  const JsonValue *signature = checkpoint.metadata.find("signature"), *optimizer = checkpoint.metadata.find("optimizer");
  if (!signature || !signature->isString() || !optimizer || !optimizer->isString())
    return inputError(checkpoint.path, " is not a checkpoint of a training run");
  if (!parameters.isSignature(signature->text))
    return inputError(checkpoint.path, " is a checkpoint of another model: its parameters do not fit this artifact",
                      firstDifference(checkpoint, parameters),
                      training ? "; --fresh starts anew, another --out keeps this run" : "");
  if (training && optimizer->text != parameters.manifest().optimizer)
    return inputError(checkpoint.path, " was trained with ", optimizer->text, ", this artifact trains with ",
                      parameters.manifest().optimizer, "; use --fresh, or --weights with its parameters.safetensors");
  const std::string losses = textOf(checkpoint.metadata, "losses"), now = textOf(parameters.manifest().recipe, "losses_sha256");
  if (training && !losses.empty() && !now.empty() && losses != now)
    return inputError(
        checkpoint.path,
        " is a checkpoint of another model: from the same parameters its losses compute something else; to start this one "
        "from them: --fresh --weights ",
        checkpoint.filePath(kArenas[0].file));
  return {};
}

/// "T = 128, and this run was trained with T = 64" of every dim whose size has changed since the checkpoint; empty if none has.
std::string changedSizes(const runtime::LoadedCheckpoint &checkpoint, const Context &context) {
  std::string now, then;
  const JsonValue *before = checkpoint.metadata.find("sizes"); // absent in older checkpoints
  for (const auto &[name, size] : sizesOf(context))
    if (const JsonValue *old = before ? before->find(name) : nullptr; old && old->isInteger() && old->integer != size) {
      now += runtime::concat(now.empty() ? "" : ", ", name, " = ", size);
      then += runtime::concat(then.empty() ? "" : ", ", name, " = ", old->integer);
    }
  return now.empty() ? now : runtime::concat(now, ", and this run was trained with ", then);
}

/// What has changed since the checkpoint and does not make another model; the user may not know.
void noteChanges(const runtime::LoadedCheckpoint &checkpoint, const Context &context, std::vector<std::string> &notes) {
  const runtime::Manifest &manifest = context.parameters()->manifest();
  const std::string sizes = changedSizes(checkpoint, context);
  if (!sizes.empty())
    notes.push_back(runtime::concat(
        "the recipe (or --bind) has ", sizes, " until step ", checkpoint.step,
        "; from here on its batches are others and begin elsewhere in the data; --fresh or another --out starts a new run"));
  const std::string recipe = textOf(checkpoint.metadata, "recipe"), spec = textOf(checkpoint.metadata, "spec");
  if (!recipe.empty() && recipe != textOf(manifest.recipe, "sha256"))
    notes.push_back(
        runtime::concat("the recipe is not the one of step ", checkpoint.step, "; from here on the run has the new one"));
  else if (sizes.empty() && !spec.empty() && spec != manifest.specHash)
    notes.push_back(runtime::concat("the specification has changed since step ", checkpoint.step,
                                    ", but neither its recipe nor what its losses compute"));
}

/// The files of a checkpoint that are read, open.
struct OpenFiles {
  std::vector<std::pair<ParameterArena, runtime::SafetensorsFile>> arenas;
  std::optional<runtime::SafetensorsFile> states, means;
  std::vector<runtime::SafetensorsFile> others; // states of further tasks
};

bool lists(const runtime::LoadedCheckpoint &checkpoint, const std::string &name) {
  return std::find(checkpoint.files.begin(), checkpoint.files.end(), name) != checkpoint.files.end();
}

/// Only what the manifest lists has been compared with its hashes.
Status openListed(const runtime::LoadedCheckpoint &checkpoint, const std::string &name,
                  std::optional<runtime::SafetensorsFile> &result) {
  if (!lists(checkpoint, name))
    return inputError(checkpoint.path, " is not a checkpoint of a training run: its manifest lists no ", name);
  auto file = runtime::SafetensorsFile::open(checkpoint.filePath(name));
  if (file.ok())
    result = file.take();
  return file.status();
}

/// Opens the files that hold parameters, and moments where a training goes on, and compares them with the model. Nothing is read
/// before all of them fit: values of one checkpoint beside moments of another would train on without a word.
Status openArenas(const runtime::LoadedCheckpoint &checkpoint, const Parameters &parameters, bool training, OpenFiles &files) {
  for (const auto &[arena, name] : kArenas) {
    if (arena != ParameterArena::Values && (!training || !parameters.arena(arena)))
      continue;
    std::optional<runtime::SafetensorsFile> file;
    if (arena != ParameterArena::Values && !lists(checkpoint, name))
      return inputError(checkpoint.path, ": its manifest lists no ", name,
                        ", so its optimizer had other settings (no momentum?); use --fresh, or --weights with its ",
                        kArenas[0].file);
    if (Status status = openListed(checkpoint, name, file); status.failed())
      return status;
    if (Status status = parameters.checkArena(*file, arena); status.failed())
      return status;
    files.arenas.emplace_back(arena, std::move(*file));
  }
  return {};
}

bool hasMeans(const runtime::LoadedCheckpoint &checkpoint) { return lists(checkpoint, kMeansFile); }

/// A run whose recipe had no `average` until now has none to go on from.
Status openMeans(const runtime::LoadedCheckpoint &checkpoint, const Parameters &means, OpenFiles &files,
                 std::vector<std::string> &notes) {
  if (!hasMeans(checkpoint)) {
    notes.push_back(runtime::concat("the run has no averages until step ", checkpoint.step, "; they begin with its parameters"));
    return {};
  }
  Status status = openListed(checkpoint, kMeansFile, files.means);
  return status.ok() ? means.checkArena(*files.means, ParameterArena::Values) : status;
}

Status loadArenas(const OpenFiles &files, Parameters &parameters) {
  for (const auto &[arena, file] : files.arenas)
    if (Status status = parameters.loadArena(file, arena); status.failed())
      return status;
  return {};
}

/// States of another size than those of the checkpoint belong to another run.
Status checkStatesOf(const runtime::LoadedCheckpoint &checkpoint, const runtime::SafetensorsFile &file, const Context &context) {
  const std::string sizes = changedSizes(checkpoint, context);
  Status status = checkStates(file, context);
  if (status.ok() || sizes.empty())
    return status;
  return inputError("the recipe (or --bind) has ", sizes, " until step ", checkpoint.step,
                    ", whose states do not fit: start a new run, by --fresh or another --out; --weights ",
                    checkpoint.filePath(kArenas[0].file), " begins it with what this one has learned");
}

Status openOthers(const runtime::LoadedCheckpoint &checkpoint, const RunParts &parts, OpenFiles &files) {
  for (size_t i = 0; i < parts.others.size(); ++i) {
    std::optional<runtime::SafetensorsFile> file;
    const std::string name = statesFile(i + 1);
    if (!lists(checkpoint, name))
      return inputError("the recipe has ", parts.others.size() + 1, " tasks, and had fewer until step ", checkpoint.step,
                        ": start a new run, by --fresh or another --out; --weights ", checkpoint.filePath(kArenas[0].file),
                        " begins it with what this one has learned");
    Status status = openListed(checkpoint, name, file);
    if (status.ok())
      status = checkStatesOf(checkpoint, *file, *parts.others[i]);
    if (status.failed())
      return status;
    files.others.push_back(std::move(*file));
  }
  return {};
}

} // namespace

Status saveRun(const std::string &directory, const RunState &state, const Context &context, int keep, const RunParts &parts) {
  const Parameters &parameters = *context.parameters();
  const auto lossScale = parameters.lossScale();
  if (!lossScale.ok())
    return lossScale.status();
  runtime::CheckpointContents contents;
  contents.step = state.step;
  contents.needed = parts.needed;
  contents.metadata = metadataText(state, context, *lossScale);
  for (const auto &[arena, name] : kArenas)
    if (parameters.arena(arena))
      contents.files.push_back({name, parameters.fileBytes(arena), [&parameters, arena = arena](runtime::ByteSink &sink) {
                                  return parameters.saveTo(sink, arena);
                                }});
  if (const AveragedWeights *means = parts.means)
    contents.files.push_back({kMeansFile, means->fileBytes(), [means](runtime::ByteSink &sink) { return means->save(sink); }});
  for (size_t i = 0; i < parts.others.size(); ++i)
    contents.files.push_back({statesFile(i + 1), stateFileBytes(*parts.others[i]),
                              [other = parts.others[i]](runtime::ByteSink &sink) { return writeStates(*other, sink); }});
  contents.files.push_back(
      {kStatesFile, stateFileBytes(context), [&context](runtime::ByteSink &sink) { return writeStates(context, sink); }});
  return runtime::saveCheckpoint(directory, contents, keep);
}

std::string bestDirectory(const std::string &directory) { return directory + "/best"; }

namespace {

runtime::Expected<runtime::LoadedCheckpoint> chosenCheckpoint(const std::string &directory, const std::string &which,
                                                              std::vector<std::string> &notes) {
  if (which.empty())
    return runtime::loadNewestCheckpoint(directory, notes);
  std::error_code ignored;
  if (which == "best") {
    if (!std::filesystem::exists(bestDirectory(directory), ignored))
      return inputError("there is no best checkpoint in ", directory,
                        "; checkpoint = every(.., best = NAME) in the recipe keeps one");
    return runtime::loadNewestCheckpoint(bestDirectory(directory), notes);
  }
  if (which.find_first_not_of("0123456789") != std::string::npos)
    return runtime::usageError("a checkpoint is the number of its step, or best, not '", which, "'");
  for (const std::string &folder : {directory, bestDirectory(directory)})
    if (const std::string path = folder + "/step-" + which; std::filesystem::exists(path, ignored))
      return runtime::loadCheckpoint(path);
  std::string steps;
  for (uint64_t step : runtime::listCheckpoints(directory))
    steps += runtime::concat(steps.empty() ? "" : ", ", step);
  return inputError("there is no checkpoint of step ", which, " in ", directory, "; there are: ", steps.empty() ? "none" : steps,
                    std::filesystem::exists(bestDirectory(directory), ignored) ? " and best" : "");
}

/// A command that was killed after its last evaluation has kept the best checkpoint of it, and the newest one was written before.
/// What comes after the newest checkpoint is done again, and evaluated again.
void adoptBest(const std::string &directory, RunState &state) {
  std::vector<std::string> damaged;
  std::optional<BestEvaluation> kept;
  auto best = runtime::loadNewestCheckpoint(bestDirectory(directory), damaged);
  if (!best.ok() || readBest(*best, kept).failed() || !kept || kept->step > state.step)
    return;
  if (!state.best || (kept->measure == state.best->measure && kept->step > state.best->step))
    state.best = kept;
}

} // namespace

Status loadRun(const std::string &directory, const std::string &which, RunState &state, Context &context, bool &found,
               std::vector<std::string> &notes, const RunParts &parts) {
  found = false;
  std::vector<std::string> damaged;
  auto checkpoint = chosenCheckpoint(directory, which, damaged);
  if (!checkpoint.ok() && !which.empty())
    return checkpoint.status();
  if (!checkpoint.ok() && !damaged.empty()) // starting anew would cost what is there
    return inputError("none of the ", damaged.size(), " checkpoints in '", directory,
                      "' is valid; --fresh keeps them and starts anew: ", damaged[0]);
  if (!checkpoint.ok())
    return {};
  notes.insert(notes.end(), damaged.begin(), damaged.end());
  if (Status status = checkMetadata(*checkpoint, *context.parameters(), true); status.failed())
    return status;
  auto number = [&](const char *key, JsonValue::Kind kind) -> const JsonValue * {
    const JsonValue *value = checkpoint->metadata.find(key);
    return value && (value->kind == kind || (kind == JsonValue::Kind::Real && value->isNumber())) ? value : nullptr;
  };
  const JsonValue *position = number("position", JsonValue::Kind::Integer), *seed = number("seed", JsonValue::Kind::String),
                  *skipped = number("skipped", JsonValue::Kind::Integer), *seconds = number("seconds", JsonValue::Kind::Real);
  if (!position || position->integer < 0 || !seed || !skipped || skipped->integer < 0 || !seconds)
    return inputError(checkpoint->path, " does not say where in the data it was made");
  RunState loaded = {checkpoint->step, static_cast<uint64_t>(position->integer), strtoull(seed->text.c_str(), nullptr, 10),
                     static_cast<uint64_t>(skipped->integer), seconds->real};
  OpenFiles files;
  Status status = readBest(*checkpoint, loaded.best);
  if (status.ok())
    status = readPlateau(*checkpoint, loaded.plateau);
  if (status.ok())
    status = openArenas(*checkpoint, *context.parameters(), true, files);
  if (status.ok())
    status = openListed(*checkpoint, kStatesFile, files.states);
  if (status.ok())
    status = checkStatesOf(*checkpoint, *files.states, context);
  if (status.ok())
    status = openOthers(*checkpoint, parts, files);
  if (status.ok() && parts.means)
    status = openMeans(*checkpoint, *parts.means->parameters(), files, notes);
  if (status.ok())
    status = loadArenas(files, *context.parameters());
  if (status.ok() && parts.means)
    status = parts.means->load(files.means ? *files.means : files.arenas[0].second);
  if (status.ok())
    status = readStates(*files.states, context);
  for (size_t i = 0; i < parts.others.size() && status.ok(); ++i)
    status = readStates(files.others[i], *parts.others[i]);
  if (status.failed())
    return status;
  if (Status read = readLossScale(*checkpoint, *context.parameters()); read.failed())
    return read;
  noteChanges(*checkpoint, context, notes);
  state = loaded;
  adoptBest(directory, state);
  found = true;
  return {};
}

Status saveBest(const std::string &directory, const RunState &state, const Context &context, const RunParts &parts) {
  Status status = saveRun(bestDirectory(directory), state, context, 1, parts);
  // A run that went back to an earlier checkpoint, and on with another recipe, has no use for a best of its later steps.
  return status.ok() ? runtime::removeCheckpointsAfter(bestDirectory(directory), state.step) : status;
}

namespace {

Status loadChosenWeights(const std::string &directory, const std::string &which, Parameters &parameters, uint64_t &step,
                         std::vector<std::string> &notes) {
  auto checkpoint = chosenCheckpoint(directory, which, notes);
  if (!checkpoint.ok())
    return checkpoint.status();
  if (Status status = checkMetadata(*checkpoint, parameters, false); status.failed())
    return status;
  OpenFiles files;
  if (Status status = openArenas(*checkpoint, parameters, false, files); status.failed())
    return status;
  step = checkpoint->step;
  if (hasMeans(*checkpoint)) {
    Status status = openListed(*checkpoint, kMeansFile, files.means);
    return status.ok() ? parameters.loadArena(*files.means, ParameterArena::Values) : status;
  }
  return loadArenas(files, parameters);
}

} // namespace

Status loadWeights(const std::string &directory, const std::string &which, Parameters &parameters, uint64_t &step,
                   std::vector<std::string> &notes) {
  // A training beside this may remove the checkpoint that is being read, after it has made a newer one.
  constexpr int kAttempts = 50;
  for (int attempt = 1;; ++attempt) {
    auto newest = runtime::newestCheckpointStep(directory);
    std::vector<std::string> skipped;
    Status status = loadChosenWeights(directory, which, parameters, step, skipped);
    const bool complete = status.ok() && skipped.empty();
    if (complete || attempt == kAttempts || runtime::newestCheckpointStep(directory) == newest) {
      notes.insert(notes.end(), skipped.begin(), skipped.end());
      return status;
    }
  }
}

} // namespace tenon::train
