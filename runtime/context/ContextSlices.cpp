// The gradients of a context: groups that are ready one after the other, and slices of a batch that are added up in a fixed tree.
#include "runtime/base/Checked.h"
#include "runtime/context/Context.h"
#include <bit>
#include <cstring>

namespace tenon::runtime {

void Context::listGroups() {
  const Manifest &manifest = model->manifest();
  std::vector<std::vector<int>> positions; // of each element of each parameter, among Parameters::names()
  int next = 0;
  for (const ParameterInfo &parameter : manifest.parameters) {
    positions.emplace_back();
    for (int64_t i = 0; i < parameter.stackElements; ++i)
      positions.back().push_back(parameter.has(i) ? next++ : -1);
  }
  groupMembers.resize(static_cast<size_t>(info->groups));
  for (const GradientInfo &gradient : info->gradients) {
    std::vector<int64_t> at(gradient.loops.size());
    for (bool more = true; more;) {
      int64_t group = gradient.group, element = gradient.element;
      for (size_t i = 0; i < at.size(); ++i) {
        group += at[i] * gradient.loops[i].groups;
        element += at[i] * gradient.loops[i].elements;
      }
      if (int position = positions[gradient.parameter][static_cast<size_t>(element)]; position >= 0)
        groupMembers[static_cast<size_t>(group)].push_back(position);
      more = false; // the next iteration, the innermost loop first
      for (size_t i = at.size(); i-- > 0 && !more;)
        more = ++at[i] < gradient.loops[i].count || (at[i] = 0);
    }
  }
}

void Context::onGroup(void (*ready)(void *user, int group), void *user) {
  groupReady = ready;
  groupUser = user;
  context.group_ready = ready ? &Context::groupIsReady : nullptr;
}

void Context::groupIsReady(const TnContext *context, int64_t group) {
  const Context &self = *static_cast<const Context *>(context->owner);
  std::optional<CallersFloatingPoint> mode;
  if (self.computing) // a device may get so far only when the call has returned
    mode.emplace(*self.computing);
  self.groupReady(self.groupUser, static_cast<int>(group));
}

Status Context::bindSlices() {
  sliceCount = info->slices;
  uint64_t bytes = 0;
  for (size_t i = 0; i < inputTensors.size(); ++i) {
    sliceOffsets.push_back(bytes);
    auto end = checkedAdd(bytes, isCut[i] ? inputTensors[i].bytes / static_cast<uint64_t>(info->slices) : 0);
    auto aligned = end ? checkedAlign(*end, 64) : std::nullopt;
    if (!aligned)
      return resourceError("the tensors are larger than the address space");
    bytes = *aligned;
  }
  struct Request {
    DeviceMemory &memory;
    uint64_t bytes;
    const char *name;
  };
  const uint64_t states = static_cast<uint64_t>(sizes[0]), slices = static_cast<uint64_t>(info->slices),
                 outputs = slices * outputTensors.size() * sizeof(double);
  for (Request request :
       {Request{sliceStage, bytes, "inputs of a slice"}, Request{sliceOutput, outputs, "outputs of the slices"},
        Request{sliceStates, states, "states of a slice"}, Request{sliceNextStates, states, "states of a slice"}}) {
    auto space = device->allocate(request.bytes, 0, request.name);
    if (!space.ok())
      return space.status();
    request.memory = space.take();
  }
  sliceInputs.resize(inputTensors.size());
  for (const BoundTensor &output : outputTensors)
    if (output.type != DataType::F64 || !output.shape.empty())
      return bugError("the output '", output.name, "' of a batch in slices is no number");
  sliceValues.resize(slices * outputTensors.size());
  for (size_t i = 0; i < sliceValues.size(); ++i)
    sliceOutputs.push_back(sliceOutput.view().codePointer() + i * sizeof(double));
  partialValues.assign(static_cast<size_t>(std::bit_width(slices)), std::vector<double>(outputTensors.size()));
  return info->totals.empty() ? Status() : bindTotals();
}

Status Context::bindTotals() {
  if (!room->totals)
    room->totals = std::make_shared<Room>();
  auto made = create(model, info->totalsEntry, codeDims, pool, true, room->totals);
  if (!made.ok())
    return made.status();
  totals.context = made.take();
  uint64_t bytes = 0; // of one slice
  for (const BoundTensor &output : totals.context->outputTensors) {
    totals.places.push_back(bytes);
    auto end = checkedAdd(bytes, output.bytes);
    auto aligned = end ? checkedAlign(*end, 64) : std::nullopt;
    if (!aligned)
      return resourceError("the tensors are larger than the address space");
    bytes = *aligned;
  }
  const auto slices = static_cast<uint64_t>(info->slices);
  auto ofAll = checkedMultiply(bytes, slices);
  if (!ofAll)
    return resourceError("the tensors are larger than the address space");
  for (auto [memory, size] : {std::pair(&totals.parts, *ofAll), std::pair(&totals.values, bytes)}) {
    auto space = device->allocate(size, 0, "totals of a batch");
    if (!space.ok())
      return space.status();
    *memory = space.take();
  }
  totals.numbers.resize(*ofAll / sizeof(double));
  for (uint64_t slice = 0; slice < slices; ++slice)
    for (uint64_t place : totals.places)
      totals.outputs.push_back(totals.parts.view().codePointer() + slice * bytes + place);
  for (uint64_t place : totals.places)
    sliceInputs.push_back(totals.values.view().codePointer() + place);
  for (const TensorInfo &input : totals.context->info->inputs)
    totals.sources.push_back(static_cast<size_t>(info->inputIndex(input.name)));
  for (const TensorInfo &total : totals.context->info->totals)
    for (size_t i = 0; i < info->totals.size(); ++i)
      if (info->totals[i].name == total.name)
        totals.sources.push_back(inputTensors.size() + i);
  totals.inputs.resize(totals.sources.size());
  return {};
}

/// The tree over the slices [0, count), of number `at` of each.
static double sumOf(const double *at, size_t stride, size_t count) {
  if (count == 1)
    return *at;
  const size_t half = std::bit_floor(count - 1);
  return sumOf(at, stride, half) + sumOf(at + half * stride, stride, count - half);
}

/// Integers that come as doubles, in the same place.
static void packIntegers(double *numbers, size_t count) {
  char *const target = reinterpret_cast<char *>(numbers);
  for (size_t i = 0; i < count; ++i) {
    const auto integer = static_cast<int32_t>(static_cast<int64_t>(numbers[i]));
    std::memcpy(target + i * sizeof integer, &integer, sizeof integer);
  }
}

/// Of the whole batch, whoever computes which slices: so the bits are the same for all. A total inside of another one is known
/// after the first time.
Expected<int32_t> Context::runTotals() {
  if (Status status = totals.context->takeArenas(); status.failed())
    return status;
  const size_t outputs = totals.context->outputTensors.size(), each = totals.numbers.size() / static_cast<size_t>(info->slices);
  for (int64_t time = 0; time < info->totalPasses; ++time) {
    for (int64_t slice = 0; slice < info->slices; ++slice) {
      if (Status status = takeSlice(slice); status.failed())
        return status;
      for (size_t i = 0; i < totals.sources.size(); ++i)
        totals.inputs[i] = sliceInputs[totals.sources[i]];
      totals.context->context.inputs = totals.inputs.data();
      totals.context->context.outputs = totals.outputs.data() + static_cast<size_t>(slice) * outputs;
      if (auto code = totals.context->runCode(0); !code.ok() || *code != 0)
        return code;
    }
    if (Status status = totals.parts.view().read(totals.numbers.data()); status.failed())
      return status;
    for (size_t i = 0; i < each; ++i)
      totals.numbers[i] = sumOf(&totals.numbers[i], each, static_cast<size_t>(info->slices));
    for (size_t i = 0; i < outputs; ++i)
      if (info->totals[i].type == DataType::I32)
        packIntegers(totals.numbers.data() + totals.places[i] / sizeof(double),
                     totals.context->outputTensors[i].bytes / sizeof(double));
    if (Status status = totals.values.view().write(totals.numbers.data()); status.failed())
      return status;
  }
  return 0;
}

/// Nodes of the tree over the slices [0, n): n of 2 or more is cut in the largest power of two below it and the rest.
Status Context::setSlices(int64_t first, int64_t count) {
  int64_t begin = 0, length = info->slices;
  if (first < 0 || count < 1 || first + count > length)
    return usageError("entry '", info->name, "' has the slices 0 to ", length - 1, ", not ", count, " from ", first, " on");
  while (length > count) {
    const int64_t half = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(length - 1)));
    const bool isRight = first >= begin + half;
    if (!isRight && first + count > begin + half)
      break;
    begin += isRight ? half : 0;
    length = isRight ? length - half : half;
  }
  if (begin != first || length != count)
    return usageError("not supported yet: the slices ", first, " to ", first + count - 1, " of ", info->slices,
                      " are not added to each other in their tree; compute parts of it that are");
  firstSlice = first;
  sliceCount = count;
  return {};
}

/// Inputs of a slice, on the borders of 64 bytes that an entry takes for granted.
Status Context::takeSlice(int64_t slice) {
  for (size_t i = 0; i < inputTensors.size(); ++i) {
    sliceInputs[i] = inputSide.addresses[i];
    if (!isCut[i])
      continue;
    const uint64_t bytes = inputTensors[i].bytes / static_cast<uint64_t>(info->slices);
    const DeviceView from = inputSide.views[i].part(bytes * static_cast<uint64_t>(slice), bytes),
                     stage = sliceStage.view().part(sliceOffsets[i], bytes);
    sliceInputs[i] = (bytes % 64 == 0 ? from : stage).codePointer();
    if (Status status = bytes % 64 == 0 ? Status() : stage.copyFrom(from); status.failed())
      return status;
  }
  return {};
}

/// Of a slice, from the states of the whole batch or (`out`) to them: its rows of each element of a stack.
Status Context::copyStates(int64_t slice, const DeviceView &part, const DeviceView &whole, bool out) const {
  for (size_t i = 0; i < stateTensors.size(); ++i) {
    uint64_t elements = 1;
    for (int64_t count : info->states[i].stack)
      elements *= static_cast<uint64_t>(count);
    const uint64_t rows = elements == 0 ? 0 : stateTensors[i].bytes / elements,
                   bytes = rows / static_cast<uint64_t>(info->slices);
    for (uint64_t element = 0; element < elements; ++element) {
      const DeviceView mine = part.part(static_cast<uint64_t>(offsets[i]) + bytes * element, bytes),
                       all = whole.part(
                           static_cast<uint64_t>(stateOffsets[i]) + rows * element + bytes * static_cast<uint64_t>(slice), bytes);
      if (Status status = out ? all.copyFrom(mine) : mine.copyFrom(all); status.failed())
        return status;
    }
  }
  return {};
}

/// Which partial sums are added to a slice, and which one the result replaces.
void Context::placeInTree(int64_t number) {
  const bool isLast = number + 1 == sliceCount;
  const int ones = std::countr_one(static_cast<uint64_t>(number));
  // The bits of `number` are the levels that hold something.
  context.add_levels = isLast ? static_cast<uint64_t>(number) : (uint64_t{1} << ones) - 1;
  context.keep_level = isLast ? -1 : ones;
}

/// What tenon.sum_slices does with the gradients, with the outputs: those of each slice to partial sums, of the last to outputs.
/// Behind all slices, so that a device goes through them without a wait.
Status Context::addSlices() {
  const size_t outputs = outputTensors.size();
  if (Status status = sliceOutput.view().read(sliceValues.data()); status.failed())
    return status;
  for (int64_t number = 0; number < sliceCount; ++number) {
    placeInTree(number);
    double *const values = sliceValues.data() + static_cast<size_t>(number) * outputs;
    for (size_t i = 0; i < outputs; ++i) {
      for (size_t level = 0; level < partialValues.size(); ++level)
        if (context.add_levels >> level & 1)
          values[i] = partialValues[level][i] + values[i];
      if (context.keep_level >= 0)
        partialValues[static_cast<size_t>(context.keep_level)][i] = values[i];
      else if (outputTensors[i].name != "grad_norm" && outputTensors[i].name != "learning_rate") // of the update
        if (Status status = outputSide.views[i].write(&values[i]); status.failed())
          return status;
    }
  }
  return {};
}

Expected<int32_t> Context::runSlices(uint64_t flags) {
  if (totals.context && !(flags & TN_UPDATE_ONLY))
    if (auto code = runTotals(); !code.ok() || *code != 0)
      return code;
  const TnContext whole = context;
  char *const oldWhole = arenas[TN_ARENA_STATES], *const newWhole = arenas[TN_ARENA_NEXT_STATES];
  const DeviceView oldStatesOfAll = (areSwapped ? newStates : oldStates).view(),
                   newStatesOfAll = (areSwapped ? oldStates : newStates).view();
  arenas[TN_ARENA_STATES] = sliceStates.view().codePointer();
  arenas[TN_ARENA_NEXT_STATES] = sliceNextStates.view().codePointer();
  Expected<int32_t> code = 0;
  for (int64_t number = 0; number < sliceCount && code.ok() && *code == 0 && !(flags & TN_UPDATE_ONLY); ++number) {
    Status status = takeSlice(firstSlice + number);
    if (status.ok())
      status = copyStates(firstSlice + number, sliceStates.view(), oldStatesOfAll, false);
    context.inputs = sliceInputs.data();
    context.outputs = sliceOutputs.data() + static_cast<size_t>(number) * outputTensors.size();
    // Random numbers are functions of the slice, so of the row of the batch.
    context.step = whole.step * static_cast<uint64_t>(info->slices) + static_cast<uint64_t>(firstSlice + number);
    context.group_ready = number + 1 == sliceCount ? whole.group_ready : nullptr;
    placeInTree(number);
    code = status.ok() ? runCode(TN_GRADIENTS_ONLY) : status;
    if (code.ok())
      status = copyStates(firstSlice + number, sliceNextStates.view(), newStatesOfAll, true);
    if (status.failed())
      code = status;
  }
  if (code.ok() && *code == 0 && !(flags & TN_UPDATE_ONLY)) {
    Status status = addSlices();
    // Of a part, the rows that it has alone are new: the others may be computed next.
    for (int64_t number = 0; number < sliceCount && isPart() && status.ok(); ++number) {
      status = copyStates(firstSlice + number, sliceNextStates.view(), newStatesOfAll, false);
      if (status.ok())
        status = copyStates(firstSlice + number, sliceNextStates.view(), oldStatesOfAll, true);
    }
    if (status.failed())
      code = status;
  }
  arenas[TN_ARENA_STATES] = oldWhole;
  arenas[TN_ARENA_NEXT_STATES] = newWhole;
  context = whole;
  return !code.ok() || *code != 0 || (flags & TN_GRADIENTS_ONLY) || info->kind != EntryInfo::Kind::Train
             ? code
             : runCode(TN_UPDATE_ONLY);
}

} // namespace tenon::runtime
