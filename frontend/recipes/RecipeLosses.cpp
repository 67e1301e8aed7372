// `loss = mlm + 50 * rtd`: a weighted sum of the losses of a model.
#include "frontend/recipes/RecipeReader.h"
#include <algorithm>

namespace tenon {

using schema::Parameter;
using schema::Type;

bool RecipeChecker::mentionsLoss(const ast::ExprPtr &expression) const {
  if (expression->kind == ast::Expr::Kind::Name)
    return contains(context.losses, expression->text);
  return std::any_of(expression->operands.begin(), expression->operands.end(),
                     [&](const ast::ExprPtr &operand) { return mentionsLoss(operand); });
}

std::optional<double> RecipeChecker::factorOf(const ast::ExprPtr &expression) {
  Parameter factor{"weight of a loss", Type::Real, false, false, -schema::kInfinity, schema::kInfinity, false, false, {}, false};
  SettingValue value = readNumber(expression, factor);
  return value ? std::optional<double>(value->real) : std::nullopt;
}

bool RecipeChecker::addLosses(const ast::ExprPtr &expression, double factor, std::vector<std::pair<std::string, double>> &terms) {
  using Kind = ast::Expr::Kind;
  const auto &operands = expression->operands;
  if (expression->kind == Kind::Name) {
    if (!contains(context.losses, expression->text)) {
      Diagnostic &error = diagnostics.error("T0612", expression->range,
                                            "`" + expression->text + "` is not a loss of model " + context.model, "unknown loss");
      suggest(error, expression->text, context.losses, "losses");
      return false;
    }
    for (auto &[name, weight] : terms)
      if (name == expression->text) {
        weight += factor;
        return true;
      }
    terms.emplace_back(expression->text, factor);
    return true;
  }
  if (expression->kind == Kind::Neg)
    return addLosses(operands[0], -factor, terms);
  if (expression->kind == Kind::Binary) {
    const std::string &op = expression->text;
    if (op == "+" || op == "-") {
      const bool left = addLosses(operands[0], factor, terms);
      return addLosses(operands[1], op == "+" ? factor : -factor, terms) && left;
    }
    if (op == "*" || op == "/") {
      const bool lossRight =
          op == "*" && !mentionsLoss(operands[0]) && (mentionsLoss(operands[1]) || operands[1]->kind == Kind::Name);
      std::optional<double> weight =
          mentionsLoss(operands[lossRight ? 0 : 1]) ? std::nullopt : factorOf(operands[lossRight ? 0 : 1]);
      if (weight && !(op == "/" && *weight == 0))
        return addLosses(operands[lossRight ? 1 : 0], op == "*" ? factor * *weight : factor / *weight, terms);
      if (!mentionsLoss(operands[lossRight ? 0 : 1]) && !weight)
        return false; // reported
    }
  }
  diagnostics.error("T0613", expression->range, "`loss` is a weighted sum of losses, as in mlm + 50 * rtd",
                    "not a loss or a number times a loss");
  return false;
}

SettingValue RecipeChecker::readLoss(const ast::ExprPtr &expression) {
  std::vector<std::pair<std::string, double>> terms;
  if (!addLosses(expression, 1, terms))
    return nullptr;
  SettingValue value = make(Setting::Kind::Call, expression);
  value->text = "weighted";
  for (auto &[name, weight] : terms) {
    SettingValue number = make(Setting::Kind::Real, expression);
    number->real = weight;
    value->keywords.emplace_back(name, number);
  }
  return value;
}

} // namespace tenon
