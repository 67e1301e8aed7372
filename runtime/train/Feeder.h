// The inputs of a context, filled by a data task.
#pragma once
#include "runtime/context/Context.h"
#include "runtime/data/Task.h"
#include <memory>
#include <optional>

namespace tenon::train {

using runtime::inputError;
using runtime::Status;

class Feeder {
public:
  /// Binds the task to the context's inputs; both must outlive the feeder. Of a task that chooses the sizes of its batches the
  /// context has the last of them.
  /// `id`: of several tasks, what the input `task` is, which no data task makes then.
  static Status create(runtime::Context &context, data::DataTask &task, std::unique_ptr<Feeder> &result,
                       std::optional<int64_t> id = std::nullopt);
  /// A context for the batches of a training that have size number `contexts().size() - 1` of the task: they are added in order.
  Status add(std::unique_ptr<runtime::Context> context);
  /// The one of `create` last.
  std::vector<runtime::Context *> contexts() const;
  /// The one that batch `index` runs in.
  runtime::Context &contextOf(uint64_t index) const { return others.empty() ? context : *contexts()[source.sizeOf(index)]; }
  /// Writes batch `index` into the inputs of its context, after a reset of its states where the task says so.
  Status fill(uint64_t index);
  /// The inputs of batch `index` ahead of `fill`, once Context::run has returned: a device that goes on with the batch before has
  /// a copy of its own. What is wrong with the batch is for `fill` to say.
  void prepare(uint64_t index);
  /// The same for batch `index` of an evaluation.
  Status fillEvaluation(uint64_t index);
  const data::DataTask &task() const { return source; }

private:
  Feeder(runtime::Context &context, data::DataTask &task) : context(context), source(task) {}
  Status bind(runtime::Context &to, std::vector<data::InputTensor> &inputs) const;
  std::vector<data::InputTensor> &tensorsOf(uint64_t index);
  runtime::Context &context;
  data::DataTask &source;
  std::optional<int64_t> id;
  std::vector<data::InputTensor> tensors;
  std::vector<std::unique_ptr<runtime::Context>> others; // of shorter batches
  std::vector<std::vector<data::InputTensor>> othersTensors;
  std::optional<uint64_t> prepared; // the batch that the inputs hold, and nobody has run
};

/// A scalar output as a number.
runtime::Expected<double> scalarOutput(const runtime::Context &context, size_t index);

} // namespace tenon::train
