#include "runtime/train/Feeder.h"
#include <chrono>
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
    return status.in(runtime::concat("entry ", entry.name));
  result = std::move(feeder);
  return {};
}

Status Feeder::fill(uint64_t index) {
  if (source.resetsBefore(index))
    context.resetStates();
  return source.fill(index, tensors);
}

double scalarOutput(const runtime::Context &context, size_t index) {
  const void *value = context.output(static_cast<int>(index));
  return context.outputs()[index].type == runtime::DataType::F64 ? *static_cast<const double *>(value)
                                                                 : static_cast<double>(*static_cast<const float *>(value));
}

int entropyOutput(const runtime::Context &context, const data::DataTask &task) {
  const std::vector<runtime::TensorInfo> &outputs = context.entry().outputs;
  for (size_t i = 0; i < outputs.size() && task.perCharacter(); ++i)
    if (outputs[i].nats)
      return static_cast<int>(i);
  return -1;
}

double Evaluation::bitsPerCharacter() const { return losses[static_cast<size_t>(entropy)].second / M_LN2; }

runtime::Expected<Evaluation> evaluate(runtime::Context &context, Feeder &feeder, uint64_t maxBatches, bool (*stop)()) {
  auto begin = std::chrono::steady_clock::now();
  uint64_t batches = feeder.task().batchesPerEpoch();
  if (maxBatches > 0)
    batches = std::min(batches, maxBatches);
  Evaluation result;
  for (const runtime::BoundTensor &output : context.outputs())
    result.losses.emplace_back(output.name, 0.0);
  result.entropy = entropyOutput(context, feeder.task());
  context.resetStates();
  for (uint64_t i = 0; i < batches && !(stop && stop()); ++i) {
    if (Status status = feeder.fill(i); status.failed())
      return status;
    context.setStep(i);
    if (Status status = context.run(); status.failed())
      return status;
    for (size_t k = 0; k < result.losses.size(); ++k)
      result.losses[k].second += scalarOutput(context, k);
    ++result.batches;
  }
  for (auto &[name, sum] : result.losses)
    sum = result.batches ? sum / static_cast<double>(result.batches) : std::nan("");
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace tenon::train
