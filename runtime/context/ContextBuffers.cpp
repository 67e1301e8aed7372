// The buffers of a context on its device, and what the host sees of them.
#include "runtime/base/Checked.h"
#include "runtime/base/Convert.h"
#include "runtime/context/Context.h"
#include <algorithm>
#include <cmath>

namespace tenon::runtime {

namespace {

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

/// Outputs of together at most so many bytes are copied out at once: losses and metrics, which are all read.
constexpr uint64_t kSmallOutputs = 16 << 10;

} // namespace

Status Context::allocateSide(const std::vector<BoundTensor> &tensors, const char *what, Side &side) {
  auto bytes = layOut(tensors, side.offsets);
  if (!bytes.ok())
    return bytes.status();
  auto memory = device->allocate(*bytes, 0, what);
  if (!memory.ok())
    return memory.status();
  side.memory = memory.take();
  if (!device->sharesMemory()) {
    auto image = Arena::allocate(*bytes, 0, what);
    if (!image.ok())
      return image.status();
    side.image = image.take();
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    side.views.emplace_back();
    side.addresses.push_back(nullptr);
    side.host.push_back(nullptr);
    lend(side, i, tensors[i].bytes, nullptr);
  }
  return {};
}

/// Null: back to the own buffer. A device that shares memory reads and writes a lent one in place, for another it takes the place
/// of the image.
void Context::lend(Side &side, size_t index, uint64_t bytes, void *buffer) {
  DeviceView view = side.memory.view().part(side.offsets[index], bytes);
  if (buffer && device->sharesMemory())
    view = DeviceView(*device, reinterpret_cast<uintptr_t>(buffer), bytes, static_cast<char *>(buffer));
  side.views[index] = view;
  side.addresses[index] = view.codePointer();
  side.host[index] = buffer ? buffer : device->sharesMemory() ? view.hostView() : side.image.data() + side.offsets[index];
  side.anyLent = false;
  for (size_t i = 0; i < side.host.size() && !device->sharesMemory(); ++i)
    side.anyLent |= side.host[i] && side.host[i] != side.image.data() + side.offsets[i];
}

Status Context::allocate() {
  Status status = allocateSide(inputTensors, "inputs", inputSide);
  if (status.ok())
    status = allocateSide(outputTensors, "outputs", outputSide);
  if (status.failed())
    return status;
  outputIsOut.assign(outputTensors.size(), false);
  auto stride = checkedAlign(static_cast<uint64_t>(sizes[2]), 64);
  auto strips = stride ? checkedMultiply<uint64_t>(*stride, static_cast<uint64_t>(pool->workers())) : std::nullopt;
  if (!strips)
    return resourceError("the scratch space is larger than the address space");
  struct Request {
    DeviceMemory &memory;
    uint64_t bytes;
    unsigned stagger;
    const char *name;
    bool isShared = false;
  };
  // Parameters, gradients and moments have the first four steps of the stagger.
  for (Request request : {Request{room->workspace, static_cast<uint64_t>(sizes[1]), 4, "workspace", true},
                          Request{room->scratch, *strips, 5, "scratch", true}, Request{oldStates, stateArenaBytes, 6, "states"},
                          Request{newStates, stateArenaBytes, 7, "new states"},
                          Request{keptStates, static_cast<uint64_t>(sizes[3]), 6, "kept states"}}) {
    if (request.isShared && request.memory.size() > 0 && request.memory.size() >= request.bytes)
      continue;
    request.memory = {}; // before the larger one is there
    auto space = device->allocate(request.bytes, request.stagger, request.name);
    if (!space.ok())
      return space.status();
    request.memory = space.take();
  }
  bool trains = info->kind == EntryInfo::Kind::Train || info->kind == EntryInfo::Kind::Grad;
  status = info->kind == EntryInfo::Kind::Train ? model->ensureTraining()
           : trains                             ? model->ensure(ParameterArena::Gradients)
                                                : Status();
  if (status.ok() && trains && info->slices > 1)
    status = model->ensure(ParameterArena::Slices);
  if (status.failed())
    return status;
  arenas[TN_ARENA_STATES] = oldStates.view().codePointer();
  arenas[TN_ARENA_NEXT_STATES] = newStates.view().codePointer();
  arenas[TN_ARENA_KEPT_STATES] = keptStates.view().codePointer();
  context.dims = codeDims.data();
  context.arenas = arenas;
  context.inputs = inputSide.addresses.data();
  context.outputs = outputSide.addresses.data();
  context.offsets = offsets.data();
  context.parallel_for = &ThreadPool::parallelFor;
  context.scratch_stride = static_cast<int64_t>(*stride);
  context.pool = pool.get();
  context.owner = this;
  context.keep_level = -1;
  context.level_stride = static_cast<int64_t>(model->manifest().levelStride());
  resetStates();
  return std::exchange(resetFailure, {});
}

Status Context::borrowInput(int index, void *buffer) {
  if (index < 0 || static_cast<size_t>(index) >= inputTensors.size())
    return usageError("entry '", info->name, "' has no input number ", index);
  const BoundTensor &tensor = inputTensors[static_cast<size_t>(index)];
  if (reinterpret_cast<uintptr_t>(buffer) % 64 != 0)
    return usageError("a buffer for input '", tensor.name, "' must be 64-byte aligned");
  lend(inputSide, static_cast<size_t>(index), tensor.bytes, buffer);
  return {};
}

Status Context::borrowOutput(int index, void *buffer) {
  if (index < 0 || static_cast<size_t>(index) >= outputTensors.size())
    return usageError("entry '", info->name, "' has no output number ", index);
  const BoundTensor &tensor = outputTensors[static_cast<size_t>(index)];
  if (reinterpret_cast<uintptr_t>(buffer) % 64 != 0)
    return usageError("a buffer for output '", tensor.name, "' must be 64-byte aligned");
  lend(outputSide, static_cast<size_t>(index), tensor.bytes, buffer);
  return {};
}

/// One copy for all inputs unless some are lent. What a run before still reads is the device's matter: its work is in order.
Status Context::copyInputsIn() {
  if (device->sharesMemory())
    return {};
  if (!inputSide.anyLent)
    return inputSide.memory.view().write(inputSide.image.data());
  for (size_t i = 0; i < inputTensors.size(); ++i)
    if (Status status = inputSide.views[i].write(inputSide.host[i]); status.failed())
      return status;
  return {};
}

/// Into lent buffers, or (`all`) to the host's places of every output that has not come yet.
Status Context::copyOutputsOut(bool all) const {
  for (size_t i = 0; i < outputTensors.size(); ++i) {
    const bool isLent = outputSide.host[i] != outputSide.image.data() + outputSide.offsets[i];
    if (outputIsOut[i] || (!all && !isLent))
      continue;
    if (Status status = outputSide.views[i].read(outputSide.host[i]); status.failed())
      return status;
    outputIsOut[i] = true;
  }
  return {};
}

Expected<const void *> Context::output(int index) const {
  const auto i = static_cast<size_t>(index);
  const void *const place = outputSide.host[i];
  if (device->sharesMemory() || outputIsOut[i])
    return place;
  const bool isSmall = outputSide.memory.size() <= kSmallOutputs;
  Status status;
  if (!isSmall)
    status = outputSide.views[i].read(outputSide.host[i]);
  else if (outputSide.anyLent)
    status = copyOutputsOut(true);
  else
    status = outputSide.memory.view().read(outputSide.image.data());
  if (status.failed())
    return status;
  if (isSmall)
    outputIsOut.assign(outputIsOut.size(), true);
  outputIsOut[i] = true;
  return place;
}

DeviceView Context::state(int index) const {
  const auto i = static_cast<size_t>(index);
  const DeviceMemory &memory = info->states[i].inPlace ? keptStates : areSwapped ? newStates : oldStates;
  return memory.view().part(static_cast<uint64_t>(stateOffsets[i]), stateTensors[i].bytes);
}

void Context::swapStates() {
  std::swap(arenas[TN_ARENA_STATES], arenas[TN_ARENA_NEXT_STATES]);
  areSwapped = !areSwapped;
}

/// How many places are kept, where only the device can look.
Status Context::readPosition() {
  if (info->positionState < 0 || device->sharesMemory())
    return {};
  int32_t position = 0;
  Status status = state(info->positionState).read(&position);
  keptPlaces = position;
  return status;
}

Status Context::loadModelStates() {
  if (seenModelStates == model->modelStateVersion())
    return {};
  for (size_t i = 0; i < stateTensors.size(); ++i)
    if (info->states[i].ofModel) {
      const DeviceView values = model->modelStates().find(info->states[i].name)->second.memory.view();
      if (Status status = state(static_cast<int>(i)).copyFrom(values); status.failed())
        return status;
    }
  seenModelStates = model->modelStateVersion();
  return {};
}

Status Context::storeModelStates() {
  bool any = false;
  for (size_t i = 0; i < stateTensors.size(); ++i)
    if (info->states[i].ofModel) {
      const DeviceView values = model->modelStates().find(info->states[i].name)->second.memory.view();
      if (Status status = values.copyFrom(state(static_cast<int>(i))); status.failed())
        return status;
      any = true;
    }
  if (any) {
    model->touchModelStates();
    seenModelStates = model->modelStateVersion();
  }
  return {};
}

/// Of a batch whose loss is not finite the compiled step skips the update, and averages over it would never be finite again: they
/// stay what they were. Only where there are such states is the loss looked at, for which the host waits.
Status Context::keepModelStates() {
  const bool any = std::any_of(info->states.begin(), info->states.end(), [](const StateInfo &state) { return state.ofModel; });
  auto loss = any && !outputTensors.empty() ? output(0) : Expected<const void *>(nullptr);
  if (!loss.ok())
    return loss.status();
  if (!*loss || std::isfinite(numberAt(outputTensors[0].type, *loss, 0)))
    return storeModelStates();
  seenModelStates = ~uint64_t{0};
  return loadModelStates();
}

Status Context::fillState(size_t index) {
  const DeviceView view = state(static_cast<int>(index));
  const double initial = info->states[index].init.a; // of the model: loadModelStates brings others
  if (initial == 0 && !view.hostView())
    return view.fillZero();
  return fillView(view, [&](char *target) {
    const BoundTensor &tensor = stateTensors[index];
    fillNumbers(tensor.type, target, tensor.bytes / byteSize(tensor.type), initial);
    return Status();
  });
}

void Context::resetStates() {
  Status status;
  for (size_t i = 0; i < stateTensors.size() && status.ok(); ++i)
    if (!info->states[i].ofModel)
      status = fillState(i);
  if (status.ok())
    status = readPosition();
  if (status.failed())
    resetFailure = status;
}

} // namespace tenon::runtime
