// The parts of a training run: parameters, the train and eval contexts, and their data.
#pragma once
#include "runtime/device/Memory.h"
#include "runtime/train/AveragedWeights.h"
#include "runtime/train/Feeder.h"
#include "runtime/train/RunDirectory.h"
#include "runtime/train/RunState.h"
#include "runtime/train/Selection.h"
#include "runtime/train/Trainer.h"

namespace tenon::train {

/// One task of a recipe: its data and its entries.
struct SessionTask {
  std::string name; // empty where it is the only one
  std::unique_ptr<data::DataTask> trainTask, validTask;
  std::unique_ptr<runtime::Context> train, valid; // `valid` is null without held-out text or `eval` entry; of several sizes of
                                                  // batches `train` has the longest, its feeder the others
  std::unique_ptr<Feeder> trainFeeder, validFeeder;
};

/// It is its first task, too.
struct Session : SessionTask {
  std::vector<SessionTask> others;
  data::Vocabulary vocabulary; // of all tasks
  Recipe recipe;
  RunSettings settings;
  std::string tier; // of the artifact's code
  std::shared_ptr<runtime::Parameters> parameters;
  std::shared_ptr<runtime::ThreadPool> pool;
  std::unique_ptr<AveragedWeights> averages; // where the recipe asks for them; evaluations are theirs
  std::optional<Measure> measure;            // that evaluations are compared by
  std::vector<std::string> notes;            // what the user should know before the first step

  /// Reads recipe and texts, makes contexts, writes nothing. Parameters are zero.
  static Status create(const std::shared_ptr<const runtime::Artifact> &artifact, const TrainOptions &options,
                       std::unique_ptr<Session> &result);
  /// The data of the tasks, by the symbols and classes of the run if there are any.
  Status openTasks(std::vector<TaskRecipe> &all, const runtime::Manifest &manifest, const std::string &entry,
                   const data::Vocabulary *known);
  /// Threads, parameters with what training needs beside them, and their averages where the recipe asks for them.
  Status makeParameters(const std::shared_ptr<const runtime::Artifact> &artifact, int threads);
  /// Contexts and feeders of a task whose data are there.
  Status makeContexts(const TaskRecipe &task, const std::string &entry, SessionTask &result);
  Status addShorter(const TaskRecipe &task, SessionTask &result);
  /// Of each task: updates of one pass over its data, at least one.
  std::vector<uint64_t> stepsPerEpoch() const;
  TaskOrder order() const;
  /// Keeps the fingerprints of the data in `settings`, and notes what has changed since `before`.
  Status compareFiles(const std::vector<data::FileFingerprint> &before);
  /// Optimizer steps of so many passes over the training data: every batch is read, the last step may go on into the next pass.
  uint64_t stepsOf(double epochs) const;
  void setSeed(uint64_t seed);
  /// Length of a schedule, for all contexts that train.
  void setTotalSteps(uint64_t steps);
  /// How often a schedule of plateaus has lowered the rate: compiled code reads it where others read their length.
  void lowerRate(uint64_t times);
  std::vector<SessionTask *> tasks();
  std::vector<const SessionTask *> tasks() const;
  /// What checkpoints hold besides the first task's context: states of the others, and means.
  RunParts parts();
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

/// `eval`, or of one of several tasks `eval_NAME`.
std::string evalEntryOf(const TaskRecipe &recipe);
/// Those entries of the tasks that hold something out.
std::vector<const runtime::EntryInfo *> evaluationsOf(const std::vector<TaskRecipe> &tasks, const runtime::Manifest &manifest);

/// What an evaluation of `recipe` needs: `task` of the recipe over what it holds out.
Status makeEvaluation(const TaskRecipe &recipe, const data::Vocabulary *vocabulary,
                      const std::shared_ptr<runtime::Parameters> &parameters, const std::map<std::string, int64_t> &bind,
                      const std::shared_ptr<runtime::ThreadPool> &pool, std::unique_ptr<data::DataTask> &task,
                      std::unique_ptr<runtime::Context> &context, std::unique_ptr<Feeder> &feeder);

/// The symbols of tasks, and all classes of their inputs: the tasks share the parameters, so they agree about what ids mean.
/// Errors speak of the task as of "it".
Status addVocabulary(const data::Vocabulary &ofTask, data::Vocabulary &all, bool isFirst);

} // namespace tenon::train
