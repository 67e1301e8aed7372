// Measures of what an entry puts out for all rows of an evaluation, which are no mean over rows: `tenon eval --measure`.
#pragma once
#include "runtime/train/Session.h"
#include "tools/tenon/Command.h"

namespace tenon::driver {

/// span_f1, matthews, f1, spearman or pearson, and the output that is compared with the labels.
struct Measure {
  std::string name, output = "logits";
};
/// Adds --measure, which may be given several times.
void addMeasureOption(CLI::App &command, std::vector<std::string> &texts);
/// Of --measure NAME or NAME=OUTPUT. A usage error for another name, or one that is given twice.
Expected<std::vector<Measure>> readMeasures(const std::vector<std::string> &texts);

/// Before anything is computed: whether some evaluation of the recipe has the labels of each measure, and some entry the output.
Status checkMeasures(const std::vector<Measure> &measures, const train::Recipe &recipe, const runtime::Manifest &manifest);

/// Notes which numbers are means over batches; an error for one that is not finite.
Status checkNumbers(const std::vector<train::TaskEvaluation> &results);

/// The part of `measures` that `task` of the recipe has labels for, added to the numbers of its evaluation. Binds `task` to
/// entries of its own, whose dims are those of `evaluation`. An input error where labels or outputs have another form than a
/// measure takes.
Status addMeasures(const std::vector<Measure> &measures, const train::TaskRecipe &recipe, data::DataTask &task,
                   const runtime::Context &evaluation, const std::shared_ptr<runtime::ThreadPool> &pool,
                   train::Evaluation &result);

} // namespace tenon::driver
