// A train recipe of a manifest, read into what the training loop uses. The compiled step holds optimizer, schedule and clipping.
#pragma once
#include "runtime/artifact/Manifest.h"
#include "runtime/data/Task.h"
#include "runtime/train/AverageSetting.h"
#include "runtime/train/TaskOrder.h"
#include <map>
#include <optional>

namespace tenon::train {

using runtime::Expected;
using runtime::inputError;
using runtime::Status;

/// What --text, --vocab, ... put in place of the recipe's values.
struct DataOverrides {
  std::string text, vocabulary, validText;
  std::optional<std::string> unit;              // bytes or characters
  std::string folder;                           // --data DIR: where relative paths of the recipe's data are
  std::map<std::string, std::string> files;     // --data INPUT=FILE, --data INPUT.offsets=FILE, --data valid.INPUT=FILE
  bool whole = false;                           // evaluate on all of the data; not kept
  std::map<std::string, std::string> evaluated; // files that `whole` is of, whatever `files` says of them; not kept
  std::optional<double> heldOut;
  std::optional<int64_t> validEvery;
};

/// One of `tasks`, or all that a recipe without them trains on.
struct TaskRecipe {
  std::string name; // of its entries train_NAME and eval_NAME; empty: `train` and `eval`
  data::TaskSettings data;
  std::optional<data::TaskSettings> valid;   // of evaluations; absent: nothing is held out
  double share = 1;                          // how often it is drawn
  std::optional<int64_t> id;                 // the value of the input `task`
  std::map<std::string, int64_t> sizes = {}; // the recipe's, of dims that its entries leave open
};

struct Recipe {
  std::string name;
  std::vector<TaskRecipe> tasks; // of `tasks`; empty: `data` and `valid` are all, which are those of the first task else
  Mix mix = Mix::Share;
  std::map<std::string, int64_t> sizes; // greatest ones, of dims that its entries leave open: data with `tokens`
  data::TaskSettings data;
  std::optional<data::TaskSettings> valid; // the task of evaluation; absent: nothing is held out
  int64_t validEvery = 0;                  // 0: at the end only
  int64_t steps = 0;                       // else the `total` of the schedule; 0: no limit
  double epochs = 0;                       // instead of steps, in passes over the data
  int64_t warmup = 0;                      // of the schedule, in steps; 0 where it is a share of them
  bool warmsByShare = false;
  int64_t checkpointEvery = 1000;
  int keep = 3;
  std::string best;     // checkpoint = every(.., best = NAME): a loss or metric of `eval`; empty: none is kept apart
  bool lowest = false;  // of a metric: the best is the lowest, as it always is of a loss
  int64_t patience = 0; // stop = patience(N): evaluations without a better one that end the run; 0: never
  uint64_t seed = 0;
  std::optional<AverageSetting> average;
  std::optional<int64_t> plateau;    // schedule = plateau(patience = ..): evaluations without a better one that it waits for
  std::string initFile, initScheme;  // init = load(file, names = scheme)
  std::vector<std::string> initGrow; // grow = (..): parameters that may have more rows than the file
  bool initPartial = false;          // partial = true: what fits
  std::vector<double> initRows;      // rows = (..): the rows of the file that those behind start as; empty: as drawn
  /// At least one.
  std::vector<TaskRecipe> allTasks() const {
    return tasks.empty() ? std::vector{TaskRecipe{"", data, valid, 1, {}, sizes}} : tasks;
  }
};

/// The inputs of arrays whose files an evaluation takes from the recipe although it was given those of others: rows of two files
/// are evaluated together. Empty where none was given.
std::string sourcesNotGiven(const DataOverrides &given, const data::TaskSettings &task);
/// Every file that a task reads, with its folder.
std::vector<std::string> filesOf(const data::TaskSettings &task);
/// Whether a data task of this name takes `setting`, such as `vocab` where it reads texts as symbols.
bool hasSetting(const std::string &task, std::string_view setting);

/// Errors name the setting. `seed` replaces the recipe's.
Expected<Recipe> readRecipe(const runtime::Manifest &manifest, const DataOverrides &overrides, std::optional<uint64_t> seed);

} // namespace tenon::train
