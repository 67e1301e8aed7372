// Recipes: the settings of train and generate blocks, checked against a schema (docs/recipes.md), and what they say about
// parameters.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/ElementTypes.h"
#include "frontend/Program.h"
#include <functional>
#include <optional>

namespace tenon {

/// Evaluates a constant scalar (number, truth, text) over the model's configs with the recipe's own `bind`s applied, `depth`
/// being the given number (an error without one). Reports mistakes itself and returns null then. Calls, tuples and words are
/// taken apart by Recipes.cpp and never reach it; a plain name reaches it only if it is one of RecipeContext::configs, or
/// "depth".
using EvaluateSetting = std::function<SettingValue(const ast::ExprPtr &, std::optional<int64_t> depth)>;

/// What a recipe may refer to.
struct RecipeContext {
  std::string model;
  std::vector<std::string> dims;    // symbolic dims of the model
  std::vector<std::string> configs; // of the model
  std::vector<std::string> losses;  // in order of the text
  std::vector<std::string> metrics;
  std::vector<std::string> outs;    // entry names: "infer", "step", ...
  std::vector<std::string> schemes; // of all `names` tables
  EvaluateSetting evaluate;
  std::vector<std::string> inputs = {}; // of the model, whichever entry reads them
  std::function<bool(ast::Range, uint64_t)> spend =
      {}; // counts work, about microseconds; false: enough was done (Session::spend)
};

struct RecipeBinds {
  std::map<std::string, int64_t> dims;
  std::vector<std::pair<std::string, ast::ExprPtr>> configs; // to be evaluated as `--set` is
};
/// The `bind` settings: which are dims (numbers >= 1), which are configs. T0603 and T0604 for unknown or repeated names.
RecipeBinds checkBinds(const ast::Recipe &recipe, const RecipeContext &context, Diagnostics &diagnostics);

/// Checks a `train` or `generate` block. Always returns what could be made of it; mistakes go to `diagnostics` (T06xx).
/// The value of `loss` becomes a Call "weighted" with one keyword per loss (mlm = 1, rtd = 50).
CheckedRecipe checkRecipe(const ast::Recipe &recipe, const RecipeContext &context, Diagnostics &diagnostics);

/// One of `tasks`: a step of its own over the shared parameters.
struct RecipeTask {
  std::string name; // of its first loss, with a number where an earlier task has it
  const Setting *call = nullptr, *data = nullptr;
  std::vector<std::pair<std::string, double>> losses; // weighted
  int64_t batch = 0;                                  // rows; 0: those of the recipe
  bool hasId = false;                                 // it says what the input `task` is
};
/// In the order of the text; empty where the recipe has no `tasks`. Points into the recipe.
std::vector<RecipeTask> tasksOf(const CheckedRecipe &recipe);
/// The value of a keyword of a call, or null.
const Setting *keywordOf(const Setting *call, std::string_view wanted);

/// T0620: an input of a train entry that the data task does not make, or makes with other axes. `hasId`: the recipe's task says
/// what the input `task` is.
void checkDataInputs(const CheckedRecipe &recipe, const Setting *data, bool hasId, const Entry &entry, Diagnostics &diagnostics);
/// `tokens` of the recipe's data, which chooses the sizes of its batches by the lengths of rows; null: they are bound.
const Setting *lengthTokens(const CheckedRecipe &recipe);
/// Of a recipe with `tokens`: takes the sizes that its data task chooses out of `binds` and returns them, the greatest lengths.
/// `entry`: the train entry without binds. T0616: the rows are bound. T0610: an input has a fixed size. T0690: with a state.
std::map<std::string, int64_t> takeLengths(const CheckedRecipe &recipe, const Entry &entry, std::map<std::string, int64_t> &binds,
                                           Diagnostics &diagnostics);
/// Sizes, channels and labels of `images` that differ from what a train entry reads (T0611, T0616, T0620).
void checkPictures(const CheckedRecipe &recipe, const Entry &entry, Diagnostics &diagnostics);
/// Of all inputs of `entry`, whether the data task makes them.
bool makesInputs(const Setting &data, bool hasId, const Entry &entry);
/// "`arrays` does not give `score`": those that it does not make.
std::string inputsNotGiven(const Setting &data, bool hasId, const Entry &entry);
/// T0630: `what` ("loss `ce`"), at `range`, is not evaluated for an input that hardly belongs to another data task: no task makes
/// one of its name, or this one makes it with other axes. `given`: inputs that the model's recipes take from files.
void warnNotEvaluated(const CheckedRecipe &recipe, const Setting &data, bool hasId, const Entry &entry, const std::string &what,
                      ast::Range range, const std::vector<std::string> &given, Diagnostics &diagnostics);
/// The inputs that a recipe takes from files of the user's own: arrays(x = "x.npy") gives x.
std::vector<std::string> inputsFromFiles(const CheckedRecipe &recipe);

/// T0625: a `generate` block whose entry cannot be fed by its own text. `entry` is the one that is written, not the one that
/// walks: so `tenon check` and `tenon compile` say the same. `lastPlace`: what in it goes on from its last place alone
/// (walk/Walk.h), or null.
void checkGeneration(const CheckedRecipe &recipe, const Entry &entry, const Node *lastPlace, Diagnostics &diagnostics);

/// T0621, T0622: two recipes of one name, a recipe of an unknown model (or layer: for names tables, see Names.h).
void checkRecipeNames(const std::vector<const ast::Recipe *> &recipes, const std::vector<std::string> &models,
                      Diagnostics &diagnostics);

/// T0690 "not supported yet: ..." for what a checked recipe may say but no step can do today.
void reportUnsupported(const CheckedRecipe &recipe, Diagnostics &diagnostics);

/// The weights of a `loss` setting as checkRecipe made it; the model's only loss when the recipe names none.
std::vector<std::pair<std::string, double>> lossWeights(const CheckedRecipe &recipe, const RecipeContext &context);

/// `groups` and `freeze` of a checked train recipe, resolved for each parameter (first match per key wins; `*` crosses dots).
/// A glob that matches nothing is T0640. Parameters of no group have no entry.
std::map<std::string, ParamPolicy> resolvePolicies(const CheckedRecipe &recipe, const std::vector<Param> &params,
                                                   const RecipeContext &context, Diagnostics &diagnostics);

/// The types of a recipe's numerics policy; those of a recipe without one, or of no recipe, are f32.
struct NumericsPolicy {
  std::string params = kUsualRealWord, compute = kUsualRealWord, reduce = kUsualRealWord;
  /// All f64, which is what --f64 does.
  bool isDouble() const;
};
NumericsPolicy numericsOf(const CheckedRecipe *recipe);

/// The exceptions of a numerics policy (`f32 = "rnn.*"`), resolved as Program::computeOf has them. A glob that matches nothing is
/// T0640, one that matches some layers of a stack T0690.
std::map<std::string, std::string> resolveExceptions(const CheckedRecipe &recipe, const std::vector<Param> &params,
                                                     const std::vector<LayerPath> &layers, const RecipeContext &context,
                                                     Diagnostics &diagnostics);

/// Public for tests: does `pattern` (with * for any text, dots included) match the whole of `text`?
bool globMatches(const std::string &pattern, const std::string &text);

} // namespace tenon
