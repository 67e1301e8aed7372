// tenon eval --predictions: what a model says of each row, in a file.
#pragma once
#include "runtime/train/Session.h"
#include "tools/tenon/Command.h"

namespace tenon::driver {

struct PredictionOptions {
  std::string path, output;        // --predictions, --predicted
  std::optional<double> noneAbove; // --no-answer-above
};
void addPredictionOptions(CLI::App &command, PredictionOptions &options);

/// Before anything is computed: whether there can be any. `isPart`: of some batches alone. Chooses the output of rows where none
/// is named: of those with the axes of scores logits, else classes or tags, else the only one. Usage errors: data of other tasks
/// than questions (squad) or rows with labels, several tasks, an output that no entry has.
Status checkPredictions(PredictionOptions &options, bool isPart, const train::Recipe &recipe, const runtime::Manifest &manifest);

/// Whether they are those of rows: questions have answers (Answers.h).
bool areOfRows(const PredictionOptions &options, const train::TaskRecipe &recipe);
/// A JSON object in a line for each row, in the order of the data, with its number there from 1 on: of scores of classes the best
/// one and all of them, of a number that number, of words with tags these. Binds `task` to the entry of the output, whose dims
/// are those of `evaluation`. An input error where the output is none of these.
Expected<std::string> predictRows(const PredictionOptions &options, const train::TaskRecipe &recipe, data::DataTask &task,
                                  const runtime::Context &evaluation, const std::shared_ptr<runtime::ThreadPool> &pool);

} // namespace tenon::driver
