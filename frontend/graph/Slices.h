// `slices = n` of a recipe: the gradient of a batch as the sum of those of n slices of its rows.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include <functional>

namespace tenon::sema {

/// The train entry of `recipe` for one of its slices: `entry`, built again by `build` for the dims `binds`, with the size of the
/// batch divided. The first axis of the inputs is the batch. T0643, T0644 and T0690 at the setting where the losses of the whole
/// are not those of the slices added up: nullopt then. Behind it the entry that makes the sums over the whole batch which it
/// reads, if it does. Without slices it is `entry`.
std::optional<std::vector<Entry>>
cutSlices(const CheckedRecipe &recipe, Entry entry, const std::map<std::string, int64_t> &binds,
          const std::function<std::optional<Entry>(const std::map<std::string, int64_t> &)> &build, Diagnostics &diagnostics);

} // namespace tenon::sema
