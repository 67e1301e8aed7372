// `tokens` of a data task: it makes batches of rows of about one length, so that entries leave the sizes of a batch open.
#include "frontend/Dims.h"
#include "frontend/recipes/RecipeReader.h"
#include <algorithm>

namespace tenon {

namespace {

/// The dim that is the whole size of an axis, or nothing.
std::string dimOf(const Entry &entry, AxisId axis) {
  for (unsigned i = 0; i < entry.dims.size(); ++i)
    if (entry.axes[axis].size == Size::dim(i) && !isProduct(entry, i))
      return entry.dims[i];
  return {};
}

} // namespace

const Setting *lengthTokens(const CheckedRecipe &recipe) {
  const Setting *data = recipe.find("data"), *tokens = keywordOf(data, "tokens");
  const schema::Function *task = tokens ? schema::find("data task", data->text) : nullptr;
  const bool works = task && std::any_of(task->parameters.begin(), task->parameters.end(),
                                         [](const schema::Parameter &each) { return each.name == "tokens" && each.works; });
  return works ? tokens : nullptr;
}

void RecipeChecker::checkTokens(const CheckedRecipe &checked) {
  const Setting *valid = checked.find("valid"), *tokens = lengthTokens(checked), *ofValid = keywordOf(valid, "tokens");
  if (!valid || valid->kind != Setting::Kind::Call || valid->text == "held_out")
    return;
  if (tokens && valid->text != checked.find("data")->text)
    diagnostics.error("T0616", valid->range,
                      "with `tokens` evaluations have no sizes of their own, so `valid` is `" + checked.find("data")->text +
                          "`, as `data` is",
                      "another data task");
  else if (ofValid && !tokens && checked.find("data"))
    diagnostics.error("T0610", ofValid->range, "`tokens` of `valid` needs `tokens` of `data`: both have the same entries",
                      "`data` has batches of one size");
}

std::map<std::string, int64_t> takeLengths(const CheckedRecipe &recipe, const Entry &entry, std::map<std::string, int64_t> &binds,
                                           Diagnostics &diagnostics) {
  std::map<std::string, int64_t> taken;
  const Setting *tokens = lengthTokens(recipe);
  const schema::Function *task = schema::find("data task", recipe.find("data")->text);
  for (const Input &input : entry.inputs)
    for (const schema::Made &made : task->makes) {
      if (made.name != input.name || made.axes.size() != input.type.axes.size())
        continue; // T0620
      for (size_t i = 0; i < made.axes.size(); ++i) {
        const std::string dim = dimOf(entry, input.type.axes[i]);
        if (dim.empty())
          diagnostics.error("T0610", tokens->range,
                            "`tokens` chooses the sizes of batches, and the axis " + entry.axes[input.type.axes[i]].name +
                                " of `" + input.name + "` is no dim of the model",
                            "a dim has no fixed size");
        const auto bound = binds.find(dim);
        if (dim.empty() || bound == binds.end())
          continue;
        if (made.axes[i] == 'B')
          diagnostics
              .error("T0616", tokens->range,
                     "`tokens` says how many rows a batch has, and " + dim + " = " + std::to_string(bound->second) +
                         " says it, too",
                     "or leave this out")
              .notes.emplace_back("help", "leave " + dim + " out of `bind`; the lengths there are the greatest ones");
        else
          taken.insert(*bound);
        binds.erase(bound);
      }
    }
  for (const State &state : entry.states)
    if (!state.ofModel)
      diagnostics.error("T0690", tokens->range,
                        "not supported yet: `tokens` with the state `" + state.path +
                            "`, which a batch of another size cannot go on from");
  return taken;
}

} // namespace tenon
