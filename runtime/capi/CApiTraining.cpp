// The C ABI of training: optimizer moments, losses by name, checkpoints in the format of `tenon train`.
#include "runtime/base/Convert.h"
#include "runtime/base/File.h"
#include "runtime/capi/CApiObjects.h"
#include "runtime/train/RunState.h"
#include "tenon/artifact.h"
#include <cmath>
#include <filesystem>

namespace {

/// The arena of moment number `moment`, from 0.
Expected<ParameterArena> momentAt(const tn_model *model, int moment) {
  const Manifest &manifest = model->parameters->manifest();
  if (moment < 0 || moment >= manifest.moments)
    return usageError("there is no moment number ", moment, "; the optimizer ",
                      manifest.optimizer.empty() ? "of an artifact without recipe" : manifest.optimizer, " has ",
                      manifest.moments);
  return moment == 0 ? ParameterArena::Moment1 : ParameterArena::Moment2;
}

/// Moments are zero before the first step, also where no context has asked for them yet.
Status readyMoment(const tn_model *model, int moment, const char *name, const void *values, ParameterArena &arena) {
  if (!model || !name || !values)
    return usageError("model, name or values is NULL");
  auto found = momentAt(model, moment);
  if (!found.ok())
    return found.status();
  arena = *found;
  return model->parameters->ensureTraining();
}

/// A run directory stands for its folder of checkpoints.
std::string checkpointsOf(const char *directory) {
  std::error_code ignored;
  const std::string inside = concat(directory, "/checkpoints");
  return std::filesystem::is_directory(inside, ignored) ? inside : std::string(directory);
}

void tell(const std::vector<std::string> &notes, tn_note note, void *user) {
  for (const std::string &text : notes)
    if (note)
      note(user, text.c_str());
}

} // namespace

const char *tn_model_optimizer(const tn_model *model) { return model->parameters->manifest().optimizer.c_str(); }
int tn_model_moment_count(const tn_model *model) { return model->parameters->manifest().moments; }
const char *tn_model_moment_name(const tn_model *model, int moment) {
  return moment < 0 || moment >= model->parameters->manifest().moments ? nullptr : moment == 0 ? "moment1" : "moment2";
}
int tn_model_moment_tensor_count(const tn_model *model, int moment) {
  if (moment < 0 || moment >= model->artifact->manifest().moments)
    return 0;
  return static_cast<int>((moment == 0 ? model->meanNames : model->names).size());
}
tn_error *tn_model_moment_info(const tn_model *model, int moment, int tensor, tn_tensor_info *info) {
  const ParameterArena arena = moment == 0 ? ParameterArena::Moment1 : ParameterArena::Moment2;
  if (tn_model_moment_tensor_count(model, moment) == 0)
    tensor = -1;
  return guarded([&] { return tensorInfo(model, arena, "tensor of this moment", tensor, info); });
}
tn_error *tn_model_get_moment(const tn_model *model, int moment, const char *name, void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    ParameterArena arena = ParameterArena::Moment1;
    Status status = readyMoment(model, moment, name, values, arena);
    return status.ok() ? model->parameters->get(name, values, bytes, arena) : status;
  });
}
tn_error *tn_model_set_moment(tn_model *model, int moment, const char *name, const void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    ParameterArena arena = ParameterArena::Moment1;
    Status status = readyMoment(model, moment, name, values, arena);
    return status.ok() ? model->parameters->set(name, values, bytes, arena) : status;
  });
}

static Status readyScale(const tn_model *model) {
  if (!model)
    return usageError("model is NULL");
  if (!model->parameters->manifest().lossScale)
    return usageError("the model '", model->parameters->manifest().model, "' has no loss scale: it does not train in f16");
  return model->parameters->ensureTraining();
}
tn_error *tn_model_get_loss_scale(const tn_model *model, double *scale, int64_t *good) {
  return guarded([&]() -> Status {
    Status status = scale && good ? readyScale(model) : usageError("scale or good is NULL");
    if (status.failed())
      return status;
    auto now = model->parameters->lossScale();
    if (now.ok()) {
      *scale = static_cast<double>((*now)->scale);
      *good = (*now)->good;
    }
    return now.status();
  });
}
tn_error *tn_model_set_loss_scale(tn_model *model, double scale, int64_t good) {
  return guarded([&]() -> Status {
    Status status = readyScale(model);
    if (status.ok() && !(static_cast<float>(scale) > 0 && std::isfinite(static_cast<float>(scale)) && good >= 0))
      status = usageError("a loss scale is a number from 1.4e-45 to 3.4e38, as f32 holds them, with a count from 0, not ", scale,
                          " and ", good);
    return status.ok() ? model->parameters->setLossScale(scale, good) : status;
  });
}

tn_error *tn_context_get_scalar(const tn_context *context, const char *output, double *value) {
  return guarded([&]() -> Status {
    if (!context || !output || !value)
      return usageError("context, output or value is NULL");
    const std::vector<BoundTensor> &outputs = context->context->outputs();
    std::string names;
    for (size_t i = 0; i < outputs.size(); ++i) {
      names += concat(names.empty() ? "" : ", ", outputs[i].name);
      if (outputs[i].name != output)
        continue;
      if (!isReal(outputs[i].type) || outputs[i].bytes != byteSize(outputs[i].type))
        return usageError("the output '", output, "' is not one real number");
      auto place = context->context->output(static_cast<int>(i));
      if (place.ok())
        *value = numberAt(outputs[i].type, *place, 0);
      return place.status();
    }
    return usageError("entry '", context->context->entry().name, "' has no output '", output, "', only ", names);
  });
}

/// What no file of a checkpoint can say, and no later load would take.
static Status checkProgress(const tn_progress &progress) {
  for (const auto &[field, value] :
       {std::pair("step", progress.step), {"position", progress.position}, {"skipped", progress.skipped}})
    if (value > uint64_t{INT64_MAX})
      return usageError("the ", field, " of a tn_progress is at most ", INT64_MAX, ", not ", value);
  return std::isfinite(progress.seconds) && progress.seconds >= 0
             ? Status()
             : usageError("the seconds of a tn_progress are a number, at least 0, not ", progress.seconds);
}

tn_error *tn_context_save_checkpoint(const tn_context *context, const char *directory, const tn_progress *progress, int keep) {
  return guarded([&]() -> Status {
    if (!context || !directory || !progress)
      return usageError("context, directory or progress is NULL");
    if (context->context->entry().kind != EntryInfo::Kind::Train)
      return usageError("entry '", context->context->entry().name, "' does not train; a checkpoint is that of a train entry");
    if (keep < 1)
      return usageError("a save keeps at least 1 checkpoint, not ", keep);
    if (Status status = checkProgress(*progress); status.failed())
      return status;
    tenon::train::RunState state;
    state.step = progress->step;
    state.position = progress->position;
    state.seed = progress->seed;
    state.skipped = progress->skipped;
    state.seconds = progress->seconds;
    std::error_code failed;
    std::filesystem::create_directory(directory, failed);
    if (failed)
      return fileError("create", directory, failed.value());
    return tenon::train::saveRun(directory, state, *context->context, keep);
  });
}
tn_error *tn_context_load_checkpoint(tn_context *context, const char *directory, const char *which, tn_progress *progress,
                                     tn_note note, void *user) {
  return guarded([&]() -> Status {
    if (!context || !directory || !progress)
      return usageError("context, directory or progress is NULL");
    if (context->context->entry().kind != EntryInfo::Kind::Train)
      return usageError("entry '", context->context->entry().name,
                        "' does not train; tn_model_load_checkpoint loads what it needs");
    tenon::train::RunState state;
    bool found = false;
    std::vector<std::string> notes;
    const std::string folder = checkpointsOf(directory);
    if (Status status = tenon::train::loadRun(folder, which ? which : "", state, *context->context, found, notes);
        status.failed())
      return status;
    if (!found)
      return inputError("there is no checkpoint in '", folder, "'");
    *progress = {state.step, state.position, state.seed, state.skipped, state.seconds};
    context->context->setSeed(state.seed);
    context->context->setStep(state.step * static_cast<uint64_t>(context->context->parameters()->manifest().accumulate));
    tell(notes, note, user);
    return {};
  });
}
tn_error *tn_model_load_checkpoint(tn_model *model, const char *directory, const char *which, uint64_t *step, tn_note note,
                                   void *user) {
  return guarded([&]() -> Status {
    if (!model || !directory || !step)
      return usageError("model, directory or step is NULL");
    std::vector<std::string> notes;
    if (Status status = tenon::train::loadWeights(checkpointsOf(directory), which ? which : "", *model->parameters, *step, notes);
        status.failed())
      return status;
    tell(notes, note, user);
    return {};
  });
}
