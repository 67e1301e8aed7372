// The inputs of a context, filled by a data task.
#pragma once
#include "runtime/context/Context.h"
#include "runtime/data/Task.h"
#include <optional>

namespace tenon::train {

using runtime::inputError;
using runtime::Status;

class Feeder {
public:
  /// Binds the task to the context's inputs; both must outlive the feeder.
  /// `id`: of several tasks, what the input `task` is, which no data task makes then.
  static Status create(runtime::Context &context, data::DataTask &task, std::unique_ptr<Feeder> &result,
                       std::optional<int64_t> id = std::nullopt);
  /// Writes batch `index` into the context's inputs, after a reset of its states where the task says so.
  Status fill(uint64_t index);
  /// The inputs of batch `index` ahead of `fill`, once Context::run has returned: a device that goes on with the batch before has
  /// a copy of its own. What is wrong with the batch is for `fill` to say.
  void prepare(uint64_t index);
  /// The same for batch `index` of an evaluation.
  Status fillEvaluation(uint64_t index);
  const data::DataTask &task() const { return source; }

private:
  Feeder(runtime::Context &context, data::DataTask &task) : context(context), source(task) {}
  runtime::Context &context;
  data::DataTask &source;
  std::vector<data::InputTensor> tensors;
  std::optional<uint64_t> prepared; // the batch that the inputs hold, and nobody has run
};

/// A scalar output as a number.
runtime::Expected<double> scalarOutput(const runtime::Context &context, size_t index);

} // namespace tenon::train
