#include "runtime/train/Feeder.h"
#include <cmath>

namespace tenon::train {

Status Feeder::create(runtime::Context &context, data::DataTask &task, std::unique_ptr<Feeder> &result) {
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
    tensor.data = context.input(static_cast<int>(i));
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

static double outputAsNumber(const runtime::Context &context, size_t index) {
  const void *value = context.output(static_cast<int>(index));
  switch (context.outputs()[index].type) {
  case runtime::DataType::F64:
    return *static_cast<const double *>(value);
  case runtime::DataType::I32:
    return *static_cast<const int32_t *>(value);
  default:
    return static_cast<double>(*static_cast<const float *>(value));
  }
}

double scalarOutput(const runtime::Context &context, size_t index) {
  const double value = outputAsNumber(context, index);
  return std::isnan(value) ? std::nan("") : value; // its sign is chance, and would be printed
}

} // namespace tenon::train
