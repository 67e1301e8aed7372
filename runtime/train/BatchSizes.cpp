#include "runtime/train/BatchSizes.h"
#include "frontend/recipes/RecipeSchema.h"
#include "runtime/data/LengthBatches.h"
#include <algorithm>

namespace tenon::train {

using runtime::concat;
using runtime::EntryInfo;

std::map<std::string, int64_t> BatchDims::with(std::map<std::string, int64_t> bind, const data::BatchSize &size) const {
  for (auto [dim, value] : {std::pair(&rows, size.rows), std::pair(&source, size.source), std::pair(&target, size.target)})
    if (!dim->empty())
      bind[*dim] = value;
  return bind;
}

/// The dim that is the whole size of an axis; null where there is none.
static const std::string *dimOf(const EntryInfo &entry, const runtime::SizeForm &size) {
  const bool isDim = size.constant == 0 && size.isOfOneDim() && size.terms[0].second == 1;
  return isDim ? &entry.dims[size.terms[0].first].name : nullptr;
}

Expected<BatchDims> batchDims(const EntryInfo &entry, const std::string &task) {
  BatchDims dims;
  const schema::Function *function = schema::find("data task", task);
  for (const runtime::TensorInfo &input : entry.inputs)
    for (const schema::Made &made : function->makes) {
      if (made.name != input.name || made.axes.size() != input.shape.size())
        continue;
      for (size_t axis = 0; axis < made.axes.size(); ++axis) {
        const std::string *dim = dimOf(entry, input.shape[axis]);
        std::string &place = made.axes[axis] == 'B' ? dims.rows : made.axes[axis] == 'S' ? dims.source : dims.target;
        if (!dim && !input.shape[axis].isConstant())
          return inputError("`tokens` chooses the sizes of batches, and the axis ", input.axes[axis], " of ", input.name,
                            " of the entry ", entry.name, " is derived from other dims; give it a dim of its own");
        if (!dim)
          return inputError("`tokens` chooses the sizes of batches, and the entry ", entry.name, " has one size for the axis ",
                            input.axes[axis], " of ", input.name, "; leave it open: compile without --bind ", input.axes[axis]);
        if (!place.empty() && place != *dim)
          return inputError("`tokens` gives ", *dim, " and ", place, " of the entry ", entry.name,
                            " one size: inputs of one side have the same axes");
        place = *dim;
      }
    }
  for (const runtime::StateInfo &state : entry.states)
    if (!state.ofModel)
      return inputError("not supported yet: `tokens` with the state ", state.name, " of the entry ", entry.name,
                        ", which a batch of another size cannot go on from");
  return dims;
}

Status setLengths(const EntryInfo &entry, const std::map<std::string, int64_t> &bind, const std::map<std::string, int64_t> &sizes,
                  data::TaskSettings &task) {
  if (task.tokens == 0)
    return {};
  auto dims = batchDims(entry, task.name);
  if (!dims.ok())
    return dims.status();
  if (bind.count(dims->rows))
    return runtime::usageError("--bind ", dims->rows, ": `tokens` of the recipe says how many rows a batch has");
  std::string missing;
  for (auto [dim, places] : {std::pair(&dims->source, &task.sourcePlaces), std::pair(&dims->target, &task.targetPlaces)}) {
    if (dim->empty())
      continue;
    const auto given = bind.find(*dim), ofRecipe = sizes.find(*dim);
    if (given == bind.end() && ofRecipe == sizes.end())
      missing += (missing.empty() ? "" : ", ") + *dim;
    else
      *places = given != bind.end() ? given->second : ofRecipe->second;
  }
  if (!missing.empty())
    return runtime::usageError("`tokens` needs the greatest length of a row, and the recipe leaves ", missing,
                               " open; pass --bind ", missing.substr(0, missing.find(',')),
                               "=128, or bind it in the recipe: bind ", missing.substr(0, missing.find(',')), " = 128");
  if (task.sourcePlaces + task.targetPlaces == 0)
    return inputError("the entry ", entry.name, " reads lengths alone, so `tokens` has nothing to sort by");
  task.rowMultiple = entry.slices;
  return {};
}

std::optional<LengthReport> reportLengths(const runtime::Manifest &manifest, const EntryInfo &entry,
                                          const std::map<std::string, int64_t> &bind) {
  auto recipe = readRecipe(manifest, {}, std::nullopt);
  const bool isOfRecipe = entry.kind == EntryInfo::Kind::Train || entry.kind == EntryInfo::Kind::Eval;
  if (!isOfRecipe || !recipe.ok() || recipe->data.tokens == 0)
    return std::nullopt;
  data::TaskSettings task = recipe->data;
  auto dims = batchDims(entry, task.name);
  if (!dims.ok() || setLengths(entry, bind, recipe->sizes, task).failed())
    return std::nullopt;
  const int64_t greatest = std::max(task.sourcePlaces, task.targetPlaces);
  std::string list;
  for (int64_t length : data::batchLengths(greatest))
    list += concat(list.empty() ? "" : ", ", data::rowsFor(task.tokens, length, task.rowMultiple), " x ", length);
  const int64_t rows = data::rowsFor(task.tokens, greatest, task.rowMultiple);
  return LengthReport{dims->with(bind, {rows, task.sourcePlaces, task.targetPlaces, 0}),
                      concat("batches by length, of up to ", task.tokens, " tokens on each side: ", list)};
}

} // namespace tenon::train
