// The entries of a recipe's losses: `train`, or of each of its tasks train_NAME and eval_NAME.
#pragma once
#include "frontend/recipes/Recipes.h"
#include "frontend/sema/Checker.h"
#include "frontend/sema/models/Declared.h"

namespace tenon::sema {

/// Mistakes go to the session.
class TaskEntries {
public:
  using Weights = std::vector<std::pair<std::string, double>>;
  TaskEntries(Session &session, const ast::Model &model, const Declared &declared)
      : session(session), model(model), declared(declared) {}
  /// The inputs that any recipe of the model takes from files, for messages.
  void knowFiles(const std::vector<CheckedRecipe> &recipes);

  static EntryRequest ofLosses(EntryRequest request, const Weights &weights);
  /// One per task, or one of all `weights`; `base` has no losses yet.
  static std::vector<EntryRequest> trainRequests(const CheckedRecipe &recipe, const Weights &weights, const EntryRequest &base);
  /// With the weights of its task, and the number of rows that this says.
  std::optional<Entry> runTrain(const CheckedRecipe &recipe, EntryRequest &request);
  /// The losses of a task, and, where `base` has metrics, those that its data have the inputs of.
  std::optional<Entry> runEval(const CheckedRecipe &recipe, const RecipeTask &task, const EntryRequest &base);
  /// Of a recipe without tasks: all losses and metrics. Of those that it does not train, or where `valid` has data of its own of
  /// all, only what the data have the inputs of. T0620: no loss is left.
  std::optional<Entry> runEval(const CheckedRecipe &recipe, const Weights &weights, const EntryRequest &base);
  /// Says which losses and metrics the evaluations of a recipe leave out by mistake.
  void checkEvaluations(const CheckedRecipe &recipe, const Weights &weights, const EntryRequest &base);
  /// Data, parameters and losses of a train entry fit each other.
  void checkStep(const CheckedRecipe &recipe, const Entry &entry, const Weights &weights,
                 const std::map<std::string, ParamPolicy> &policies, const std::function<std::string(uint32_t)> &pathOf);
  /// Of a recipe with `tokens`: takes the sizes that its batches choose out of the binds of `base`, and returns them
  /// (recipes/Recipes.h); of others nothing.
  std::map<std::string, int64_t> takeLengths(const CheckedRecipe &recipe, const Weights &weights, EntryRequest &base,
                                             Diagnostics &found);
  /// T0103: an `out` has the name of the entry of a task.
  bool canBeMade(const CheckedRecipe &recipe);

private:
  void bindRows(const RecipeTask &task, EntryRequest &request);
  /// What an evaluation of `recipe` has its inputs from, and what it leaves out for it (Entry::leftOut).
  struct Source {
    const CheckedRecipe &recipe;
    const Setting &data;
    bool hasId = false; // its task says what the input `task` is
    // `label` and `score`, which one column of a file fills: the one that training reads, and the one that it does not
    std::string read = {}, unread = {};
    std::vector<std::pair<std::string, std::string>> leftOut = {};
  };
  /// Sets `read` and `unread`; they stay empty where the data do not make both, or training reads both or none.
  void findUnread(Source &source, EntryRequest trained);
  /// Whether the data make the inputs of a loss or metric, the only one of `request`; where they do not by mistake, this is said.
  bool fits(Source &source, const std::string &name, const EntryRequest &request);
  std::nullopt_t nothingLeft(const Source &source);
  /// With the metrics that the data have the inputs of.
  std::optional<Entry> runFitting(Source &source, EntryRequest request);
  Session &session;
  const ast::Model &model;
  const Declared &declared;
  std::vector<std::string> inputsOfFiles;
};

} // namespace tenon::sema
