#include "tools/tenon/AllRows.h"
#include "tools/tenon/Call.h"
#include <algorithm>

namespace tenon::driver {

using runtime::EntryInfo;

namespace {
bool isWhole(const EntryInfo &entry) { return entry.kind == EntryInfo::Kind::Out && entry.walk.empty() && !entry.prepares; }
} // namespace

const EntryInfo *entryOfOutput(const std::string &output, const runtime::Manifest &manifest) {
  for (const EntryInfo &entry : manifest.entries)
    if (isWhole(entry) && entry.outputIndex(output) >= 0)
      return &entry;
  return nullptr;
}

std::string outputNames(const runtime::Manifest &manifest) {
  std::string names;
  for (const EntryInfo &entry : manifest.entries)
    for (const runtime::TensorInfo &output : entry.outputs)
      if (isWhole(entry))
        names += concat(names.empty() ? "" : ", ", output.name);
  return names.empty() ? "none" : names;
}

int64_t countedRows(const data::DataTask &task, uint64_t batch, int64_t rows) {
  const int64_t valid = task.validRows(batch);
  return valid < 0 ? rows : std::min(valid, rows);
}

Expected<AllRows> outputOfAllRows(const std::string &name, const train::TaskRecipe &recipe, data::DataTask &task,
                                  const runtime::Context &evaluation, const std::shared_ptr<runtime::ThreadPool> &pool) {
  const EntryInfo &entry = *entryOfOutput(name, evaluation.parameters()->manifest());
  const int output = entry.outputIndex(name);
  std::unique_ptr<runtime::Context> context;
  std::unique_ptr<train::Feeder> feeder;
  Status status = train::makeContext(evaluation.parameters(), entry.name, inputSizes(evaluation), pool, context);
  if (status.ok())
    status = train::Feeder::create(*context, task, feeder, recipe.id);
  if (status.failed())
    return status;
  const runtime::BoundTensor &bound = context->outputs()[static_cast<size_t>(output)];
  AllRows found{{}, bound.shape, entry.outputs[static_cast<size_t>(output)].axes, bound.type, 0};
  for (uint64_t batch = 0; batch < task.evaluationBatches() && status.ok(); ++batch) {
    status = feeder->fillEvaluation(batch);
    if (status.ok())
      status = context->run();
    auto values = status.ok() ? outputNumbers(*context, output) : Expected<std::vector<double>>(status);
    if (values.failed())
      return values.status();
    found.width = values->size() / static_cast<size_t>(bound.shape[0]);
    const auto rows = static_cast<size_t>(countedRows(task, batch, bound.shape[0]));
    found.values.insert(found.values.end(), values->begin(), values->begin() + static_cast<std::ptrdiff_t>(rows * found.width));
  }
  return found;
}

} // namespace tenon::driver
