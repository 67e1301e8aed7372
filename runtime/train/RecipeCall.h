// One call of a recipe's settings, adam(lr = 1e-3) or byte_stream(text = "a.txt"), read from a manifest by the table of recipes.
#pragma once
#include "frontend/recipes/RecipeSchema.h"
#include "runtime/base/Json.h"
#include "runtime/base/Status.h"
#include <algorithm>

namespace tenon::train {

using runtime::Expected;
using runtime::inputError;
using runtime::JsonValue;
using runtime::Status;

/// name(args, keyword = value) as the manifest writes it. Each taken keyword is remembered, so that a misspelt one is an error.
class Call {
public:
  Call(const JsonValue &value, std::string setting) : setting(std::move(setting)) {
    const JsonValue *callee = value.find("call");
    name = callee && callee->isString() ? callee->text : "";
    if (const JsonValue *list = value.find("args"); list && list->isArray())
      args = &list->elements;
    if (const JsonValue *list = value.find("keywords"); list && list->isObject())
      keywords = &list->members;
  }
  bool valid() const { return !name.empty(); }

  const JsonValue *argument(size_t position, std::string_view keyword) {
    taken.emplace_back(keyword);
    if (keywords)
      for (const auto &[key, value] : *keywords)
        if (key == keyword)
          return &value;
    return args && position < args->size() ? &(*args)[position] : nullptr;
  }
  Status text(size_t position, std::string_view keyword, std::string &result) {
    const JsonValue *value = argument(position, keyword);
    if (value && !value->isString())
      return inputError(setting, ": ", keyword, " of ", name, " must be a text");
    if (value)
      result = value->text;
    return {};
  }
  Status integer(size_t position, std::string_view keyword, int64_t least, int64_t &result) {
    const JsonValue *value = argument(position, keyword);
    if (value && (!value->isInteger() || value->integer < least))
      return inputError(setting, ": ", keyword, " of ", name, " must be a whole number, at least ", least);
    if (value)
      result = value->integer;
    return {};
  }
  /// The function in the table of recipes, with every argument in its range there. Artifacts come from elsewhere, and no other
  /// place knows the ranges.
  Expected<const schema::Function *> check(std::string_view family) {
    function = schema::find(family, name);
    if (!function || !function->works)
      return inputError("not supported yet: the ", family, " ", name, "; there are ", schema::working(family));
    for (const schema::Parameter &parameter : function->parameters)
      if (const JsonValue *value = argument(positionOf(parameter.name), parameter.name); value && !parameter.works)
        return inputError("not supported yet: ", parameter.name, " in ", setting, " = ", name, "(...)");
      else if (value && !fits(parameter, *value))
        return inputError(setting, ": ", parameter.name, " of ", name, " must be ", wanted(parameter));
    return function;
  }
  /// Values that `check` has seen, of settings that the function has; as they are where the recipe gives none.
  void take(std::string_view keyword, std::string &result) {
    if (const JsonValue *value = settingOf(keyword))
      result = value->text;
  }
  void take(std::string_view keyword, std::vector<std::string> &result) {
    const JsonValue *value = settingOf(keyword);
    if (value && value->isString())
      result = {value->text};
    for (size_t i = 0; value && i < value->elements.size(); ++i)
      result.push_back(value->elements[i].text);
  }
  void take(std::string_view keyword, std::vector<double> &result) {
    const JsonValue *value = settingOf(keyword);
    if (value && value->isNumber())
      result = {value->real};
    for (size_t i = 0; value && i < value->elements.size(); ++i)
      result.push_back(value->elements[i].real);
  }
  void take(std::string_view keyword, bool &result) {
    if (const JsonValue *value = settingOf(keyword))
      result = value->truth;
  }
  void take(std::string_view keyword, int64_t &result) {
    if (const JsonValue *value = settingOf(keyword))
      result = value->integer;
  }
  void take(std::string_view keyword, double &result) {
    if (const JsonValue *value = settingOf(keyword))
      result = value->real;
  }
  /// Keywords that are no settings of the function: inputs of the model.
  std::vector<std::pair<std::string, const JsonValue *>> others() {
    std::vector<std::pair<std::string, const JsonValue *>> result;
    if (keywords)
      for (const auto &[key, value] : *keywords)
        if (std::find(taken.begin(), taken.end(), key) == taken.end())
          result.emplace_back(key, &value);
    for (const auto &[key, value] : result)
      taken.push_back(key);
    return result;
  }
  Status finish() const {
    if (keywords)
      for (const auto &[key, value] : *keywords)
        if (std::find(taken.begin(), taken.end(), key) == taken.end())
          return inputError("not supported yet: ", key, " in ", setting, " = ", name, "(...)");
    return {};
  }

  static constexpr size_t noPosition = ~size_t{0};
  std::string name;

private:
  static bool isChoice(const schema::Parameter &parameter, const JsonValue &value) {
    return value.isString() &&
           std::find(parameter.choices.begin(), parameter.choices.end(), value.text) != parameter.choices.end();
  }
  static bool fits(const schema::Parameter &parameter, const JsonValue &value) {
    using schema::Type;
    const bool inside = (parameter.lowOpen ? value.real > parameter.low : value.real >= parameter.low) &&
                        (parameter.highOpen ? value.real < parameter.high : value.real <= parameter.high);
    switch (parameter.type) {
    case Type::Int:
      return value.isInteger() && inside;
    case Type::Real:
      return value.isNumber() && inside;
    case Type::Bool:
      return value.kind == JsonValue::Kind::Bool;
    case Type::Choice:
      return isChoice(parameter, value);
    case Type::Texts:
    case Type::Reals: {
      auto isOne = [&](const JsonValue &each) {
        return parameter.type == Type::Reals ? each.isNumber()
                                             : each.isString() && (parameter.choices.empty() || isChoice(parameter, each));
      };
      return isOne(value) ||
             (value.isArray() && !value.elements.empty() && std::all_of(value.elements.begin(), value.elements.end(), isOne));
    }
    case Type::Call:
    case Type::Loss:
      return value.find("call") != nullptr;
    default:
      return value.isString();
    }
  }
  static std::string wanted(const schema::Parameter &parameter) {
    using schema::Type;
    const std::string end =
        parameter.high < schema::kInfinity ? runtime::concat(parameter.highOpen ? " to below " : " to ", parameter.high) : "";
    const std::string low =
        runtime::concat(end.empty() ? parameter.lowOpen ? ", more than " : ", at least " : " from ", parameter.low);
    switch (parameter.type) {
    case Type::Int:
      return "a whole number" + low + end;
    case Type::Real:
      return "a number" + low + end;
    case Type::Bool:
      return "true or false";
    case Type::Reals:
      return "a number, or several in parentheses";
    case Type::Texts:
    case Type::Choice: {
      if (parameter.choices.empty())
        return "a text, or several in parentheses";
      std::string words;
      for (std::string_view word : parameter.choices)
        words += (words.empty() ? "" : " or ") + runtime::quoteJson(word);
      return words;
    }
    case Type::Call:
    case Type::Loss:
      return "a call";
    default:
      return "a text";
    }
  }

  /// The value of a setting of the function; a keyword of that name may be an input of the model elsewhere.
  const JsonValue *settingOf(std::string_view keyword) {
    const bool known = std::any_of(function->parameters.begin(), function->parameters.end(),
                                   [&](const schema::Parameter &parameter) { return parameter.name == keyword; });
    return known ? argument(positionOf(keyword), keyword) : nullptr;
  }
  size_t positionOf(std::string_view keyword) const {
    size_t position = 0;
    for (const schema::Parameter &parameter : function->parameters)
      if (parameter.name == keyword)
        return parameter.positional ? position : noPosition;
      else
        position += parameter.positional;
    return noPosition;
  }

  std::string setting;
  const schema::Function *function = nullptr; // after `check`
  const std::vector<JsonValue> *args = nullptr;
  const std::vector<JsonValue::Member> *keywords = nullptr;
  std::vector<std::string> taken;
};

} // namespace tenon::train
