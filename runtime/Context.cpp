#include "runtime/Context.h"
#include "runtime/Checked.h"
#include "runtime/InputValues.h"
#include <cstring>

namespace tenon::runtime {

namespace {

/// Bytes of a tensor, with shape filled in; nullopt if a size is negative or too large.
std::optional<uint64_t> bindShape(const std::vector<int64_t> &stack, const std::vector<SizeForm> &forms, DataType type,
                                  std::span<const int64_t> dims, std::vector<int64_t> &shape) {
  shape = stack;
  for (const SizeForm &form : forms) {
    auto size = form.evaluate(dims);
    if (!size)
      return std::nullopt;
    shape.push_back(*size);
  }
  auto elements = checkedProduct(std::span<const int64_t>(shape));
  auto bytes = elements ? checkedMultiply<uint64_t>(static_cast<uint64_t>(*elements), byteSize(type)) : std::nullopt;
  return bytes && *bytes < (uint64_t(1) << 47) ? bytes : std::nullopt;
}

/// Places for tensors one after the other on 64-byte borders.
Expected<uint64_t> layOut(const std::vector<BoundTensor> &tensors, std::vector<uint64_t> &places) {
  uint64_t end = 0;
  for (const BoundTensor &tensor : tensors) {
    places.push_back(end);
    auto next = checkedAdd(end, tensor.bytes);
    auto aligned = next ? checkedAlign(*next, 64) : std::nullopt;
    if (!aligned)
      return resourceError("the tensors are larger than the address space");
    end = *aligned;
  }
  return end;
}

template <typename T> void fill(char *target, uint64_t bytes, double value) {
  T *values = reinterpret_cast<T *>(target);
  std::fill(values, values + bytes / sizeof(T), static_cast<T>(value));
}

void fillState(char *target, const BoundTensor &tensor, double value) {
  switch (tensor.type) {
  case DataType::F64:
    return fill<double>(target, tensor.bytes, value);
  case DataType::F32:
    return fill<float>(target, tensor.bytes, value);
  case DataType::I64:
    return fill<int64_t>(target, tensor.bytes, value);
  case DataType::I32:
    return fill<int32_t>(target, tensor.bytes, value);
  default:
    return fill<uint8_t>(target, tensor.bytes, value != 0);
  }
}

} // namespace

Context::~Context() = default;

Expected<std::unique_ptr<Context>> Context::create(std::shared_ptr<Parameters> parameters, std::string_view entryName,
                                                   const std::map<std::string, int64_t> &dims, std::shared_ptr<ThreadPool> pool) {
  const EntryInfo *info = parameters->manifest().findEntry(entryName);
  std::vector<int64_t> values;
  if (info) {
    for (const DimInfo &dim : info->dims) {
      auto found = dims.find(dim.name);
      if (found == dims.end())
        return usageError("entry '", entryName, "' needs a value for the dim ", dim.name);
      values.push_back(found->second);
    }
    for (const auto &[name, value] : dims)
      if (info->dimIndex(name) < 0)
        return usageError("entry '", entryName, "' has no dim ", name);
  }
  return create(std::move(parameters), entryName, std::span<const int64_t>(values), std::move(pool));
}

Expected<std::unique_ptr<Context>> Context::create(std::shared_ptr<Parameters> parameters, std::string_view entryName,
                                                   std::span<const int64_t> dims, std::shared_ptr<ThreadPool> pool) {
  std::unique_ptr<Context> result(new Context);
  const Artifact &artifact = *parameters->owner();
  int index = artifact.entryIndex(entryName);
  if (index < 0) {
    std::string list;
    for (const EntryInfo &entry : artifact.manifest().entries)
      list += concat(list.empty() ? "" : ", ", entry.name);
    return usageError("the artifact has no entry '", entryName, "', only ", list);
  }
  result->model = std::move(parameters);
  result->pool = std::move(pool);
  result->info = &artifact.manifest().entries[static_cast<size_t>(index)];
  result->code = &artifact.entry(index);
  result->runner = result->code->run[static_cast<int>(artifact.tier())];
  Status status = result->bind(dims);
  if (status.ok())
    status = result->allocate();
  if (status.ok() && result->info->slices > 1)
    status = result->bindSlices();
  if (status.ok())
    result->listGroups();
  if (status.failed())
    return status.in(concat("entry '", entryName, "'"));
  return result;
}

Status Context::bind(std::span<const int64_t> dims) {
  if (dims.size() != info->dims.size())
    return usageError("expected ", info->dims.size(), " dims, got ", dims.size());
  dimValues.assign(dims.begin(), dims.end());
  codeDims = dimValues;
  if (int cut = info->dimIndex(info->sliceAxis); info->slices > 1 && cut >= 0) {
    if (dims[static_cast<size_t>(cut)] % info->slices != 0)
      return inputError("the recipe cuts a batch in ", info->slices, " slices, which do not divide ", info->sliceAxis, " = ",
                        dims[static_cast<size_t>(cut)]);
    codeDims[static_cast<size_t>(cut)] /= info->slices;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const DimInfo &dim = info->dims[i];
    if (codeDims[i] < dim.min || (dim.max >= 0 && dims[i] > dim.max))
      return inputError("the dim ", dim.name, " is ", dims[i], ", expected at least ", dim.min,
                        dim.max >= 0 ? concat(" and at most ", dim.max) : std::string(),
                        dims[i] >= 1 && dims[i] < dim.min ? ": with fewer a mean runs over nothing" : std::string());
  }
  auto tensors = [&](const std::vector<TensorInfo> &list, std::vector<BoundTensor> &bound) -> Status {
    for (const TensorInfo &item : list) {
      BoundTensor tensor{item.name, item.type, {}, 0};
      auto bytes = bindShape({}, item.shape, item.type, codeDims, tensor.shape);
      if (!bytes)
        return inputError("the size of '", item.name, "' is negative or too large for these dims");
      tensor.bytes = *bytes;
      bound.push_back(std::move(tensor));
    }
    return {};
  };
  Status status = tensors(info->inputs, inputTensors);
  for (size_t i = 0; i < inputTensors.size(); ++i) // the caller's are those of the whole batch
    if (isCut.push_back(info->slices > 1 && !info->inputs[i].axes.empty() && info->inputs[i].axes[0] == info->sliceAxis);
        isCut[i]) {
      inputTensors[i].shape[0] *= info->slices;
      inputTensors[i].bytes *= static_cast<uint64_t>(info->slices);
    }
  if (status.ok())
    status = tensors(info->outputs, outputTensors);
  if (status.failed())
    return status;
  for (const TensorInfo &item : info->inputs) {
    auto bound = item.bound ? item.bound->evaluate(codeDims) : std::optional<int64_t>(-1);
    if (!bound)
      return inputError("the bound of '", item.name, "' is negative for these dims");
    inputBounds.push_back(*bound);
  }
  offsets.assign(static_cast<size_t>(code->offset_count) + 1, 0);
  code->bind(codeDims.data(), offsets.data(), sizes);
  for (const StateInfo &item : info->states) {
    BoundTensor tensor{item.name, item.type, {}, 0};
    auto bytes = bindShape(item.stack, item.shape, item.type, codeDims, tensor.shape);
    if (!bytes)
      return inputError("the size of the state '", item.name, "' is too large for these dims");
    if (info->slices > 1 && (item.axes.empty() || item.axes[0] != info->sliceAxis || item.ofModel || item.inPlace))
      return bugError("the state '", item.name, "' cannot be cut in slices");
    tensor.bytes = *bytes;
    int64_t offset = offsets[stateTensors.size()];
    // The compiler and the manifest must agree, or a state would be reset or saved over its neighbour.
    int64_t arena = item.inPlace ? sizes[3] : sizes[0];
    if (offset < 0 || arena < 0 || static_cast<uint64_t>(offset) + *bytes > static_cast<uint64_t>(arena))
      return bugError("the state '", item.name, "' leaves the state arena: manifest and code disagree");
    if (info->slices > 1) { // the caller's are those of the whole batch, which lie one behind the other
      tensor.shape[item.stack.size()] *= info->slices;
      tensor.bytes *= static_cast<uint64_t>(info->slices);
      auto next = checkedAdd(stateArenaBytes, tensor.bytes);
      auto aligned = next ? checkedAlign(*next, 64) : std::nullopt;
      if (!aligned)
        return resourceError("the states are larger than the address space");
      offset = static_cast<int64_t>(stateArenaBytes);
      stateArenaBytes = *aligned;
    }
    stateOffsets.push_back(offset);
    stateTensors.push_back(std::move(tensor));
    auto bound = item.bound ? item.bound->evaluate(codeDims) : std::optional<int64_t>(-1);
    if (!bound)
      return inputError("the bound of the state '", item.name, "' is negative for these dims");
    stateBounds.push_back(*bound);
  }
  if (info->slices == 1)
    stateArenaBytes = static_cast<uint64_t>(std::max<int64_t>(sizes[0], 0));
  if (sizes[0] < 0 || sizes[1] < 0 || sizes[2] < 0 || sizes[3] < 0)
    return inputError("the buffers are too large for these dims");
  return {};
}

Status Context::allocate() {
  std::vector<uint64_t> places;
  auto own = [&](const std::vector<BoundTensor> &tensors, Arena &arena, std::vector<void *> &owned, const char *what) -> Status {
    places.clear();
    auto bytes = layOut(tensors, places);
    if (!bytes.ok())
      return bytes.status();
    auto space = Arena::allocate(*bytes, 0, what);
    if (!space.ok())
      return space.status();
    arena = space.take();
    for (uint64_t place : places)
      owned.push_back(arena.data() + place);
    return {};
  };
  Status status = own(inputTensors, inputArena, ownedInputs, "inputs");
  if (status.ok())
    status = own(outputTensors, outputArena, ownedOutputs, "outputs");
  if (status.failed())
    return status;
  inputPointers = ownedInputs;
  outputPointers = ownedOutputs;
  auto stride = checkedAlign(static_cast<uint64_t>(sizes[2]), 64);
  auto strips = stride ? checkedMultiply<uint64_t>(*stride, static_cast<uint64_t>(pool->workers())) : std::nullopt;
  if (!strips)
    return resourceError("the scratch space is larger than the address space");
  struct Request {
    Arena &arena;
    uint64_t bytes;
    unsigned stagger;
    const char *name;
  };
  // Parameters, gradients and moments have the first four steps of the stagger.
  for (Request request :
       {Request{workspace, static_cast<uint64_t>(sizes[1]), 4, "workspace"}, Request{scratch, *strips, 5, "scratch"},
        Request{oldStates, stateArenaBytes, 6, "states"}, Request{newStates, stateArenaBytes, 7, "new states"},
        Request{keptStates, static_cast<uint64_t>(sizes[3]), 6, "kept states"}}) {
    auto space = Arena::allocate(request.bytes, request.stagger, request.name);
    if (!space.ok())
      return space.status();
    request.arena = space.take();
  }
  bool trains = info->kind == EntryInfo::Kind::Train || info->kind == EntryInfo::Kind::Grad;
  status = info->kind == EntryInfo::Kind::Train ? model->ensureTraining()
           : trains                             ? model->ensure(ParameterArena::Gradients)
                                                : Status();
  if (status.ok() && trains && info->slices > 1)
    status = model->ensure(ParameterArena::Slices);
  if (status.failed())
    return status;
  arenas[TN_ARENA_STATES] = oldStates.data();
  arenas[TN_ARENA_NEXT_STATES] = newStates.data();
  arenas[TN_ARENA_WORKSPACE] = workspace.data();
  arenas[TN_ARENA_KEPT_STATES] = keptStates.data();
  context.dims = codeDims.data();
  context.arenas = arenas;
  context.inputs = inputPointers.data();
  context.outputs = outputPointers.data();
  context.offsets = offsets.data();
  context.parallel_for = &ThreadPool::parallelFor;
  context.scratch = scratch.data();
  context.scratch_stride = static_cast<int64_t>(*stride);
  context.pool = pool.get();
  context.owner = this;
  context.keep_level = -1;
  context.level_stride = static_cast<int64_t>(model->manifest().levelStride());
  resetStates();
  return {};
}

Status Context::borrowInput(int index, void *buffer) {
  if (index < 0 || static_cast<size_t>(index) >= inputPointers.size())
    return usageError("entry '", info->name, "' has no input number ", index);
  if (reinterpret_cast<uintptr_t>(buffer) % 64 != 0)
    return usageError("a buffer for input '", inputTensors[static_cast<size_t>(index)].name, "' must be 64-byte aligned");
  inputPointers[static_cast<size_t>(index)] = buffer ? buffer : ownedInputs[static_cast<size_t>(index)];
  return {};
}

Status Context::borrowOutput(int index, void *buffer) {
  if (index < 0 || static_cast<size_t>(index) >= outputPointers.size())
    return usageError("entry '", info->name, "' has no output number ", index);
  if (reinterpret_cast<uintptr_t>(buffer) % 64 != 0)
    return usageError("a buffer for output '", outputTensors[static_cast<size_t>(index)].name, "' must be 64-byte aligned");
  outputPointers[static_cast<size_t>(index)] = buffer ? buffer : ownedOutputs[static_cast<size_t>(index)];
  return {};
}

void *Context::state(int index) const {
  bool inPlace = info->states[static_cast<size_t>(index)].inPlace;
  return arenas[inPlace ? TN_ARENA_KEPT_STATES : TN_ARENA_STATES] + stateOffsets[static_cast<size_t>(index)];
}

int64_t Context::capacity() const { return info->positionState < 0 ? -1 : info->capacity.evaluate(dimValues).value_or(0); }

int64_t Context::position() const {
  return info->positionState < 0 ? -1 : *static_cast<const int32_t *>(state(info->positionState));
}

Status Context::rewind(int64_t count) {
  if (info->positionState < 0)
    return usageError("entry '", info->name, "' walks no axis");
  if (count < 0 || count > position())
    return usageError("entry '", info->name, "' keeps ", position(), " places of ", info->walk, "; it cannot go back to ", count);
  *static_cast<int32_t *>(state(info->positionState)) = static_cast<int32_t>(count);
  return {};
}

Status Context::checkRoom() const {
  if (info->positionState < 0)
    return {};
  int dim = info->dimIndex(info->walk);
  int64_t count = dim < 0 ? 1 : dimValues[static_cast<size_t>(dim)];
  if (position() >= 0 && position() <= capacity() - count)
    return {};
  return inputError("entry '", info->name, "' keeps at most ", capacity(), " places of ", info->walk, "; ", position(),
                    " are taken, so ", count, " more do not fit");
}

Status Context::checkInputs() const {
  for (size_t i = 0; i < inputTensors.size(); ++i) {
    const BoundTensor &tensor = inputTensors[i];
    Status status;
    if (tensor.type == DataType::Bool)
      status = checkTruth(tensor, inputPointers[i]);
    else if (inputBounds[i] >= 0)
      status = checkRange("input", tensor, inputPointers[i], inputBounds[i]);
    if (status.failed())
      return status.in(concat("entry '", info->name, "'"));
  }
  for (size_t i = 0; i < stateTensors.size(); ++i) // a file may have brought them
    if (stateBounds[i] >= 0)
      if (Status status = checkRange("state", stateTensors[i], state(static_cast<int>(i)), stateBounds[i]); status.failed())
        return status.in(concat("entry '", info->name, "'"));
  return {};
}

Status Context::run() { return call(context.flags); }

Status Context::call(uint64_t flags) {
  const bool computes = !(flags & TN_UPDATE_ONLY), updates = !(flags & TN_GRADIENTS_ONLY);
  if (!computes && (!updates || info->kind != EntryInfo::Kind::Train))
    return usageError("entry '", info->name, "' ",
                      updates ? "has no update half: it does not train" : "runs one half alone, or both without a flag");
  if (updates && info->kind == EntryInfo::Kind::Train && model->manifest().epochs > 0 && context.total_steps == 0)
    return usageError("entry '", info->name, "': the schedule counts epochs; say first how many steps these are");
  if (computes && updates && sliceCount < info->slices)
    return usageError("entry '", info->name, "': ", sliceCount, " of ", info->slices,
                      " slices are no step; run the gradients half, add the gradients of the others, then run the update half");
  if (Status status = checkRoom(); status.failed())
    return status;
  // Another context may have had gradients or moments allocated since the last run.
  for (int i = 0; i < 4; ++i)
    arenas[i] = model->arena(static_cast<ParameterArena>(i));
  arenas[TN_ARENA_SUMS] = model->arena(ParameterArena::Sums);
  arenas[TN_ARENA_COPIES] = model->arena(ParameterArena::Copies);
  arenas[TN_ARENA_SLICES] = model->arena(ParameterArena::Slices);
  arenas[TN_ARENA_LOSS_SCALE] = model->arena(ParameterArena::LossScale);
  if (computes) {
    loadModelStates();
    if (Status status = checkInputs(); status.failed())
      return status;
  }
  int32_t code;
  {
    FloatingPointScope mode;
    computing = &mode;
    code = info->slices > 1 ? runSlices(flags) : runCode(flags);
    computing = nullptr;
  }
  if (code != 0)
    return inputError("entry '", info->name, "' failed its run-time check number ", code);
  if (!computes)
    return {};
  if (!stateTensors.empty())
    std::swap(arenas[TN_ARENA_STATES], arenas[TN_ARENA_NEXT_STATES]);
  if (info->kind == EntryInfo::Kind::Train)
    storeModelStates();
  return {};
}

int32_t Context::runCode(uint64_t flags) {
  TnContext call = context;
  call.flags = flags;
  return runner(&call);
}

void Context::loadModelStates() {
  if (seenModelStates == model->modelStateVersion())
    return;
  for (size_t i = 0; i < stateTensors.size(); ++i)
    if (info->states[i].ofModel) {
      const std::vector<char> &bytes = model->modelStates().find(info->states[i].name)->second.bytes;
      std::memcpy(state(static_cast<int>(i)), bytes.data(), bytes.size());
    }
  seenModelStates = model->modelStateVersion();
}

void Context::storeModelStates() {
  bool any = false;
  for (size_t i = 0; i < stateTensors.size(); ++i)
    if (info->states[i].ofModel) {
      std::vector<char> &bytes = model->modelStates().find(info->states[i].name)->second.bytes;
      std::memcpy(bytes.data(), state(static_cast<int>(i)), bytes.size());
      any = true;
    }
  if (any) {
    model->touchModelStates();
    seenModelStates = model->modelStateVersion();
  }
}

void Context::resetStates() {
  for (size_t i = 0; i < stateTensors.size(); ++i)
    if (!info->states[i].ofModel)
      fillState(static_cast<char *>(state(static_cast<int>(i))), stateTensors[i], info->states[i].initial);
}

Status Context::copyStatesFrom(const Context &other) {
  for (int pass = 0; pass < 2; ++pass) // nothing is copied unless all fits
    for (size_t i = 0; i < stateTensors.size(); ++i) {
      size_t j = 0;
      while (j < other.stateTensors.size() && other.stateTensors[j].name != stateTensors[i].name)
        ++j;
      if (j == other.stateTensors.size())
        return usageError("entry '", other.info->name, "' has no state '", stateTensors[i].name, "'");
      if (other.stateTensors[j].shape != stateTensors[i].shape || other.stateTensors[j].type != stateTensors[i].type)
        return usageError("the state '", stateTensors[i].name, "' differs in shape between '", info->name, "' and '",
                          other.info->name, "'");
      if (pass == 1)
        std::memcpy(state(static_cast<int>(i)), other.state(static_cast<int>(j)), stateTensors[i].bytes);
    }
  return {};
}

} // namespace tenon::runtime
