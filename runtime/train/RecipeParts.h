// Parts of reading a recipe that recipes with and without tasks share. Internal to Recipe.cpp, RecipeData.cpp and
// RecipeTasks.cpp.
#pragma once
#include "runtime/train/Recipe.h"
#include "runtime/train/RecipeCall.h"

namespace tenon::train {

/// data = task(...) or valid = task(...); `every`: how often what is held out is evaluated.
Status readTask(Call &call, data::TaskSettings &task, int64_t &every);
/// unit = bytes or characters; bytes where nothing is said.
Status readUnit(const std::string &text, data::Unit &unit);
/// The setting `valid`.
Status readValid(const runtime::JsonValue &value, Recipe &recipe);
/// All settings that are neither data nor losses.
Status readNumbers(const runtime::JsonValue &settings, Recipe &recipe);
/// A recipe of several tasks, whose evaluations read what each holds out. `seed` replaces the recipe's.
Status readSeveral(const runtime::JsonValue &settings, const runtime::Manifest &manifest, const DataOverrides &overrides,
                   std::optional<uint64_t> seed, Recipe &recipe);

} // namespace tenon::train
