#include "runtime/context/Context.h"
#include "runtime/base/Checked.h"
#include "runtime/context/InputValues.h"
#include "runtime/context/Sizes.h"

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

} // namespace

Context::~Context() = default;

Expected<std::unique_ptr<Context>> Context::create(std::shared_ptr<Parameters> parameters, std::string_view entryName,
                                                   const std::map<std::string, int64_t> &dims, std::shared_ptr<ThreadPool> pool,
                                                   bool prepares) {
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
  return create(std::move(parameters), entryName, std::span<const int64_t>(values), std::move(pool), prepares);
}

Expected<std::unique_ptr<Context>> Context::create(std::shared_ptr<Parameters> parameters, std::string_view entryName,
                                                   std::span<const int64_t> dims, std::shared_ptr<ThreadPool> pool,
                                                   bool prepares) {
  return create(std::move(parameters), entryName, dims, std::move(pool), prepares, std::make_shared<Room>());
}

Expected<std::unique_ptr<Context>> Context::withSizes(std::span<const int64_t> dims) const {
  for (const StateInfo &state : info->states)
    if (!state.ofModel)
      return usageError("entry '", info->name, "' keeps the state '", state.name,
                        "' from run to run, which contexts of several sizes would each have");
  return create(model, info->name, dims, pool, true, room);
}

Expected<std::unique_ptr<Context>> Context::create(std::shared_ptr<Parameters> parameters, std::string_view entryName,
                                                   std::span<const int64_t> dims, std::shared_ptr<ThreadPool> pool, bool prepares,
                                                   std::shared_ptr<Room> room) {
  std::unique_ptr<Context> result(new Context);
  result->room = std::move(room);
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
  result->device = &artifact.device();
  Status status = result->bind(dims);
  if (status.ok())
    status = result->allocate();
  if (status.ok() && result->info->slices > 1)
    status = result->bindSlices();
  if (status.ok())
    result->listGroups();
  if (status.ok() && !result->info->prepare.empty() && prepares)
    status = result->createPreparation();
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
  if (Status status = checkSizes(*info, dims, codeDims); status.failed())
    return status;
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
  if (Status status = bindStates(); status.failed())
    return status;
  if (sizes[0] < 0 || sizes[1] < 0 || sizes[2] < 0 || sizes[3] < 0)
    return inputError("the buffers are too large for these dims");
  return {};
}

Status Context::bindStates() {
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
  return {};
}

Status Context::checkInputs() const {
  for (size_t i = 0; i < inputTensors.size(); ++i) {
    const BoundTensor &tensor = inputTensors[i];
    Status status;
    if (info->inputs[i].prepared) // by the entry that reads it
      continue;
    if (tensor.type == DataType::Bool)
      status = checkTruth(tensor, inputSide.host[i]);
    else if (inputBounds[i] >= 0)
      status = checkRange("input", tensor, inputSide.host[i], inputBounds[i]);
    if (status.failed())
      return status.in(concat("entry '", info->name, "'"));
  }
  for (size_t i = 0; i < stateTensors.size(); ++i) // a file may have brought them
    if (stateBounds[i] >= 0) {
      auto values = HostCopy::of(state(static_cast<int>(i)));
      Status status = values.ok() ? checkRange("state", stateTensors[i], values->data(), stateBounds[i]) : values.status();
      if (status.failed())
        return status.in(concat("entry '", info->name, "'"));
    }
  return {};
}

Status Context::run() { return call(context.flags); }

Status Context::call(uint64_t flags) {
  const bool computes = !(flags & TN_UPDATE_ONLY), updates = !(flags & TN_GRADIENTS_ONLY);
  if (!computes && !updates)
    return usageError("entry '", info->name, "' runs one half alone, or both without a flag");
  if (!info->totals.empty() && info->totalsEntry.empty())
    return usageError("entry '", info->name, "' makes sums of sums that only the context of another entry has");
  const bool hasHalf = info->kind == EntryInfo::Kind::Train || (!updates && info->kind == EntryInfo::Kind::Grad);
  if (!(computes && updates) && !hasHalf)
    return usageError("entry '", info->name, "' has no ", updates ? "update" : "gradient", " half: it does not train");
  if (updates && info->kind == EntryInfo::Kind::Train && model->manifest().epochs > 0 && context.total_steps == 0)
    return usageError("entry '", info->name, "': the schedule counts epochs; say first how many steps these are");
  if (computes && updates && sliceCount < info->slices)
    return usageError("entry '", info->name, "': ", sliceCount, " of ", info->slices,
                      " slices are no step; run the gradients half, add the gradients of the others, then run the update half");
  if (resetFailure.failed())
    return std::exchange(resetFailure, {});
  if (Status status = checkRoom(); status.failed())
    return status;
  if (Status status = prepare(); status.failed())
    return status;
  if (Status status = takeArenas(); status.failed())
    return status;
  if (computes) {
    Status status = loadModelStates();
    if (status.ok())
      status = checkInputs();
    if (status.ok())
      status = copyInputsIn();
    if (status.failed())
      return status;
  }
  Expected<int32_t> code = 0;
  {
    FloatingPointScope mode;
    computing = &mode;
    code = info->slices > 1 ? runSlices(flags) : runCode(flags);
    computing = nullptr;
  }
  outputIsOut.assign(outputIsOut.size(), false);
  if (!code.ok())
    return code.status().in(concat("entry '", info->name, "'"));
  if (*code != 0)
    return inputError("entry '", info->name, "' failed its run-time check number ", *code);
  if (Status status = outputSide.anyLent ? copyOutputsOut(false) : Status(); status.failed())
    return status;
  if (!computes)
    return {};
  if (!stateTensors.empty() && !isPart())
    swapStates();
  if (Status status = readPosition(); status.failed())
    return status;
  return info->kind == EntryInfo::Kind::Train ? keepModelStates() : Status();
}

Status Context::takeArenas() {
  // Another context may have had gradients or moments allocated since the last run.
  for (int i = 0; i < 4; ++i)
    arenas[i] = model->arena(static_cast<ParameterArena>(i)).codePointer();
  arenas[TN_ARENA_SUMS] = model->arena(ParameterArena::Sums).codePointer();
  arenas[TN_ARENA_COPIES] = model->arena(ParameterArena::Copies).codePointer();
  arenas[TN_ARENA_SLICES] = model->arena(ParameterArena::Slices).codePointer();
  arenas[TN_ARENA_LOSS_SCALE] = model->arena(ParameterArena::LossScale).codePointer();
  arenas[TN_ARENA_REMAINDERS] = model->arena(ParameterArena::Remainders).codePointer();
  // A context that came later may have asked for a larger one, in vain.
  if (room->workspace.size() < static_cast<uint64_t>(sizes[1]))
    return resourceError("entry '", info->name, "' shares a workspace that another context could not make larger");
  arenas[TN_ARENA_WORKSPACE] = room->workspace.view().codePointer();
  context.scratch = room->scratch.view().codePointer();
  return {};
}

Expected<int32_t> Context::runCode(uint64_t flags) {
  TnContext call = context;
  call.flags = flags;
  return model->owner()->code().run(*code, call);
}

} // namespace tenon::runtime
