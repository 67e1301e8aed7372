// What the loops of the runtime that make texts need of their entry: docs/recipes.md, `generate`.
#include "frontend/recipes/Limit.h"
#include "frontend/recipes/RecipeReader.h"
#include "frontend/recipes/Recipes.h"
#include <algorithm>

namespace tenon {
namespace {

class GenerationCheck {
public:
  GenerationCheck(const CheckedRecipe &recipe, const Setting &method, const Setting &place, const Entry &entry,
                  const Node *lastPlace, Diagnostics &diagnostics)
      : method(method), place(place), entry(entry), lastPlace(lastPlace), recipe(recipe), diagnostics(diagnostics) {
    for (const Input &input : entry.inputs)
      (isAlong(input) ? along : others).push_back(&input);
  }
  void run();

private:
  bool walks() const { return !entry.walkedAxis.empty(); }
  bool isAlong(const Input &input) const {
    return std::any_of(input.type.axes.begin(), input.type.axes.end(),
                       [&](AxisId axis) { return entry.axes[axis].name == entry.walkedAxis; });
  }
  /// Whether several texts are made at once, each of what else the entry reads (runtime/generate/Search.h).
  bool searches() const { return method.text == "beam" || maskFeed() || (walks() && !others.empty()); }
  /// The value of `feed = mask`, or null.
  const Setting *maskFeed() const {
    for (const auto &[name, value] : method.keywords)
      if (name == "feed" && value->text == "mask")
        return value.get();
    return nullptr;
  }
  void refuse(const std::string &why, const std::string &help) {
    Diagnostic &error = diagnostics.error("T0625", place.range, "the entry `" + entry.name + "` " + why, "cannot generate");
    error.notes.emplace_back("help", help);
  }
  /// Whether it is the name of an axis of an input whose size is a number: --bind S=32 leaves "S + 50" what it says.
  bool isBound(const std::string &dim) const {
    return std::any_of(entry.inputs.begin(), entry.inputs.end(), [&](const Input &input) {
      return std::any_of(input.type.axes.begin(), input.type.axes.end(),
                         [&](AxisId axis) { return entry.axes[axis].name == dim && entry.axes[axis].size.isConstant(); });
    });
  }
  void checkSymbolBySymbol();
  void checkSearch();
  void checkLogits(const Input &ids);
  void checkLimit();
  void checkSize(AxisId symbols);

  const Setting &method, &place;
  const Entry &entry;
  const Node *lastPlace;
  const CheckedRecipe &recipe;
  Diagnostics &diagnostics;
  std::vector<const Input *> along, others;
};

/// One text, from `ids` alone.
void GenerationCheck::checkSymbolBySymbol() {
  std::vector<std::string> names;
  const Input *ids = nullptr;
  for (const Input &input : entry.inputs)
    if (input.name == "ids" && input.isIndex && input.type.axes.size() == 2)
      ids = &input;
    else
      names.push_back(input.name);
  if (!ids || !names.empty()) {
    refuse(ids ? "reads more than ids[B, T]: " + listing(names) : "does not read ids: index(V)[B, T]",
           "generation feeds the text so far and nothing else, but for entries that walk, which read what has no axis T as well; "
           "inputs of the loss alone are no hindrance");
    return;
  }
  if (walks() && entry.axes[ids->type.axes[1]].name != entry.walkedAxis) {
    refuse("walks along " + entry.walkedAxis + ", and a text goes on along " + entry.axes[ids->type.axes[1]].name +
               ", the second axis of ids",
           "declare `out " + entry.name + "(" + entry.axes[ids->type.axes[1]].name + ") = ..`");
    return;
  }
  checkLogits(*ids);
}

void GenerationCheck::checkSearch() {
  if (!walks()) {
    refuse("walks no axis, and " + method.text + " needs one that does", "declare `out step(T) = logits` and say entry = step");
    return;
  }
  const bool isText = along.size() == 1 && along[0]->isIndex && along[0]->type.axes.size() == 2 &&
                      entry.axes[along[0]->type.axes[1]].name == entry.walkedAxis;
  if (!isText) {
    std::vector<std::string> names;
    for (const Input *input : along)
      names.push_back(input->name);
    refuse("reads along " + entry.walkedAxis + ": " + listing(names),
           method.text + " feeds one input along " + entry.walkedAxis + ", of symbols: index(V)[B, " + entry.walkedAxis + "]");
    return;
  }
  checkLogits(*along[0]);
  const Setting *feed = maskFeed();
  if (feed && lastPlace)
    diagnostics.error("T0690", feed->range,
                      "not supported yet: `feed = mask` with the entry `" + entry.name + "`, which goes on from what a " +
                          (lastPlace->op == Op::Scan ? "scan" : "window") + " along " + entry.walkedAxis +
                          " left at its last place, and so cannot take the place of the mask back",
                      "in generate block `" + recipe.name + "`");
}

void GenerationCheck::checkLogits(const Input &ids) {
  const auto &[name, node] = entry.results.front();
  const ValueType &type = entry.nodes[node].type;
  auto size = [&](AxisId axis) { return entry.axes[axis].size; };
  const bool fits = type.element == Element::Real && type.axes.size() == 3 && size(type.axes[0]) == size(ids.type.axes[0]) &&
                    size(type.axes[1]) == size(ids.type.axes[1]);
  if (!fits)
    return refuse("puts out " + name + " first, which is not the logits of " + ids.name,
                  "the first output must be real, with the axes of " + ids.name + " and then one over the symbols");
  checkSize(type.axes[2]);
}

/// A beam goes on with different texts after one symbol already.
void GenerationCheck::checkSize(AxisId symbols) {
  const auto count = entry.axes[symbols].size.asConstant();
  for (const auto &[name, value] : method.keywords)
    if (name == "size" && count && value->integer > *count)
      diagnostics
          .error("T0625", value->range,
                 "a beam of " + std::to_string(value->integer) + " texts, and the entry `" + entry.name + "` has logits for " +
                     std::to_string(*count) + " symbols",
                 "more than there are symbols")
          .notes.push_back({"help", "a beam goes on with different symbols: size is at most " + std::to_string(*count)});
}

void GenerationCheck::checkLimit() {
  for (const auto &[name, value] : method.keywords) {
    if (name != "limit" || value->kind != Setting::Kind::Text)
      continue;
    if (!searches()) {
      diagnostics.error("T0690", value->range, "not supported yet: a limit that is not a number",
                        "in generate block `" + recipe.name + "`");
      continue;
    }
    const auto limit = schema::parseLimit(value->text);
    if (limit && (std::find(entry.dims.begin(), entry.dims.end(), limit->dim) != entry.dims.end() || isBound(limit->dim)))
      continue;
    Diagnostic &error = diagnostics.error("T0625", value->range,
                                          limit ? "`" + limit->dim + "` is no size of the entry `" + entry.name + "`"
                                                : "`" + value->text + "` is no limit",
                                          "cannot be counted");
    error.notes.emplace_back("help",
                             "a number, or a size of an input and more: limit = \"S + 50\"; sizes: " + listing(entry.dims));
  }
}

void GenerationCheck::run() {
  checkLimit();
  if (entry.states.empty() && !walks())
    return refuse("keeps nothing from call to call", "declare `out step(T) = logits` and say entry = step");
  if (searches())
    checkSearch();
  else
    checkSymbolBySymbol();
}

} // namespace

void checkGeneration(const CheckedRecipe &recipe, const Entry &entry, const Node *lastPlace, Diagnostics &diagnostics) {
  const Setting *method = recipe.find("method"), *place = recipe.find("entry");
  if (method && place && schema::works("method", method->text)) // others: T0690, when they are asked for
    GenerationCheck(recipe, *method, *place, entry, lastPlace, diagnostics).run();
}

} // namespace tenon
