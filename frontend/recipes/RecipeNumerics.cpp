// The numerics policy of a recipe: which of its types go together, what is not there yet, and which contractions its exceptions
// name.
#include "frontend/ElementTypes.h"
#include "frontend/recipes/RecipeReader.h"
#include <algorithm>

namespace tenon {

namespace {

const Setting *keywordOf(const Setting &call, std::string_view wanted) {
  for (const auto &[name, value] : call.keywords)
    if (name == wanted)
      return value.get();
  return nullptr;
}

NumericsPolicy typesOf(const Setting &call) {
  NumericsPolicy policy;
  for (const auto &[name, type] :
       {std::pair("params", &policy.params), std::pair("compute", &policy.compute), std::pair("reduce", &policy.reduce)})
    if (const Setting *given = keywordOf(call, name))
      *type = given->text;
  return policy;
}

/// Parameters and layers of a model, and the paths of the elements of their stacks.
struct Named {
  std::string path;
  std::vector<std::string> elements;
};

Named namedBy(const std::string &path, const std::vector<int64_t> &counts) {
  Named named{path, {path}};
  for (int64_t count : counts) {
    std::vector<std::string> next;
    for (const std::string &element : named.elements)
      for (int64_t i = 0, star = int64_t(element.find('*')); i < count && star >= 0; ++i)
        next.push_back(element.substr(0, star) + std::to_string(i) + element.substr(star + 1));
    named.elements = std::move(next);
  }
  return named;
}

class ExceptionResolver {
public:
  ExceptionResolver(const std::vector<Param> &params, const std::vector<LayerPath> &layers, const RecipeContext &context,
                    Diagnostics &diagnostics)
      : params(params), layers(layers), context(context), diagnostics(diagnostics) {}

  std::map<std::string, std::string> resolve(const Setting &policy) {
    std::map<std::string, std::string> types;
    for (const auto &[key, globs] : policy.keywords)
      if (isWrittenReal(key))
        for (const SettingValue &glob : globs->elements)
          add(*glob, key, types);
    return types;
  }

private:
  /// How many elements of the stacks the glob matches: of a layer, its own name or one of whatever stands in it.
  size_t matches(const Setting &glob, const Named &named, bool isLayer) {
    return std::count_if(named.elements.begin(), named.elements.end(), [&](const std::string &path) {
      return globMatches(glob.text, path) || (isLayer && globMatches(glob.text, path + "."));
    });
  }

  void add(const Setting &glob, const std::string &type, std::map<std::string, std::string> &types) {
    bool used = false;
    auto take = [&](const std::string &path, const std::vector<int64_t> &counts, bool isLayer) {
      uint64_t elements = 1;
      for (int64_t count : counts)
        elements *= uint64_t(count);
      if (context.spend && !context.spend(glob.range, 1 + elements * (1 + path.size() * glob.text.size() / 64)))
        return false;
      const Named named = namedBy(path, counts);
      const size_t found = matches(glob, named, isLayer);
      used |= found > 0;
      if (found > 0 && found < named.elements.size()) {
        diagnostics.error("T0690", glob.range,
                          "not supported yet: other numerics for some layers of a stack, which share their code; \"" + glob.text +
                              "\" matches " + std::to_string(found) + " of the " + std::to_string(named.elements.size()) +
                              " of " + path,
                          "write * for the number");
        return false;
      }
      if (found > 0)
        types.try_emplace(path, type); // the first exception that matches wins
      return true;
    };
    for (const Param &param : params)
      if (!take(param.path, param.stackCounts, false))
        return;
    for (const LayerPath &layer : layers)
      if (!layer.path.empty() && !take(layer.path, layer.stackCounts, true))
        return;
    if (!used)
      reportUnused(glob);
  }

  void reportUnused(const Setting &glob) {
    Diagnostic &error = diagnostics.error(
        "T0640", glob.range, "no parameter and no layer that contracts matches \"" + glob.text + "\"", "matches nothing");
    std::vector<std::string> paths;
    for (const Param &param : params)
      paths.push_back(param.path);
    for (const LayerPath &layer : layers)
      if (!layer.path.empty())
        paths.push_back(layer.path);
    if (std::string near = nearest(glob.text, paths); !near.empty())
      error.notes.emplace_back("help", "did you mean \"" + near + "\"?");
    else if (!paths.empty())
      error.notes.emplace_back("help", "such as " + paths.front() + " and " + paths.back() + "; * stands for any text");
  }

  const std::vector<Param> &params;
  const std::vector<LayerPath> &layers;
  const RecipeContext &context;
  Diagnostics &diagnostics;
};

} // namespace

NumericsPolicy numericsOf(const CheckedRecipe *recipe) {
  const Setting *policy = recipe ? recipe->find("numerics") : nullptr;
  return policy ? typesOf(*policy) : NumericsPolicy();
}

bool NumericsPolicy::isDouble() const { return isWideReal(params) && isWideReal(compute) && isWideReal(reduce); }

std::map<std::string, std::string> resolveExceptions(const CheckedRecipe &recipe, const std::vector<Param> &params,
                                                     const std::vector<LayerPath> &layers, const RecipeContext &context,
                                                     Diagnostics &diagnostics) {
  const Setting *policy = recipe.find("numerics");
  return policy ? ExceptionResolver(params, layers, context, diagnostics).resolve(*policy) : std::map<std::string, std::string>();
}

/// The exponent of bf16 and f32 reaches as far as gradients go: a scale for them would be taken for nothing. Sums in 16 bits are
/// not offered at all.
bool RecipeChecker::checkNumerics(const Setting &policy) {
  const Setting *scale = keywordOf(policy, "scale"), *reduce = keywordOf(policy, "reduce");
  const NumericsPolicy types = typesOf(policy);
  if (isShortReal(types.reduce)) {
    diagnostics.error("T0611", reduce->range,
                      "`reduce` cannot be `" + types.reduce + "`: a sum of 16 bits stops growing after some hundred terms",
                      "f32 or f64");
    return false;
  }
  // Beside others, exceptions in the type of `compute` take back what a pattern behind them matches, too (ExceptionResolver).
  const auto exceptions = std::count_if(policy.keywords.begin(), policy.keywords.end(),
                                        [](const auto &keyword) { return isWrittenReal(keyword.first); });
  if (const Setting *idle = keywordOf(policy, types.compute); idle && exceptions == 1 && !types.isDouble()) {
    diagnostics.error("T0610", idle->range,
                      "`" + types.compute + "` names exceptions, but everything is multiplied in " + types.compute,
                      "changes nothing");
    return false;
  }
  if (!scale || needsScale(types.compute))
    return true;
  diagnostics.error("T0610", scale->range, "`scale` is for `compute = f16`, whose numbers end at 65504 and 6e-8",
                    keywordOf(policy, "compute") ? types.compute + " needs no loss scale" : "nothing is computed in f16");
  return false;
}

std::vector<std::pair<const Setting *, std::string>> unsupportedNumerics(const Setting &policy) {
  std::vector<std::pair<const Setting *, std::string>> refused;
  const NumericsPolicy types = typesOf(policy);
  for (const auto &[key, exceptions] : policy.keywords)
    if (isWrittenReal(key) && types.isDouble())
      refused.emplace_back(exceptions.get(), "numerics `" + key + "`: exceptions where everything is f64");
  return refused;
}

} // namespace tenon
