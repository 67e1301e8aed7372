// The C ABI over the internal classes: errors, thread pools, models and contexts. CApiTraining.cpp and CApiGeneration.cpp have
// the rest.
#include "runtime/base/Printable.h"
#include "runtime/capi/CApiObjects.h"
#include <algorithm>
#include <cstring>

static_assert(TN_F64 == static_cast<int>(DataType::F64) && TN_F32 == static_cast<int>(DataType::F32) &&
              TN_F16 == static_cast<int>(DataType::F16) && TN_BF16 == static_cast<int>(DataType::BF16) &&
              TN_I64 == static_cast<int>(DataType::I64) && TN_I32 == static_cast<int>(DataType::I32) &&
              TN_BOOL == static_cast<int>(DataType::Bool));

// What is left when there is no memory for an error: freed by nobody.
static tn_error outOfMemory{TN_ERROR_RESOURCE, "out of memory"};

tn_error *tenon::runtime::errorOf(const Status &status) {
  if (status.ok())
    return nullptr;
  auto *error = new (std::nothrow) tn_error{status.exitCode(), {}};
  if (!error)
    return &outOfMemory;
  try {
    error->message = printable(status.message());
  } catch (const std::bad_alloc &) {
  }
  return error;
}
tn_error *tenon::runtime::outOfMemoryError() { return &outOfMemory; }

namespace {

template <typename Sizes>
Status fillInfo(const std::string &name, DataType type, const Sizes &shape, uint64_t bytes, tn_tensor_info *info) {
  if (shape.size() > TN_MAX_RANK)
    return usageError("'", name, "' has more than ", static_cast<int>(TN_MAX_RANK), " axes");
  *info = {};
  info->name = name.c_str();
  info->type = static_cast<int32_t>(type);
  info->rank = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), info->shape);
  info->bytes = bytes;
  return {};
}

Expected<const BoundTensor *> tensorAt(const std::vector<BoundTensor> &tensors, int index, const char *what) {
  if (index < 0 || static_cast<size_t>(index) >= tensors.size())
    return usageError("there is no ", what, " number ", index);
  return &tensors[static_cast<size_t>(index)];
}

Status infoAt(const std::vector<BoundTensor> &tensors, int index, const char *what, tn_tensor_info *info) {
  auto tensor = tensorAt(tensors, index, what);
  if (!tensor.ok())
    return tensor.status();
  const BoundTensor &found = **tensor;
  return fillInfo(found.name, found.type, found.shape, found.bytes, info);
}

/// The size must fit exactly, so that a wrong shape is noticed.
Status sizeAt(const std::vector<BoundTensor> &tensors, int index, const char *what, const void *values, uint64_t bytes) {
  auto tensor = tensorAt(tensors, index, what);
  if (!tensor.ok())
    return tensor.status();
  if (bytes != (*tensor)->bytes)
    return usageError(what, " '", (*tensor)->name, "' has ", (*tensor)->bytes, " bytes, got ", bytes);
  return bytes == 0 ? Status() : need(values, "values");
}

Status copyTo(void *values, const Expected<const void *> &output, uint64_t bytes) {
  if (output.ok())
    std::memcpy(values, *output, bytes);
  return output.status();
}

int findIn(const std::vector<BoundTensor> &tensors, const char *name) {
  for (size_t i = 0; i < tensors.size() && name; ++i)
    if (tensors[i].name == name)
      return static_cast<int>(i);
  return -1;
}

/// Zeros that nobody meant would give numbers that look like results.
Status checkGiven(const tn_context &context) {
  const Context &inside = *context.context;
  for (size_t i = 0; i < inside.inputs().size(); ++i)
    if (!context.set[i] && !context.lent[i] && inside.inputs()[i].bytes > 0 && inside.readsInput(static_cast<int>(i)))
      return usageError("entry '", inside.entry().name, "' reads the input '", inside.inputs()[i].name,
                        "', which was never set in this context; set it first");
  return inside.parameters()->checkGiven();
}

const EntryInfo *entryAt(const tn_model *model, int entry) {
  const auto &entries = model->artifact->manifest().entries;
  return entry < 0 || static_cast<size_t>(entry) >= entries.size() ? nullptr : &entries[static_cast<size_t>(entry)];
}

} // namespace

int tn_error_code(const tn_error *error) { return error ? error->code : 0; }
const char *tn_error_message(const tn_error *error) { return error ? error->message.c_str() : ""; }
void tn_error_free(tn_error *error) {
  if (error != &outOfMemory)
    delete error;
}
int tn_abi_version(void) { return TN_ABI_VERSION; }

tn_error *tn_threads_create(int count, tn_threads **threads) {
  return guarded([&]() -> Status {
    if (Status status = need(threads, "threads"); status.failed())
      return status;
    auto pool = ThreadPool::create(count);
    if (pool.ok())
      *threads = new tn_threads{pool.take()};
    return pool.status();
  });
}
int tn_threads_count(const tn_threads *threads) { return threads->pool->workers(); }
void tn_threads_free(tn_threads *threads) { delete threads; }

tn_error *tn_model_open(const char *path, const char *tier, tn_model **model) {
  return guarded([&]() -> Status {
    if (!path || !model)
      return usageError("path or model is NULL");
    auto artifact = Artifact::open(path, tier ? tier : "");
    if (!artifact.ok())
      return artifact.status();
    auto parameters = Parameters::create(*artifact);
    if (!parameters.ok())
      return parameters.status();
    auto result = std::make_unique<tn_model>(
        tn_model{*artifact, *parameters, (*parameters)->names(), (*parameters)->names(ParameterArena::Moment1)});
    *model = result.release();
    return {};
  });
}
void tn_model_close(tn_model *model) { delete model; }
const char *tn_model_manifest(const tn_model *model) { return model->artifact->manifestText().data(); }
const char *tn_model_tier(const tn_model *model) { return model->artifact->tier().data(); }
int tn_model_entry_count(const tn_model *model) { return static_cast<int>(model->artifact->manifest().entries.size()); }
const char *tn_model_entry_name(const tn_model *model, int entry) {
  const EntryInfo *info = entryAt(model, entry);
  return info ? info->name.c_str() : nullptr;
}
int tn_model_entry_find(const tn_model *model, const char *name) { return name ? model->artifact->entryIndex(name) : -1; }
int tn_model_dim_count(const tn_model *model, int entry) {
  const EntryInfo *info = entryAt(model, entry);
  return info ? static_cast<int>(info->dims.size()) : -1;
}
const char *tn_model_dim_name(const tn_model *model, int entry, int dim) {
  const EntryInfo *info = entryAt(model, entry);
  bool there = info && dim >= 0 && static_cast<size_t>(dim) < info->dims.size();
  return there ? info->dims[static_cast<size_t>(dim)].name.c_str() : nullptr;
}

tn_error *tn_model_initialize(tn_model *model, uint64_t seed) {
  return guarded([&] { return model->parameters->initialize(seed); });
}
int tn_model_parameter_count(const tn_model *model) { return static_cast<int>(model->names.size()); }
Status tenon::runtime::tensorInfo(const tn_model *model, ParameterArena arena, const char *what, int number,
                                  tn_tensor_info *info) {
  const std::vector<std::string> &names = arena == ParameterArena::Moment1 ? model->meanNames : model->names;
  if (number < 0 || static_cast<size_t>(number) >= names.size() || !info)
    return usageError("there is no ", what, " number ", number, ", or info is NULL");
  const std::string &name = names[static_cast<size_t>(number)];
  auto place = model->parameters->find(name, arena);
  if (!place.ok())
    return place.status();
  const DataType type = place->info->type;
  return fillInfo(name, type, place->info->shape, static_cast<uint64_t>(place->info->elements) * byteSize(type), info);
}
tn_error *tn_model_parameter_info(const tn_model *model, int parameter, tn_tensor_info *info) {
  return guarded([&] { return tensorInfo(model, ParameterArena::Values, "parameter", parameter, info); });
}
int tn_model_parameter_find(const tn_model *model, const char *name) {
  for (size_t i = 0; i < model->names.size() && name; ++i)
    if (model->names[i] == name)
      return static_cast<int>(i);
  return -1;
}
tn_error *tn_model_get_parameter(const tn_model *model, const char *name, void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    if (!name || !values)
      return usageError("name or values is NULL");
    return model->parameters->get(name, values, bytes);
  });
}
tn_error *tn_model_set_parameter(tn_model *model, const char *name, const void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    if (!name || !values)
      return usageError("name or values is NULL");
    return model->parameters->set(name, values, bytes);
  });
}
tn_error *tn_model_get_gradient(const tn_model *model, const char *name, void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    if (!name || !values)
      return usageError("name or values is NULL");
    return model->parameters->get(name, values, bytes, ParameterArena::Gradients);
  });
}
tn_error *tn_model_set_gradient(tn_model *model, const char *name, const void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    if (!name || !values)
      return usageError("name or values is NULL");
    Status status = model->parameters->ensure(ParameterArena::Gradients);
    return status.ok() ? model->parameters->set(name, values, bytes, ParameterArena::Gradients) : status;
  });
}
tn_error *tn_model_gradient_data(tn_model *model, const char *name, void **values, uint64_t *bytes) {
  return guarded([&]() -> Status {
    if (!name || !values || !bytes)
      return usageError("name, values or bytes is NULL");
    auto place = model->parameters->find(name);
    Status status = place.ok() ? model->parameters->ensure(ParameterArena::Gradients) : place.status();
    if (status.failed())
      return status;
    const ParameterInfo &info = *place->info;
    const DeviceView gradients = model->parameters->arena(ParameterArena::Gradients);
    if (!gradients.hostView())
      return usageError("the gradient of '", name, "' is in the memory of the device ", gradients.device().name(),
                        "; tn_model_get_gradient copies it");
    *values = gradients.hostView() + info.offset + info.stride * static_cast<uint64_t>(place->stackIndex);
    *bytes = static_cast<uint64_t>(info.elements) * byteSize(info.type);
    return {};
  });
}
tn_error *tn_model_load(tn_model *model, const char *path, const char *names) {
  return guarded([&]() -> Status {
    if (Status status = need(path, "path"); status.failed())
      return status;
    LoadOptions options;
    options.scheme = names ? names : "";
    return model->parameters->load(path, options).status();
  });
}
tn_error *tn_model_load_partial(tn_model *model, const char *path, const char *names,
                                void (*stayed)(void *context, const char *name, const char *reason), void *context) {
  return guarded([&]() -> Status {
    if (Status status = need(path, "path"); status.failed())
      return status;
    auto report = model->parameters->load(
        path, {.scheme = names ? names : "", .allowMissing = true, .allowExtra = true, .allowOther = true});
    if (!report.ok())
      return report.status();
    if (report->loaded.empty())
      return inputError("nothing in '", path, "' is a parameter of the model");
    for (const LoadReport::Stayed &one : report->stayed)
      if (stayed)
        stayed(context, one.name.c_str(), one.reason.c_str());
    return {};
  });
}
tn_error *tn_model_save(const tn_model *model, const char *path, const char *names) {
  return guarded([&]() -> Status {
    if (Status status = need(path, "path"); status.failed())
      return status;
    return model->parameters->save(path, ParameterArena::Values, names ? names : "");
  });
}

tn_error *tn_context_create(tn_model *model, const char *entry, const int64_t *dims, int dim_count, tn_threads *threads,
                            tn_context **context) {
  return guarded([&]() -> Status {
    if (!model || !entry || !context || dim_count < 0 || (dim_count > 0 && !dims))
      return usageError("model, entry, dims or context is NULL");
    auto pool = poolOf(threads);
    if (!pool.ok())
      return pool.status();
    auto made = Context::create(model->parameters, entry, std::span<const int64_t>(dims, static_cast<size_t>(dim_count)), *pool);
    if (made.ok()) {
      const size_t inputs = (*made)->inputs().size();
      *context = new tn_context{made.take(), std::vector<bool>(inputs), std::vector<bool>(inputs)};
    }
    return made.status();
  });
}
void tn_context_free(tn_context *context) { delete context; }
int tn_context_input_count(const tn_context *context) { return static_cast<int>(context->context->inputs().size()); }
int tn_context_output_count(const tn_context *context) { return static_cast<int>(context->context->outputs().size()); }
int tn_context_state_count(const tn_context *context) { return static_cast<int>(context->context->states().size()); }
tn_error *tn_context_input_info(const tn_context *context, int input, tn_tensor_info *info) {
  return guarded([&] { return infoAt(context->context->inputs(), input, "input", info); });
}
tn_error *tn_context_output_info(const tn_context *context, int output, tn_tensor_info *info) {
  return guarded([&] { return infoAt(context->context->outputs(), output, "output", info); });
}
tn_error *tn_context_state_info(const tn_context *context, int state, tn_tensor_info *info) {
  return guarded([&] { return infoAt(context->context->states(), state, "state", info); });
}
int tn_context_input_find(const tn_context *context, const char *name) { return findIn(context->context->inputs(), name); }
int tn_context_output_find(const tn_context *context, const char *name) { return findIn(context->context->outputs(), name); }
int tn_context_state_find(const tn_context *context, const char *name) { return findIn(context->context->states(), name); }

tn_error *tn_context_set_input(tn_context *context, int input, const void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    Status status = sizeAt(context->context->inputs(), input, "input", values, bytes);
    if (status.ok() && bytes > 0)
      std::memcpy(context->context->input(input), values, bytes);
    if (status.ok())
      context->set[static_cast<size_t>(input)] = true;
    return status;
  });
}
tn_error *tn_context_get_output(const tn_context *context, int output, void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    Status status = sizeAt(context->context->outputs(), output, "output", values, bytes);
    if (status.ok() && bytes > 0)
      return copyTo(values, context->context->output(output), bytes);
    return status;
  });
}
tn_error *tn_context_get_state(const tn_context *context, int state, void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    Status status = sizeAt(context->context->states(), state, "state", values, bytes);
    if (status.ok())
      status = context->context->loadModelStates();
    if (status.ok() && bytes > 0)
      return context->context->state(state).read(values);
    return status;
  });
}
tn_error *tn_context_set_state(tn_context *context, int state, const void *values, uint64_t bytes) {
  return guarded([&]() -> Status {
    Status status = sizeAt(context->context->states(), state, "state", values, bytes);
    if (status.ok() && bytes > 0)
      return context->context->setState(state, [&](char *target) {
        std::memcpy(target, values, bytes);
        return Status();
      });
    return status;
  });
}
tn_error *tn_context_lend_input(tn_context *context, int input, void *buffer) {
  return guarded([&]() -> Status {
    Status status = context->context->borrowInput(input, buffer);
    if (status.ok())
      context->lent[static_cast<size_t>(input)] = buffer != nullptr;
    return status;
  });
}
tn_error *tn_context_lend_output(tn_context *context, int output, void *buffer) {
  return guarded([&] { return context->context->borrowOutput(output, buffer); });
}
void tn_context_set_seed(tn_context *context, uint64_t seed) { context->context->setSeed(seed); }
void tn_context_set_step(tn_context *context, uint64_t step) { context->context->setStep(step); }
void tn_context_set_total_steps(tn_context *context, uint64_t steps) { context->context->setTotalSteps(steps); }
void tn_context_set_flags(tn_context *context, uint64_t flags) { context->context->setFlags(flags); }
tn_error *tn_context_run(tn_context *context) {
  return guarded([&]() -> Status {
    Status status = checkGiven(*context);
    return status.ok() ? context->context->run() : status;
  });
}
tn_error *tn_context_run_gradients(tn_context *context) {
  return guarded([&]() -> Status {
    Status status = checkGiven(*context);
    return status.ok() ? context->context->runGradients() : status;
  });
}
tn_error *tn_context_run_update(tn_context *context) {
  return guarded([&]() -> Status {
    Status status = context->context->parameters()->checkGiven();
    return status.ok() ? context->context->runUpdate() : status;
  });
}
int tn_context_group_count(const tn_context *context) { return static_cast<int>(context->context->groups().size()); }
int tn_context_group_size(const tn_context *context, int group) {
  const auto &groups = context->context->groups();
  return group < 0 || static_cast<size_t>(group) >= groups.size() ? -1
                                                                  : static_cast<int>(groups[static_cast<size_t>(group)].size());
}
int tn_context_group_parameter(const tn_context *context, int group, int index) {
  return index < 0 || index >= tn_context_group_size(context, group)
             ? -1
             : context->context->groups()[static_cast<size_t>(group)][static_cast<size_t>(index)];
}
void tn_context_on_group(tn_context *context, tn_group_ready ready, void *user) { context->context->onGroup(ready, user); }
int64_t tn_context_slice_count(const tn_context *context) { return context->context->slices(); }
tn_error *tn_context_set_slices(tn_context *context, int64_t first, int64_t count) {
  return guarded([&] { return context->context->setSlices(first, count); });
}
void tn_context_reset_states(tn_context *context) { context->context->resetStates(); }
uint64_t tn_context_step(const tn_context *context) { return context->context->step(); }
int64_t tn_context_position(const tn_context *context) { return context->context->position(); }
int64_t tn_context_capacity(const tn_context *context) { return context->context->capacity(); }
tn_error *tn_context_rewind(tn_context *context, int64_t count) {
  return guarded([&] { return context->context->rewind(count); });
}
uint64_t tn_context_bytes(const tn_context *context) {
  const Context &inside = *context->context;
  uint64_t sum = inside.workspaceBytes() + inside.scratchBytes() + inside.stateBytes() + inside.preparationBytes();
  for (const auto *tensors : {&inside.inputs(), &inside.outputs()})
    for (const BoundTensor &tensor : *tensors)
      sum += tensor.bytes;
  return sum;
}
