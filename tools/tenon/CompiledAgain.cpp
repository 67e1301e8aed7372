#include "tools/tenon/CompiledAgain.h"
#include "tools/tenon/KeptSources.h"
#include <algorithm>

namespace tenon::driver {

namespace {

std::string nameOf(const std::string &given) { return given.substr(0, given.find('=')); }

/// NAME=VALUE in the place of what `list` says of NAME.
void replace(std::vector<std::string> &list, const std::string &given) {
  std::erase_if(list, [&](const std::string &each) { return nameOf(each) == nameOf(given); });
  list.push_back(given);
}

/// Whether the entries `eval` and `train` were compiled for one size of the dim.
bool isChosen(const runtime::Manifest &manifest, const std::string &dim) {
  auto isOpen = [&](const runtime::EntryInfo &entry) {
    return std::any_of(entry.dims.begin(), entry.dims.end(), [&](const runtime::DimInfo &each) { return each.name == dim; });
  };
  for (const char *name : {"eval", "train"})
    if (const runtime::EntryInfo *entry = manifest.findEntry(name))
      return !isOpen(*entry) && std::any_of(manifest.entries.begin(), manifest.entries.end(), isOpen);
  return false;
}

} // namespace

std::string asksForAnother(const ModelOptions &options, const std::string &directory) {
  if (options.doublePrecision)
    return "--f64";
  if (!options.numerics.empty())
    return "--numerics";
  if (!options.target.empty())
    return "--target";
  if (!options.set.empty())
    return "--set";
  if (!options.model.empty())
    return "--model";
  if (!options.recipe.empty())
    return "--recipe";
  if (options.bind.empty() || !options.bindRecipe)
    return "";
  auto artifact = runtime::Artifact::describe(directory, options.tier);
  auto chosen = std::find_if(options.bind.begin(), options.bind.end(), [&](const std::string &given) {
    return artifact.ok() && isChosen((*artifact)->manifest(), nameOf(given)); // what cannot be opened is said when it is
  });
  return chosen == options.bind.end() ? "" : "--bind " + *chosen;
}

Expected<ModelOptions> compiledAgain(Model &model, const ModelOptions &options, const std::string &option) {
  if (!options.model.empty() || !options.recipe.empty())
    return usageError(options.model.empty() ? "--recipe" : "--model", " needs a specification (.tn), and ", options.source,
                      " is compiled already");
  if (model.run) {
    auto folder = sourcesOf(*model.run);
    if (!folder.ok())
      return folder.status().in(option);
    model.sources = folder.take();
  } else {
    auto artifact = runtime::Artifact::describe(options.source);
    if (!artifact.ok())
      return artifact.status();
    model.sources = sourcesOf(**artifact);
    if (model.sources.empty())
      return usageError(option, " needs a specification (.tn), and ", options.source,
                        " is compiled already, without its sources");
  }
  auto kept = readSources(model.sources);
  if (!kept.ok())
    return kept.status().in(option);
  if (options.doublePrecision || !options.numerics.empty()) {
    kept->numerics = options.numerics;
    kept->doublePrecision = options.doublePrecision;
  }
  if (!options.target.empty())
    kept->target = options.target;
  for (const std::string &given : options.set)
    replace(kept->set, given);
  auto described = runtime::Artifact::describe(model.run ? model.run->model() : options.source, options.tier);
  for (const std::string &given : options.bindRecipe &&described.ok() ? options.bind : std::vector<std::string>())
    if (isChosen((*described)->manifest(), nameOf(given)))
      replace(kept->recipeBind, given);
  kept->tier = options.tier;
  kept->everyTier = options.everyTier;
  if (options.gradient) { // the entry `grad` is the only one, and has no maps
    kept->gradient = true;
    kept->attentionMaps = false;
    kept->entries.clear();
  }
  return kept;
}

} // namespace tenon::driver
