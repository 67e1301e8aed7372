#include "lowering/GradEntry.h"
#include "frontend/Characters.h"
#include "llvm/ADT/STLExtras.h"
#include <string_view>

namespace tenon {

/// Where the recipes agree; their sizes and configs are not taken. A model without recipes: the plain sum. False after a message.
static bool takeLossesOfRecipes(Program &program, const CheckOptions &checked) {
  auto evaluation = llvm::find_if(program.entries, [](const Entry &entry) { return entry.kind == Entry::Kind::Eval; });
  if (!checked.recipe.empty() || evaluation == program.entries.end() || evaluation->results.size() < 2)
    return true;
  std::string names;
  bool isFirst = true, agree = true;
  for (const CheckedRecipe &candidate : program.recipes) {
    if (candidate.kind != "train")
      continue;
    CheckOptions options = checked;
    options.recipe = candidate.name;
    options.lossesOnly = true;
    SourceFiles texts;
    Diagnostics mistakes;
    std::optional<Program> trained = check(options, texts, mistakes);
    if (!trained) // right without this recipe
      continue;
    agree &= isFirst || program.lossWeights == trained->lossWeights;
    names += (isFirst ? "" : ", ") + candidate.name;
    program.lossWeights = trained->lossWeights;
    isFirst = false;
  }
  if (!agree)
    complain(program.model + " has several losses, and its recipes add them up in different ways; pass --recipe with one of " +
             names);
  llvm::erase_if(evaluation->results, [&](const auto &loss) {
    return !isFirst && llvm::none_of(program.lossWeights, [&](const auto &weighted) { return weighted.first == loss.first; });
  });
  return agree;
}

bool makeGradEntry(Program &program, const CheckOptions &checked) {
  if (!takeLossesOfRecipes(program, checked))
    return false;
  std::vector<Entry> kept;
  for (Entry &entry : program.entries) {
    bool isSource = entry.kind == (checked.recipe.empty() ? Entry::Kind::Eval : Entry::Kind::Train);
    if (isSource && !entry.results.empty()) {
      Entry grad = entry;
      const bool isOfTask = entry.name.starts_with("train_");
      grad.name = isOfTask ? "grad" + entry.name.substr(std::string_view("train").size()) : "grad";
      grad.kind = Entry::Kind::Train;
      kept.push_back(std::move(grad));
    }
  }
  program.entries = std::move(kept);
  return true;
}

} // namespace tenon
