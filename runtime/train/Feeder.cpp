#include "runtime/train/Feeder.h"
#include "runtime/base/Convert.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace tenon::train {

/// A bound dim is a number in the shape, as a config is: the name tells them apart. Sizes without a name are nobody's.
static bool hasFixedWidth(const runtime::TensorInfo &input, const runtime::Manifest &manifest) {
  if (manifest.dims.empty() || input.shape.size() < 2 || !input.shape[1].isConstant())
    return false;
  const std::string &axis = input.axes[1];
  const bool isName =
      !axis.empty() && std::all_of(axis.begin(), axis.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  return isName && std::find(manifest.dims.begin(), manifest.dims.end(), axis) == manifest.dims.end();
}

/// All elements the same whole number, which an index below `bound` can be.
static Status fillWith(int64_t value, const data::InputTensor &input) {
  if (input.bound >= 0 && value >= input.bound)
    return inputError("the input task holds values below ", input.bound, ", and a task of the recipe has id = ", value);
  if (!runtime::isReal(input.type) && !runtime::isWhole(input.type))
    return inputError("the input task has the type ", nameOf(input.type), ", and `id` of a task is a whole number");
  const std::vector<int64_t> values(static_cast<size_t>(input.elements()), value);
  const auto wrong = runtime::convertElements(runtime::DataType::I64, values.data(), values.size(), input.type, input.data);
  return wrong ? inputError("`id` of a task ", wrong->what) : Status();
}

Status Feeder::create(runtime::Context &context, data::DataTask &task, std::unique_ptr<Feeder> &result,
                      std::optional<int64_t> id) {
  std::unique_ptr<Feeder> feeder(new Feeder(context, task));
  feeder->id = id;
  if (Status status = feeder->bind(context, feeder->tensors); status.failed())
    return status;
  result = std::move(feeder);
  return {};
}

Status Feeder::bind(runtime::Context &to, std::vector<data::InputTensor> &inputs) const {
  const runtime::EntryInfo &entry = to.entry();
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const runtime::BoundTensor &bound = to.inputs()[i];
    data::InputTensor tensor;
    tensor.name = bound.name;
    tensor.type = bound.type;
    tensor.shape = bound.shape;
    if (entry.inputs[i].bound)
      tensor.bound = entry.inputs[i].bound->evaluate(to.dims()).value_or(-1);
    tensor.ofSizes = entry.inputs[i].ofSizes;
    tensor.fixedWidth = hasFixedWidth(entry.inputs[i], to.parameters()->manifest());
    tensor.data = to.input(static_cast<int>(i));
    if (id && tensor.name == "task") { // stays in the buffer
      if (Status status = fillWith(*id, tensor); status.failed())
        return status;
      continue;
    }
    inputs.push_back(std::move(tensor));
  }
  return source.bind(inputs);
}

Status Feeder::add(std::unique_ptr<runtime::Context> shorter) {
  othersTensors.emplace_back();
  if (Status status = bind(*shorter, othersTensors.back()); status.failed())
    return status;
  others.push_back(std::move(shorter));
  return {};
}

std::vector<runtime::Context *> Feeder::contexts() const {
  std::vector<runtime::Context *> all;
  for (const auto &other : others)
    all.push_back(other.get());
  all.push_back(&context);
  return all;
}

std::vector<data::InputTensor> &Feeder::tensorsOf(uint64_t index) {
  const size_t size = others.empty() ? 0 : source.sizeOf(index);
  return size < others.size() ? othersTensors[size] : tensors;
}

Status Feeder::fill(uint64_t index) {
  if (source.resetsBefore(index))
    contextOf(index).resetStates();
  return std::exchange(prepared, std::nullopt) == index ? Status() : source.fill(index, tensorsOf(index));
}

void Feeder::prepare(uint64_t index) {
  prepared = source.fill(index, tensorsOf(index)).ok() ? std::optional(index) : std::nullopt;
}

Status Feeder::fillEvaluation(uint64_t index) {
  prepared.reset();
  if (source.resetsInEvaluation(index))
    context.resetStates();
  return source.fillEvaluation(index, tensors);
}

runtime::Expected<double> scalarOutput(const runtime::Context &context, size_t index) {
  auto place = context.output(static_cast<int>(index));
  if (!place.ok())
    return place.status();
  const double value = runtime::numberAt(context.outputs()[index].type, *place, 0);
  return std::isnan(value) ? std::nan("") : value; // its sign is chance, and would be printed
}

} // namespace tenon::train
