// Reads one setting of a recipe by its schema. Internal to the recipe checker.
#pragma once
#include "frontend/recipes/RecipeSchema.h"
#include "frontend/recipes/Recipes.h"
#include <set>

namespace tenon {

bool contains(const std::vector<std::string> &list, const std::string &word);
std::string listing(const std::vector<std::string> &words);
/// Adds "did you mean" or, when nothing is near, the list of what is known. Returns what may be meant, or nothing.
std::string suggest(Diagnostic &diagnostic, const std::string &word, const std::vector<std::string> &candidates,
                    const std::string &kind);

/// What of a numerics policy cannot be done yet: places and sentences.
std::vector<std::pair<const Setting *, std::string>> unsupportedNumerics(const Setting &policy);

class RecipeChecker {
public:
  RecipeChecker(const RecipeContext &context, Diagnostics &diagnostics) : context(context), diagnostics(diagnostics) {}

  SettingValue read(const ast::ExprPtr &expression, const schema::Parameter &parameter);
  void readAll(const ast::Recipe &recipe, CheckedRecipe &result);
  void requireSettings(const ast::Recipe &recipe, const CheckedRecipe &checked, bool train);

private:
  SettingValue make(Setting::Kind kind, const ast::ExprPtr &expression) {
    auto value = std::make_shared<Setting>();
    value->kind = kind;
    value->range = expression->range;
    return value;
  }
  SettingValue wrong(const ast::ExprPtr &expression, const schema::Parameter &parameter, const std::string &wanted) {
    diagnostics.error("T0608", expression->range, "`" + std::string(parameter.name) + "` takes " + wanted,
                      "this is not " + wanted);
    return nullptr;
  }
  SettingValue constant(const ast::ExprPtr &expression, const schema::Parameter &parameter);
  SettingValue readNumber(const ast::ExprPtr &expression, const schema::Parameter &parameter);
  SettingValue readText(const ast::ExprPtr &expression, const schema::Parameter &parameter);
  SettingValue readWord(const ast::ExprPtr &expression, const schema::Parameter &parameter);
  SettingValue readTuple(const ast::ExprPtr &expression, const schema::Parameter &parameter, schema::Type element);
  SettingValue readCall(const ast::ExprPtr &expression, const schema::Parameter &parameter);
  SettingValue readLoss(const ast::ExprPtr &expression);
  bool addLosses(const ast::ExprPtr &expression, double factor, std::vector<std::pair<std::string, double>> &terms);
  bool mentionsLoss(const ast::ExprPtr &expression) const;
  std::optional<double> factorOf(const ast::ExprPtr &expression);
  bool checkInputName(const ast::Name &name, const schema::Function &task);
  bool checkMomentum(const Setting &optimizer);
  bool checkNumerics(const Setting &policy);
  bool checkLengths(const Setting &schedule);
  bool checkForm(const Setting &form, const std::string &task);
  bool checkPieces(const Setting &task);
  bool checkTask(const Setting &task);
  bool checkBest(const Setting &every);
  bool checkExcept(const Setting &method);
  bool readArgument(const ast::Argument &argument, const schema::Function &function, size_t &position, Setting &call,
                    std::set<std::string> &attempted);
  void requireTasks(const CheckedRecipe &checked);
  void checkTokens(const CheckedRecipe &checked);
  void requireEvaluations(const CheckedRecipe &checked);
  void warnUnread(const CheckedRecipe &checked);

  const RecipeContext &context;
  Diagnostics &diagnostics;
  std::set<std::string> meant; // settings of the block whose names are misspelt: said so, and not missing besides
};

} // namespace tenon
