// The parts of a training run: parameters, the train and eval contexts, and their data.
#pragma once
#include "runtime/Memory.h"
#include "runtime/train/AveragedWeights.h"
#include "runtime/train/Feeder.h"
#include "runtime/train/RunDirectory.h"
#include "runtime/train/Selection.h"
#include "runtime/train/Trainer.h"

namespace tenon::train {

struct Session {
  Recipe recipe;
  RunSettings settings;
  std::string tier; // of the artifact's code
  std::shared_ptr<runtime::Parameters> parameters;
  std::shared_ptr<runtime::ThreadPool> pool;
  std::unique_ptr<AveragedWeights> averages; // where the recipe asks for them; evaluations are theirs
  std::unique_ptr<data::DataTask> trainTask, validTask;
  std::unique_ptr<runtime::Context> train, valid; // `valid` is null without held-out text or `eval` entry
  std::unique_ptr<Feeder> trainFeeder, validFeeder;
  std::optional<Measure> measure; // that evaluations are compared by
  std::vector<std::string> notes; // what the user should know before the first step

  /// Reads recipe and texts, makes contexts, writes nothing. Parameters are zero.
  static Status create(const std::shared_ptr<const runtime::Artifact> &artifact, const TrainOptions &options,
                       std::unique_ptr<Session> &result);
  /// Keeps the fingerprints of the data in `settings`, and notes what has changed since `before`.
  Status compareFiles(const std::vector<data::FileFingerprint> &before);
  /// Optimizer steps of so many passes over the training data: every batch is read, the last step may go on into the next pass.
  uint64_t stepsOf(double epochs) const;
  void setSeed(uint64_t seed);
  /// The means that checkpoints hold, else null.
  runtime::Parameters *means() const { return averages ? averages->parameters().get() : nullptr; }
  std::vector<runtime::MemoryItem> memoryItems() const;
  /// With `save = blocks`: the workspace of training that `save = all` would take.
  std::optional<uint64_t> workspaceSavingAll() const;
  /// vocabulary.json and run.json.
  Status saveDescription(const RunDirectory &run) const;
};

/// A context of `entry` with the dims that `bind` names; other names in `bind` are ignored. The error names the dims that are
/// missing.
Status makeContext(const std::shared_ptr<runtime::Parameters> &parameters, const std::string &entry,
                   const std::map<std::string, int64_t> &bind, const std::shared_ptr<runtime::ThreadPool> &pool,
                   std::unique_ptr<runtime::Context> &result);

/// Task, context and feeder of evaluation: the `eval` entry over the recipe's held-out text.
Status makeEvaluation(const Recipe &recipe, const data::Vocabulary *vocabulary,
                      const std::shared_ptr<runtime::Parameters> &parameters, const std::map<std::string, int64_t> &bind,
                      const std::shared_ptr<runtime::ThreadPool> &pool, std::unique_ptr<data::DataTask> &task,
                      std::unique_ptr<runtime::Context> &context, std::unique_ptr<Feeder> &feeder);

} // namespace tenon::train
