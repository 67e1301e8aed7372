// Losses and metrics over held-out data.
#pragma once
#include "runtime/train/Feeder.h"

namespace tenon::train {

/// The output that bits per character come from, divided by ln 2: the first loss that is a mean of cross-entropies, where symbols
/// are characters. -1: there is none. How far behind it in the row lies what a place predicts: 0 where entries read a target, 1
/// where the losses of an entry `eval` shift ids themselves.
int64_t predictionShift(const runtime::EntryInfo &eval);

int entropyOutput(const runtime::Context &context, const data::DataTask &task);

/// What an evaluation found, in the order of the entry's outputs: losses, then metrics.
struct Evaluation {
  struct Number {
    std::string name;
    double value = 0;
    bool metric = false;
    bool nats = false;     // a mean of cross-entropies of symbols
    bool perBatch = false; // the mean of what each whole batch has
  };
  std::vector<Number> numbers;
  int entropy = -1; // the number that bits per character come from; see entropyOutput
  double bitsPerCharacter() const;
  /// exp of the first number that is a mean of cross-entropies of symbols, of losses before metrics; nullopt without one.
  std::optional<double> perplexity() const;
  const Number *find(const std::string &name) const;
  uint64_t batches = 0, wholeBatches = 0;
  /// Says of numbers that are means over the whole batches that they are, and what is not in them; empty where there are none, or
  /// one batch is all.
  std::string perBatchNote() const;
  data::DataTask::Extent extent; // covered: by these batches
  double seconds = 0;
};

/// Runs the `eval` context over its task once, from the start and with fresh states; `maxBatches` 0: all of it. The numbers are
/// those that all rows and places that count would have given as one batch; those that are no formula over sums (manifest:
/// "mean") are means over the whole batches. `stop` ends it early when it says so (null: never); then `batches` is lower.
runtime::Expected<Evaluation> evaluate(runtime::Context &context, Feeder &feeder, uint64_t maxBatches, bool (*stop)());

/// Of one of several tasks.
struct TaskEvaluation {
  std::string task; // empty where it is the only one
  Evaluation evaluation;
  std::string prefix = {}; // of what follows from its numbers: "task.", or nothing
};
/// Tells them apart: a number that another task has, too, becomes TASK.NAME.
std::vector<TaskEvaluation> nameNumbers(std::vector<TaskEvaluation> results);
/// The number of a loss or metric, of several tasks the first that has it.
const Evaluation::Number *findNumber(const std::vector<TaskEvaluation> &results, const std::string &name);

/// One line that says which losses and metrics none of these entries computes, and why; empty: there are none.
std::string leftOutNote(const std::vector<const runtime::EntryInfo *> &evaluations);

} // namespace tenon::train
