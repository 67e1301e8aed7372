// The inputs of a context, filled by a data task.
#pragma once
#include "runtime/Context.h"
#include "runtime/data/Task.h"

namespace tenon::train {

using runtime::inputError;
using runtime::Status;

class Feeder {
public:
  /// Binds the task to the context's inputs; both must outlive the feeder.
  static Status create(runtime::Context &context, data::DataTask &task, std::unique_ptr<Feeder> &result);
  /// Writes batch `index` into the context's inputs, after a reset of its states where the task says so.
  Status fill(uint64_t index);
  const data::DataTask &task() const { return source; }

private:
  Feeder(runtime::Context &context, data::DataTask &task) : context(context), source(task) {}
  runtime::Context &context;
  data::DataTask &source;
  std::vector<data::InputTensor> tensors;
};

/// A scalar output as a number.
double scalarOutput(const runtime::Context &context, size_t index);

/// The output that bits per character come from, divided by ln 2: the first that is a mean of cross-entropies, where symbols are
/// characters. -1: there is none.
int entropyOutput(const runtime::Context &context, const data::DataTask &task);

/// Losses of an evaluation, in the order of the entry's outputs.
struct Evaluation {
  std::vector<std::pair<std::string, double>> losses;
  int entropy = -1; // the loss that bits per character come from; see entropyOutput
  double bitsPerCharacter() const;
  uint64_t batches = 0;
  double seconds = 0;
};
/// Runs the `eval` context over its task once, from the start and with fresh states; `maxBatches` 0: the whole text. The mean over batches.
/// `stop` ends it early when it says so (null: never); then `batches` is lower.
runtime::Expected<Evaluation> evaluate(runtime::Context &context, Feeder &feeder, uint64_t maxBatches, bool (*stop)());

} // namespace tenon::train
