// What tests of recipes share: a model's names, and a recipe that is checked for them.
#pragma once
#include "frontend/recipes/Recipes.h"
#include "frontend/syntax/Parse.h"
#include <cmath>

namespace tenon::test {

/// Constants of the test model, as the checker's evaluation would give them: only + - * / ^ of numbers, N = 12 and depth.
inline SettingValue evaluate(const ast::ExprPtr &expression, std::optional<int64_t> depth) {
  using Kind = ast::Expr::Kind;
  auto value = std::make_shared<Setting>();
  value->range = expression->range;
  auto number = [&](double x, bool whole) {
    value->kind = whole ? Setting::Kind::Int : Setting::Kind::Real;
    value->integer = whole ? int64_t(x) : 0;
    value->real = x;
    return value;
  };
  switch (expression->kind) {
  case Kind::Int:
    return number(double(expression->integer), true);
  case Kind::Real:
    return number(expression->real, false);
  case Kind::Name:
    return expression->text == "depth" ? number(double(*depth), true) : number(12, true);
  case Kind::Neg:
    return number(-evaluate(expression->operands[0], depth)->real, false);
  case Kind::Binary: {
    SettingValue a = evaluate(expression->operands[0], depth), b = evaluate(expression->operands[1], depth);
    const bool whole =
        a->kind == Setting::Kind::Int && b->kind == Setting::Kind::Int && expression->text != "/" && expression->text != "^";
    switch (expression->text[0]) {
    case '+':
      return number(a->real + b->real, whole);
    case '-':
      return number(a->real - b->real, whole);
    case '*':
      return number(a->real * b->real, whole);
    case '/':
      return number(a->real / b->real, false);
    default:
      return number(std::pow(a->real, b->real), false);
    }
  }
  default:
    return nullptr;
  }
}

struct Checked {
  SourceFiles sources;
  Diagnostics diagnostics;
  RecipeContext context;
  std::vector<std::shared_ptr<ast::Recipe>> recipes;
  std::vector<CheckedRecipe> checked;

  explicit Checked(const std::string &text, std::vector<std::string> losses = {"mlm", "rtd"},
                   std::vector<std::string> inputs = {}) {
    sources.files.push_back({"test.tn", text});
    ast::File file = parse(sources, 0, diagnostics);
    context = {"M",   {"B", "T", "K", "S", "G"}, {"N", "C", "V"}, losses, {"acc"}, {"infer", "step"}, {"hf", "torch"}, evaluate,
               inputs};
    for (const ast::Item &item : file.items)
      if (item.kind == ast::Item::Kind::Recipe && item.recipe->kind != ast::Recipe::Kind::Names) {
        recipes.push_back(item.recipe);
        checkBinds(*item.recipe, context, diagnostics);
        checked.push_back(checkRecipe(*item.recipe, context, diagnostics));
      }
  }
  /// "T0601 3:5" per mistake.
  std::string mistakes() const {
    std::string text;
    for (const Diagnostic &each : diagnostics.all()) {
      SourceFiles::Position at = sources.position(each.range.file, each.range.begin);
      text += (text.empty() ? "" : ", ") + each.code + " " + std::to_string(at.line) + ":" + std::to_string(at.column);
    }
    return text;
  }
};

inline std::string train(const std::string &more, const std::string &optimizer = "adam(lr = 1e-3)") {
  return "train M as small {\n  data = byte_stream(text = \"a.txt\")\n  loss = mlm\n  optimizer = " + optimizer + "\n" + more +
         "\n}\n";
}
inline std::string mistakesOf(const std::string &more) { return Checked(train(more)).mistakes(); }

} // namespace tenon::test
