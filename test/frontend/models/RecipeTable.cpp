// tenon-recipe-table FILE MODEL RECIPE ROOT: what the checker has made of a train recipe. Lines "dims", "optimizer", "schedule",
// "clip" with all arguments, those that hold without being written too, "rates" of groups, and "decayed NAME" or "excluded NAME"
// of each parameter, by its public name where it has one.
#include "frontend/Sema.h"
#include "frontend/recipes/RecipeSchema.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

using namespace tenon;

static std::string numberText(double number, const char *format = "%.9g") {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

static std::string textOf(const Setting &value) {
  std::string text = value.text;
  if (value.kind == Setting::Kind::Int || value.kind == Setting::Kind::Real)
    text = numberText(value.real);
  if (value.kind == Setting::Kind::Bool)
    text = value.truth ? "true" : "false";
  for (const SettingValue &element : value.elements)
    text += (text.empty() ? "" : ",") + textOf(*element);
  return text;
}

/// What holds where the recipe says nothing; empty: nothing does.
static std::string otherwise(const schema::Parameter &parameter) {
  if (parameter.none || parameter.required)
    return "";
  if (parameter.type == schema::Type::Betas)
    return numberText(parameter.initial) + "," + numberText(parameter.second);
  if (parameter.type == schema::Type::Choice)
    return std::string(parameter.choices.at(static_cast<size_t>(parameter.initial)));
  if (parameter.type == schema::Type::Bool)
    return parameter.initial > 0 ? "true" : "false";
  return numberText(parameter.initial);
}

static void print(const CheckedRecipe &recipe, const std::string &key, const std::string &family) {
  const Setting *call = recipe.find(key);
  if (!call) {
    std::printf("%s none\n", key.c_str());
    return;
  }
  std::map<std::string, std::string> arguments;
  for (const schema::Parameter &parameter : schema::find(family, call->text)->parameters)
    if (std::string usual = otherwise(parameter); !usual.empty())
      arguments[std::string(parameter.name)] = usual;
  for (const auto &[name, value] : call->keywords)
    arguments[name] = textOf(*value);
  std::printf("%s %s", key.c_str(), call->text.c_str());
  for (const auto &[name, value] : arguments)
    std::printf(" %s=%s", name.c_str(), value.c_str());
  std::printf("\n");
}

static void printDecay(const Program &program) {
  for (const Param &param : program.params) {
    auto policy = program.policies.find(param.path);
    const bool excluded = policy != program.policies.end() && !policy->second.decay.empty() &&
                          std::all_of(policy->second.decay.begin(), policy->second.decay.end(), [](double d) { return d == 0; });
    std::string name = param.path;
    if (auto names = param.publicNames.find("hf"); names != param.publicNames.end() && !names->second.empty())
      name = names->second.back().name;
    std::printf("%s %s\n", excluded ? "excluded" : "decayed", name.c_str());
  }
}

/// The factors of rates and gradients that groups give, each list once: of a stack one factor per depth.
static void printRates(const Program &program) {
  std::set<std::string> rates;
  for (const auto &[path, policy] : program.policies)
    for (const auto &[what, factors] : {std::pair("lr", &policy.learningRate), std::pair("gradient", &policy.gradient)}) {
      std::string text;
      for (double factor : *factors)
        text += (text.empty() ? ":" : ",") + numberText(factor, "%.3g");
      if (std::any_of(factors->begin(), factors->end(), [](double factor) { return factor != 1; }))
        rates.insert(what + text);
    }
  std::printf("rates");
  for (const std::string &each : rates)
    std::printf(" %s", each.c_str());
  std::printf("%s\n", rates.empty() ? " none" : "");
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  CheckOptions options;
  options.path = argv[1];
  options.model = argv[2];
  options.recipe = argv[3];
  options.modelRoots = {argv[4]};
  SourceFiles sources;
  Diagnostics diagnostics;
  auto program = check(options, sources, diagnostics);
  for (const Diagnostic &mistake : diagnostics.all())
    std::fprintf(stderr, "%s: %s\n", mistake.code.c_str(), mistake.message.c_str());
  if (!program)
    return 1;
  for (const CheckedRecipe &recipe : program->recipes) {
    if (recipe.kind != "train" || recipe.name != options.recipe)
      continue;
    std::printf("dims");
    for (const auto &[name, size] : recipe.binds)
      std::printf(" %s=%lld", name.c_str(), (long long)size);
    std::printf("\n");
    print(recipe, "optimizer", "optimizer");
    print(recipe, "schedule", "schedule");
    print(recipe, "clip", "clipping");
  }
  printRates(*program);
  printDecay(*program);
}
