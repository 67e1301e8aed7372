#include "tools/tenon/Call.h"
#include "runtime/base/Convert.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Safetensors.h"
#include "tools/tenon/Say.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tenon::driver {

using runtime::BoundTensor;
using runtime::Context;
using runtime::DataType;
using runtime::EntryInfo;
using runtime::TensorInfo;

namespace {

template <typename Tensor> std::string namesOf(const std::vector<Tensor> &tensors) {
  std::string result;
  for (const Tensor &tensor : tensors)
    result += (result.empty() ? "" : ", ") + tensor.name;
  return result.empty() ? "none" : result;
}

template <typename T> std::string shapeText(const std::vector<T> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += concat(i ? ", " : "", shape[i]);
  return text + "]";
}

std::string sizeText(const EntryInfo &entry, const runtime::SizeForm &size) {
  std::vector<std::string> dims;
  for (const runtime::DimInfo &dim : entry.dims)
    dims.push_back(dim.name);
  return size.print(dims);
}

/// "[B, T, D = 64]"
std::string axesText(const EntryInfo &entry, const TensorInfo &tensor) {
  std::string text;
  for (size_t i = 0; i < tensor.axes.size(); ++i) {
    std::string size = sizeText(entry, tensor.shape[i]);
    text += concat(i ? ", " : "", tensor.axes[i], size == tensor.axes[i] ? "" : " = " + size);
  }
  return "[" + text + "]";
}

/// " (x has N = B*T)", where an input has the dim in a product alone.
std::string toldWith(const EntryInfo &entry, uint32_t dim) {
  for (const TensorInfo &input : entry.inputs)
    for (size_t axis = 0; axis < input.shape.size(); ++axis)
      if (!input.shape[axis].products.empty() && input.shape[axis].dependsOn(dim))
        return concat(" (", input.name, " has ", input.axes[axis], " = ", sizeText(entry, input.shape[axis]), ")");
  return "";
}

/// What states of an earlier call tell of the dims; states of another shape are the reader's matter.
Status takeStateDims(const EntryInfo &entry, const std::string &path, std::map<std::string, int64_t> &dims) {
  auto file = runtime::SafetensorsFile::open(path);
  if (!file.ok())
    return file.status();
  for (const runtime::StateInfo &state : entry.states) {
    const runtime::SafetensorsEntry *found = file->find(state.name);
    if (!found || found->shape.size() != state.stack.size() + state.shape.size())
      continue;
    for (size_t axis = 0; axis < state.shape.size(); ++axis)
      if (const runtime::SizeForm &form = state.shape[axis]; form.tellsDim())
        if (auto value = form.dimOf(static_cast<int64_t>(found->shape[state.stack.size() + axis])); value && *value >= 1)
          dims.emplace(entry.dims[form.terms[0].first].name, *value);
  }
  return {};
}

} // namespace

Status takeDims(const EntryInfo &entry, const TensorInfo &input, const std::vector<uint64_t> &shape,
                std::map<std::string, int64_t> &dims, std::optional<size_t> apart) {
  if (shape.size() != input.shape.size())
    return inputError(input.name, " has the axes ", axesText(entry, input), ", the file has the shape ", shapeText(shape));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const runtime::SizeForm &form = input.shape[axis];
    if (axis == apart || !form.tellsDim())
      continue;
    const std::string &dim = entry.dims[form.terms[0].first].name;
    const std::string shapes =
        concat(" has the axes ", axesText(entry, input), ", the file has the shape ", shapeText(shape), ": ");
    const std::optional<int64_t> value = form.dimOf(static_cast<int64_t>(shape[axis]));
    if (!value)
      return inputError(input.name, shapes, shape[axis], " places are no ", sizeText(entry, form), " with a whole ", dim);
    if (*value < 1)
      return inputError(input.name, shapes, dim, " = ", *value, " is less than 1");
    if (auto [known, added] = dims.emplace(dim, *value); !added && known->second != *value)
      return inputError(input.name, shapes, dim, " = ", *value, ", but ", dim, " = ", known->second,
                        " elsewhere (--bind, or another input)");
  }
  return {};
}

std::map<std::string, int64_t> inputSizes(const Context &context) {
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < context.inputs().size(); ++i)
    for (size_t axis = 0; axis < context.inputs()[i].shape.size(); ++axis)
      sizes[context.entry().inputs[i].axes[axis]] = context.inputs()[i].shape[axis];
  return sizes;
}

Expected<std::vector<double>> outputNumbers(const Context &context, int output) {
  auto place = context.output(output);
  if (place.failed())
    return place.status();
  const BoundTensor &bound = context.outputs()[static_cast<size_t>(output)];
  size_t count = 1;
  for (int64_t size : bound.shape)
    count *= static_cast<size_t>(size);
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = runtime::numberAt(bound.type, *place, i);
  return numbers;
}

Expected<std::string> chooseEntry(const runtime::Manifest &manifest, EntryInfo::Kind kind, const std::string &wanted,
                                  const std::string &fallback) {
  std::string names, callable, only;
  int count = 0;
  for (const EntryInfo &entry : manifest.entries) {
    names += (names.empty() ? "" : ", ") + entry.name;
    if (entry.name == wanted)
      return wanted;
    if (entry.kind != kind || entry.prepares)
      continue;
    callable += (callable.empty() ? "" : ", ") + entry.name;
    only = ++count == 1 ? entry.name : fallback;
  }
  if (!wanted.empty())
    return usageError("the artifact has no entry '", wanted, "'; there are: ", names.empty() ? "none" : names);
  if (count == 0 && kind == EntryInfo::Kind::Grad)
    return usageError("the artifact was compiled without gradients; pass the specification (.tn), or compile it with --grad");
  if (count == 0)
    return usageError("the model declares no `out`, so there is nothing to call; it has the entries: ",
                      names.empty() ? "none" : names);
  return manifest.findEntry(only) ? Expected<std::string>(only)
                                  : usageError("the entry to call is not clear; pass --entry with one of ", callable);
}

Expected<std::string> chooseTask(const std::vector<std::string> &tasks, const std::string &wanted, const std::string &what) {
  if (tasks.empty())
    return wanted.empty() ? Expected<std::string>(std::string()) : usageError("--task ", wanted, ": the recipe has no `tasks`");
  std::string names;
  for (const std::string &task : tasks)
    names += concat(names.empty() ? "" : ", ", task);
  if (wanted.empty())
    return tasks.size() == 1 ? Expected<std::string>(tasks[0])
                             : usageError("the recipe has ", tasks.size(), " tasks, and ", what,
                                          " is of one of them; pass --task with one of ", names);
  return std::find(tasks.begin(), tasks.end(), wanted) != tasks.end()
             ? Expected<std::string>(wanted)
             : usageError("--task ", wanted, ": the recipe has no such task; there are: ", names);
}

Expected<std::string> chooseGradient(const runtime::Manifest &manifest, const std::string &wanted, const std::string &task) {
  constexpr std::string_view prefix = "grad_";
  std::vector<std::string> tasks;
  for (const EntryInfo &entry : manifest.entries)
    if (entry.kind == EntryInfo::Kind::Grad && entry.name.starts_with(prefix))
      tasks.push_back(entry.name.substr(prefix.size()));
  const bool isCompiled = std::any_of(manifest.entries.begin(), manifest.entries.end(),
                                      [](const EntryInfo &entry) { return entry.kind == EntryInfo::Kind::Grad; });
  if (!wanted.empty() || !isCompiled)
    return chooseEntry(manifest, EntryInfo::Kind::Grad, wanted, "grad");
  auto chosen = chooseTask(tasks, task, "a gradient");
  if (!chosen.ok() || !chosen->empty())
    return chosen.ok() ? Expected<std::string>(std::string(prefix) + *chosen) : chosen;
  return chooseEntry(manifest, EntryInfo::Kind::Grad, "", "grad");
}

Expected<std::unique_ptr<Context>> contextFromFiles(const Model &model, const std::shared_ptr<runtime::Parameters> &parameters,
                                                    const std::string &entryName, const NamedFiles &files, int threads,
                                                    const std::string &states) {
  const EntryInfo &entry = *model.artifact->manifest().findEntry(entryName);
  std::map<std::string, int64_t> dims;
  for (const runtime::DimInfo &dim : entry.dims)
    if (auto found = model.call.find(dim.name); found != model.call.end())
      dims.emplace(dim.name, found->second);
  std::vector<runtime::NpyArray> arrays(entry.inputs.size());
  std::vector<std::string> given(entry.inputs.size()); // files
  for (const auto &[name, file] : files) {
    int index = entry.inputIndex(name);
    if (index < 0)
      return usageError("the entry ", entryName, " has no input '", name, "'; it reads: ", namesOf(entry.inputs));
    auto array = runtime::readNpy(file);
    if (!array.ok())
      return array.status();
    if (Status status = takeDims(entry, entry.inputs[static_cast<size_t>(index)], array->shape, dims); status.failed())
      return status.in(file);
    arrays[static_cast<size_t>(index)] = array.take();
    given[static_cast<size_t>(index)] = file;
  }
  if (Status status = states.empty() ? Status() : takeStateDims(entry, states, dims); status.failed())
    return status;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].empty() && !entry.inputs[i].prepared)
      return usageError("the entry ", entryName, " also reads '", entry.inputs[i].name, "'; pass --input ", entry.inputs[i].name,
                        "=@FILE.npy");
  for (size_t i = 0; i < entry.dims.size(); ++i)
    if (const std::string &name = entry.dims[i].name; !dims.count(name)) {
      // A specification has no dim for the capacity: what it says of the walked one is the capacity.
      bool isCapacity = model.compiledNow && entry.capacity.isOfOneDim() && entry.capacity.terms[0].first == i;
      return usageError("no input of the entry ", entryName, " tells ",
                        isCapacity ? "how many places it keeps" : "the size of " + name, toldWith(entry, uint32_t(i)),
                        "; pass --bind ", isCapacity ? entry.walk : name, "=SIZE");
    }
  auto pool = runtime::ThreadPool::create(threads);
  if (!pool.ok())
    return pool.status();
  auto context = Context::create(parameters, entryName, dims, *pool);
  for (size_t i = 0; context.ok() && i < arrays.size(); ++i) {
    if (given[i].empty())
      continue;
    const BoundTensor &tensor = (*context)->inputs()[i];
    Status status =
        runtime::npyToInput(arrays[i], tensor.name, tensor.type, tensor.shape, (*context)->input(static_cast<int>(i)));
    if (status.failed())
      return status.in(given[i]);
  }
  return context;
}

Status checkPrepared(const Context &context, const NamedFiles &inputs) {
  for (size_t i = 0; i < context.inputs().size(); ++i) {
    const std::string &name = context.inputs()[i].name;
    const bool isGiven = std::any_of(inputs.begin(), inputs.end(), [&](const auto &input) { return input.first == name; });
    if (!isGiven && context.readsInput(static_cast<int>(i)))
      return usageError("the first call of a text reads '", name, "'; pass --input ", name,
                        "=@FILE.npy, or --states with what an "
                        "earlier call kept");
  }
  return {};
}

namespace {

/// Position of a state by name; the error lists what there is.
Expected<size_t> findState(const Context &context, const std::string &name) {
  for (size_t i = 0; i < context.states().size(); ++i)
    if (context.states()[i].name == name)
      return i;
  return usageError("the entry has no state '", name, "'; there are: ", namesOf(context.states()));
}

} // namespace

Status readStates(Context &context, const NamedFiles &files) {
  for (const auto &[name, file] : files) {
    auto index = findState(context, name);
    auto array = runtime::readNpy(file);
    if (!index.ok() || !array.ok())
      return index.ok() ? array.status() : index.status();
    const BoundTensor &state = context.states()[*index];
    auto take = [&](char *values) { return runtime::npyToInput(*array, name, state.type, state.shape, values); };
    if (Status status = context.setState(static_cast<int>(*index), take); status.failed())
      return status.in(file);
  }
  return {};
}

Status checkDraws(const runtime::Manifest &manifest, const std::string &entryName, const WeightOptions &weights, bool step) {
  const EntryInfo &entry = *manifest.findEntry(entryName);
  // Gradients are those of a training where the artifact has a recipe: else nothing is dropped.
  if (entry.draws || entry.kind == EntryInfo::Kind::Train ||
      (entry.kind == EntryInfo::Kind::Grad && manifest.recipe.find("name")))
    return {};
  if (step)
    return usageError("--step numbers random choices, and the entry ", entryName, " makes none");
  if (weights.seedGiven() && !weights.init && !weights.partial)
    return usageError("--seed is for the initial values of --init; the entry ", entryName, " draws nothing else");
  return {};
}

Status checkStateFile(const Context &context, const std::string &option, const std::string &path) {
  const auto &states = context.entry().states;
  if (path.empty() || std::any_of(states.begin(), states.end(), [](const runtime::StateInfo &state) { return !state.ofModel; }))
    return {};
  return usageError(option, " ", path, ": the entry ", context.entry().name,
                    states.empty() ? " keeps no states" : " keeps no states but the model's own, which belong to its weights");
}

Status writeStates(const Context &context, const NamedFiles &files, runtime::FileBatch &batch) {
  for (const auto &[name, file] : files) {
    auto index = findState(context, name);
    if (!index.ok())
      return index.status();
    const BoundTensor &state = context.states()[*index];
    auto values = runtime::HostCopy::of(context.state(static_cast<int>(*index)));
    Status status = values.ok() ? runtime::writeNpy(file, state.type, state.shape, values->data(), &batch) : values.status();
    if (status.failed())
      return status;
  }
  return {};
}

Status checkOutputs(const Context &context, const NamedFiles &outputs, const NamedFiles &states) {
  for (const auto &[name, file] : outputs)
    if (context.entry().outputIndex(name) < 0)
      return usageError("the entry ", context.entry().name, " has no output '", name,
                        "'; there are: ", namesOf(context.outputs()));
  for (const auto &[name, file] : states)
    if (auto index = findState(context, name); !index.ok())
      return index.status();
  return {};
}

Status saveOutputs(const Context &context, const NamedFiles &files, runtime::FileBatch &batch) {
  for (const auto &[name, file] : files) {
    int index = context.entry().outputIndex(name);
    const BoundTensor &output = context.outputs()[static_cast<size_t>(index)];
    auto values = context.output(index);
    Status status = values.ok() ? runtime::writeNpy(file, output.type, output.shape, *values, &batch) : values.status();
    if (status.failed())
      return status;
  }
  return {};
}

Status printOutputs(const Context &context, bool json) {
  std::string text = json ? "{" : "";
  for (size_t i = 0; i < context.outputs().size(); ++i) {
    const BoundTensor &output = context.outputs()[i];
    auto data = context.output(static_cast<int>(i));
    if (!data.ok())
      return data.status();
    uint64_t count = output.bytes / runtime::byteSize(output.type), wrong = 0;
    double low = INFINITY, high = -INFINITY;
    for (uint64_t k = 0; k < count; ++k) {
      double value = runtime::numberAt(output.type, *data, k);
      wrong += std::isnan(value);
      low = std::fmin(low, value);
      high = std::fmax(high, value);
    }
    char number[96];
    if (count == wrong) // fmin and fmax have seen no number
      low = high = NAN;
    bool scalar = output.shape.empty(), finite = std::isfinite(low) && std::isfinite(high);
    if (scalar)
      snprintf(number, sizeof number, "%.12g", low);
    else if (json)
      snprintf(number, sizeof number, finite ? "\"min\": %.9g, \"max\": %.9g" : "\"min\": null, \"max\": null", low, high);
    else if (count == 0)
      snprintf(number, sizeof number, "empty");
    else
      snprintf(number, sizeof number, "%.6g .. %.6g", low, high);
    std::string shape = shapeText(output.shape),
                nans = wrong > 0 && !scalar ? concat(json ? ", \"nan\": " : ", not a number: ", wrong) : "";
    if (!json)
      text += scalar ? concat(output.name, " ", number, "\n") : concat(output.name, " ", shape, " ", number, nans, "\n");
    else
      text += concat(i ? ", " : "", runtime::quoteJson(output.name), ": ",
                     scalar ? std::string(finite ? number : "null") : concat("{\"shape\": ", shape, ", ", number, nans, "}"));
  }
  show("%s%s", text.c_str(), json ? "}\n" : "");
  return {};
}

} // namespace tenon::driver
