// Prints what recipes may say, as the documents write it: "family TAB works TAB form TAB the inputs of a data task", from the
// table that checker, compiler and runtime read. `name` has to be given, `name = value` is what holds without it, `name = ..` has
// no such value.
#include "frontend/recipes/RecipeSchema.h"
#include <cstdio>

using namespace tenon::schema;

namespace {

std::string number(double value) {
  char text[32];
  snprintf(text, sizeof text, value != 0 && value < 1e-3 ? "%.0e" : "%g", value);
  std::string result = text;
  if (size_t zero = result.find("e-0"); zero != std::string::npos)
    result.erase(zero + 2, 1);
  return result;
}

std::string otherwise(const Parameter &parameter) {
  if (parameter.none)
    return "..";
  switch (parameter.type) {
  case Type::Int:
  case Type::Real:
  case Type::Share:
    return number(parameter.initial);
  case Type::TextOrInt:
    return parameter.initial > 0 ? number(parameter.initial) : "..";
  case Type::Bool:
    return parameter.initial > 0 ? "true" : "false";
  case Type::Betas:
    return "(" + number(parameter.initial) + ", " + number(parameter.second) + ")";
  case Type::Choice:
    return std::string(parameter.choices.at(static_cast<size_t>(parameter.initial)));
  default:
    return "..";
  }
}

std::string formOf(const Function &function) {
  std::string text;
  for (const Parameter &parameter : function.parameters) {
    if (!parameter.works)
      continue;
    const bool repeats = function.rest && parameter.positional;
    text += (text.empty() ? "" : ", ") + std::string(parameter.name) +
            (repeats              ? ", .."
             : parameter.required ? ""
                                  : " = " + otherwise(parameter));
  }
  if (function.input)
    text += (text.empty() ? "" : ", ") + std::string("INPUT = ") + std::string(function.input->name) + ", ..";
  return std::string(function.name) + (text.empty() ? "" : "(" + text + ")");
}

std::string inputsOf(const Function &function) {
  std::string text;
  for (const Made &made : function.makes) {
    std::string axes;
    for (char axis : made.axes)
      axes += (axes.empty() ? "" : ", ") + std::string(1, axis);
    text += (text.empty() ? "" : " ") + std::string(made.name) + "[" + axes + "]";
  }
  return text;
}

} // namespace

int main() {
  for (bool train : {true, false})
    for (const Parameter &setting : settings(train))
      printf("%s setting\t%d\t%s\t\n", train ? "train" : "generate", setting.works, std::string(setting.name).c_str());
  for (const char *family :
       {"optimizer", "schedule", "data task", "array", "initial weights", "task", "parameter group", "clipping", "numerics",
        "loss scale", "checkpoint rule", "stopping rule", "average", "way of saving", "method"})
    for (const std::string &name : names(family)) {
      const Function &function = *find(family, name);
      printf("%s\t%d\t%s\t%s\n", family, function.works, formOf(function).c_str(), inputsOf(function).c_str());
    }
}
