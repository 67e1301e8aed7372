#include "runtime/train/Feeder.h"
#include <algorithm>
#include <cctype>
#include <cmath>

namespace tenon::train {

/// A bound dim is a number in the shape, as a config is: the name tells them apart. Sizes without a name are nobody's.
static bool hasFixedWidth(const runtime::TensorInfo &input, const runtime::Manifest &manifest) {
  if (manifest.dims.empty() || input.shape.size() < 2 || !input.shape[1].terms.empty())
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
  for (int64_t i = 0; i < input.elements(); ++i)
    switch (input.type) {
    case runtime::DataType::I32:
      static_cast<int32_t *>(input.data)[i] = static_cast<int32_t>(value);
      break;
    case runtime::DataType::F32:
      static_cast<float *>(input.data)[i] = static_cast<float>(value);
      break;
    case runtime::DataType::F64:
      static_cast<double *>(input.data)[i] = static_cast<double>(value);
      break;
    default:
      return inputError("the input task has the type ", nameOf(input.type), ", and `id` of a task is a whole number");
    }
  return {};
}

Status Feeder::create(runtime::Context &context, data::DataTask &task, std::unique_ptr<Feeder> &result,
                      std::optional<int64_t> id) {
  std::unique_ptr<Feeder> feeder(new Feeder(context, task));
  const runtime::EntryInfo &entry = context.entry();
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const runtime::BoundTensor &bound = context.inputs()[i];
    data::InputTensor tensor;
    tensor.name = bound.name;
    tensor.type = bound.type;
    tensor.shape = bound.shape;
    if (entry.inputs[i].bound)
      tensor.bound = entry.inputs[i].bound->evaluate(context.dims()).value_or(-1);
    tensor.fixedWidth = hasFixedWidth(entry.inputs[i], context.parameters()->manifest());
    tensor.data = context.input(static_cast<int>(i));
    if (id && tensor.name == "task") { // stays in the buffer
      if (Status status = fillWith(*id, tensor); status.failed())
        return status;
      continue;
    }
    feeder->tensors.push_back(std::move(tensor));
  }
  if (Status status = task.bind(feeder->tensors); status.failed())
    return status;
  result = std::move(feeder);
  return {};
}

Status Feeder::fill(uint64_t index) {
  if (source.resetsBefore(index))
    context.resetStates();
  return source.fill(index, tensors);
}

Status Feeder::fillEvaluation(uint64_t index) {
  if (source.resetsInEvaluation(index))
    context.resetStates();
  return source.fillEvaluation(index, tensors);
}

static double asNumber(const void *value, runtime::DataType type) {
  switch (type) {
  case runtime::DataType::F64:
    return *static_cast<const double *>(value);
  case runtime::DataType::I32:
    return *static_cast<const int32_t *>(value);
  default:
    return static_cast<double>(*static_cast<const float *>(value));
  }
}

runtime::Expected<double> scalarOutput(const runtime::Context &context, size_t index) {
  auto place = context.output(static_cast<int>(index));
  if (!place.ok())
    return place.status();
  const double value = asNumber(*place, context.outputs()[index].type);
  return std::isnan(value) ? std::nan("") : value; // its sign is chance, and would be printed
}

} // namespace tenon::train
