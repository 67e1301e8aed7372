#include "frontend/recipes/RecipeReader.h"
#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace tenon {

using schema::Parameter;
using schema::Type;

namespace {

bool mentionsDepth(const ast::ExprPtr &expression) {
  if (!expression)
    return false;
  if (expression->kind == ast::Expr::Kind::Name && expression->text == "depth")
    return true;
  for (const ast::ExprPtr &operand : expression->operands)
    if (mentionsDepth(operand))
      return true;
  for (const ast::Argument &argument : expression->arguments)
    if (mentionsDepth(argument.value))
      return true;
  return false;
}

std::string numberText(double value) {
  const double size = std::fabs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-5)) { // 1e+300, not a row of digits
    std::ostringstream text;
    text << value;
    return text.str();
  }
  std::string text = std::to_string(value);
  if (value == std::floor(value))
    return std::to_string(int64_t(value));
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::string rangeText(const Parameter &parameter) {
  const std::string low = numberText(parameter.low), high = numberText(parameter.high);
  if (parameter.high == schema::kInfinity)
    return parameter.lowOpen ? "more than " + low : "at least " + low;
  return "between " + low + (parameter.lowOpen ? " (excluded)" : "") + " and " + high + (parameter.highOpen ? " (excluded)" : "");
}

} // namespace

/// A number, truth or text that does not depend on depth.
SettingValue RecipeChecker::constant(const ast::ExprPtr &expression, const Parameter &parameter) {
  using Kind = ast::Expr::Kind;
  switch (expression->kind) {
  case Kind::Int: {
    SettingValue value = make(Setting::Kind::Int, expression);
    value->integer = expression->integer;
    value->real = double(expression->integer);
    return value;
  }
  case Kind::Real: {
    SettingValue value = make(Setting::Kind::Real, expression);
    value->real = expression->real;
    return value;
  }
  case Kind::String: {
    SettingValue value = make(Setting::Kind::Text, expression);
    value->text = expression->text;
    return value;
  }
  case Kind::Name:
    if (expression->text == "true" || expression->text == "false") {
      SettingValue value = make(Setting::Kind::Bool, expression);
      value->truth = expression->text == "true";
      return value;
    }
    if (expression->text != "depth" && !contains(context.configs, expression->text)) {
      Diagnostic &error = diagnostics.error(
          "T0623", expression->range, "`" + expression->text + "` is not a config of model " + context.model, "unknown here");
      suggest(error, expression->text, context.configs, "configs");
      return nullptr;
    }
    break;
  default:
    break;
  }
  const bool perDepth = mentionsDepth(expression);
  if (perDepth && !parameter.usesDepth) {
    diagnostics.error("T0619", expression->range, "`depth` has a meaning only in the values of a group", "depends on depth");
    return nullptr;
  }
  SettingValue value = context.evaluate(expression, perDepth ? std::optional<int64_t>(0) : std::nullopt);
  if (!value)
    return nullptr;
  value = std::make_shared<Setting>(*value);
  value->range = expression->range;
  if (value->kind == Setting::Kind::Int)
    value->real = double(value->integer);
  if (perDepth)
    value->expression = expression;
  return value;
}

SettingValue RecipeChecker::readNumber(const ast::ExprPtr &expression, const Parameter &parameter) {
  const bool whole = parameter.type == Type::Int, share = parameter.type == Type::Share;
  const std::string wanted = whole ? "a whole number" : share ? "a number of steps or a fraction of the run" : "a number";
  if (expression->kind == ast::Expr::Kind::Tuple || expression->kind == ast::Expr::Kind::Call)
    return wrong(expression, parameter, wanted);
  SettingValue value = constant(expression, parameter);
  if (!value)
    return nullptr;
  if (value->kind != Setting::Kind::Int && (value->kind != Setting::Kind::Real || whole))
    return wrong(expression, parameter, wanted);
  const double number = value->real;
  bool inside = std::isfinite(number) && (parameter.lowOpen ? number > parameter.low : number >= parameter.low) &&
                (parameter.highOpen ? number < parameter.high : number <= parameter.high);
  std::string range = rangeText(parameter);
  if (share) {
    inside = value->kind == Setting::Kind::Int ? value->integer >= 0 : number > 0 && number < 1;
    range = "a whole number of at least 0 or a fraction between 0 and 1";
  }
  if (!inside) {
    diagnostics.error("T0609", expression->range, "`" + std::string(parameter.name) + "` must be " + range,
                      "this is " + numberText(number));
    return nullptr;
  }
  return value;
}

SettingValue RecipeChecker::readText(const ast::ExprPtr &expression, const Parameter &parameter) {
  SettingValue value;
  if (expression->kind != ast::Expr::Kind::Tuple && expression->kind != ast::Expr::Kind::Call) {
    value = constant(expression, parameter);
    if (!value)
      return nullptr;
  }
  if (value && value->kind == Setting::Kind::Text)
    return value;
  const std::string least = parameter.low > 0 ? "1" : "0";
  if (value && value->kind == Setting::Kind::Int && parameter.type == Type::TextOrInt && value->integer >= (least == "1" ? 1 : 0))
    return value;
  return wrong(expression, parameter,
               parameter.type == Type::TextOrInt ? "a text or a whole number of at least " + least : "a text in quotes");
}

SettingValue RecipeChecker::readWord(const ast::ExprPtr &expression, const Parameter &parameter) {
  const bool isText = expression->kind == ast::Expr::Kind::String;
  if (!isText && expression->kind != ast::Expr::Kind::Name)
    return wrong(expression, parameter, "a word");
  SettingValue value = make(isText ? Setting::Kind::Text : Setting::Kind::Word, expression);
  value->text = expression->text;
  std::vector<std::string> allowed;
  std::string code = "T0611", what = "choices";
  if (parameter.type == Type::Choice) {
    allowed.assign(parameter.choices.begin(), parameter.choices.end());
  } else if (parameter.type == Type::Scheme) {
    allowed = context.schemes;
    code = "T0615";
    what = "schemes of `names` tables";
  } else if (parameter.type == Type::Entry) {
    allowed = context.outs;
    code = "T0614";
    what = "entries of model " + context.model;
  } else if (parameter.type == Type::Measure) {
    allowed = context.losses;
    allowed.insert(allowed.end(), context.metrics.begin(), context.metrics.end());
    what = "losses and metrics of model " + context.model;
  } else {
    return value;
  }
  if (contains(allowed, value->text))
    return value;
  Diagnostic &error = diagnostics.error(code, expression->range,
                                        "`" + std::string(parameter.name) + "` cannot be `" + value->text + "`", "unknown");
  suggest(error, value->text, allowed, what);
  return nullptr;
}

SettingValue RecipeChecker::readTuple(const ast::ExprPtr &expression, const Parameter &parameter, Type element) {
  Parameter each = parameter;
  each.type = element;
  each.low = std::max(parameter.low, 0.0); // of numbers
  const bool isTuple = expression->kind == ast::Expr::Kind::Tuple;
  if (!isTuple && parameter.type != Type::Betas) {
    SettingValue single = read(expression, each); // a list key takes one value or a tuple
    if (!single)
      return nullptr;
    SettingValue value = make(Setting::Kind::Tuple, expression);
    value->elements = {single};
    return value;
  }
  if (parameter.type == Type::Betas && (!isTuple || expression->operands.size() != 2))
    return wrong(expression, parameter, "two numbers, as in (0.9, 0.999)");
  SettingValue value = make(Setting::Kind::Tuple, expression);
  bool good = true;
  for (const ast::ExprPtr &operand : expression->operands) {
    value->elements.push_back(read(operand, each));
    good &= value->elements.back() != nullptr;
  }
  return good ? value : nullptr;
}

bool RecipeChecker::readArgument(const ast::Argument &argument, const schema::Function &function, size_t &position, Setting &call,
                                 std::set<std::string> &attempted) {
  const Parameter *parameter = nullptr;
  const std::string name(function.name);
  std::vector<std::string> keywords;
  for (const Parameter &each : function.parameters)
    if (!function.rest || !each.positional)
      keywords.emplace_back(each.name);
  if (!argument.keyword) {
    if (position < function.parameters.size() && function.parameters[position].positional)
      parameter = &function.parameters[position];
    if (!parameter) {
      Diagnostic &error = diagnostics.error("T0617", argument.value->range,
                                            "`" + name + "` takes no further argument without a keyword", "which keyword?");
      error.notes.emplace_back("help", "keywords of " + name + ": " + listing(keywords));
      return false;
    }
    position += function.rest ? 0 : 1;
    SettingValue value = read(argument.value, *parameter);
    if (value && function.rest)
      call.elements.push_back(value);
    else if (value)
      call.keywords.emplace_back(parameter->name, value);
    return value != nullptr;
  }
  for (const Parameter &each : function.parameters)
    if (each.name == argument.keyword->text && !(function.rest && each.positional))
      parameter = &each;
  Parameter input;
  if (!parameter && function.input) {
    if (!checkInputName(*argument.keyword, function))
      return false;
    input = *function.input;
    input.name = argument.keyword->text;
    parameter = &input;
  }
  if (!parameter) {
    Diagnostic &error = diagnostics.error("T0606", argument.keyword->range,
                                          "`" + name + "` has no keyword `" + argument.keyword->text + "`", "unknown keyword");
    attempted.insert(suggest(error, argument.keyword->text, keywords, "keywords of " + name));
    return false;
  }
  for (const auto &given : call.keywords)
    if (given.first == argument.keyword->text) {
      Diagnostic &error =
          diagnostics.error("T0607", argument.keyword->range, "`" + given.first + "` is given twice", "second value");
      error.related.push_back({given.second->range, "first value"});
      return false;
    }
  SettingValue value = read(argument.value, *parameter);
  if (value)
    call.keywords.emplace_back(parameter->name, value);
  return value != nullptr;
}

SettingValue RecipeChecker::readCall(const ast::ExprPtr &expression, const Parameter &parameter) {
  const std::string_view family = parameter.choices.at(0);
  const std::vector<std::string> known = schema::names(family);
  const bool isName = expression->kind == ast::Expr::Kind::Name;
  const bool isCall = expression->kind == ast::Expr::Kind::Call && expression->operands[0]->kind == ast::Expr::Kind::Name;
  if (!isCall && !isName)
    return wrong(expression, parameter, "a call such as " + known.front() + "(..)");
  const ast::ExprPtr &callee = isCall ? expression->operands[0] : expression;
  const schema::Function *function = schema::find(family, callee->text);
  if (!function) {
    Diagnostic &error =
        diagnostics.error("T0605", callee->range, "`" + callee->text + "` is not a known " + std::string(family), "unknown");
    suggest(error, callee->text, known, "known");
    return nullptr;
  }
  SettingValue call = make(Setting::Kind::Call, expression);
  call->text = callee->text;
  bool good = true;
  size_t position = 0;
  std::set<std::string> attempted; // a keyword whose value was wrong is not missing as well
  for (const ast::Argument &argument : expression->arguments) {
    const size_t place = position;
    if (argument.keyword)
      attempted.insert(argument.keyword->text);
    else if (place < function->parameters.size())
      attempted.emplace(function->parameters[place].name);
    good &= readArgument(argument, *function, position, *call, attempted);
  }
  for (const Parameter &each : function->parameters)
    if (each.required && !attempted.count(std::string(each.name))) {
      diagnostics.error("T0610", callee->range, "`" + call->text + "` needs `" + std::string(each.name) + "`",
                        "`" + std::string(each.name) + "` is missing");
      good = false;
    }
  size_t given = 0;
  std::string wanted;
  for (std::string_view each : function->oneOf) {
    given += attempted.count(std::string(each));
    wanted += (wanted.empty() ? "`" : " or `") + std::string(each) + "`";
  }
  if (given > 1 && family == "schedule") {
    diagnostics.error("T0616", callee->range, "`" + call->text + "` takes " + wanted + ", which exclude each other", "both");
    good = false;
  } else if (given == 0 && !function->oneOf.empty()) {
    diagnostics.error("T0610", callee->range, "`" + call->text + "` needs " + wanted, "none of them is given");
    good = false;
  }
  if (function->rest && call->elements.empty() && good) {
    diagnostics.error("T0610", callee->range, "`" + call->text + "` needs at least one pattern of parameter names", "no pattern");
    good = false;
  }
  good = good && (family != "schedule" || checkLengths(*call)) && (family != "optimizer" || checkMomentum(*call)) &&
         (family != "checkpoint rule" || checkBest(*call)) && (family != "numerics" || checkNumerics(*call)) &&
         (family != "data task" || checkTask(*call)) && (family != "method" || checkExcept(*call));
  return good ? call : nullptr;
}

SettingValue RecipeChecker::read(const ast::ExprPtr &expression, const Parameter &parameter) {
  if (!expression) // the parser reported it
    return nullptr;
  Parameter within = parameter;
  switch (parameter.type) {
  case Type::Int:
  case Type::Real:
  case Type::Share:
    return readNumber(expression, parameter);
  case Type::Bool: {
    SettingValue value = expression->kind == ast::Expr::Kind::Tuple || expression->kind == ast::Expr::Kind::Call
                             ? nullptr
                             : constant(expression, parameter);
    if (!value && expression->kind == ast::Expr::Kind::Name)
      return nullptr; // reported
    return value && value->kind == Setting::Kind::Bool ? value : wrong(expression, parameter, "true or false");
  }
  case Type::Text:
  case Type::TextOrInt:
    return readText(expression, parameter);
  case Type::Choice:
  case Type::Scheme:
  case Type::Entry:
  case Type::Measure:
  case Type::Word:
    return readWord(expression, parameter);
  case Type::Texts:
    return readTuple(expression, parameter, parameter.choices.empty() ? Type::Text : Type::Choice);
  case Type::Reals:
  case Type::Wholes:
    return readTuple(expression, parameter, parameter.type == Type::Reals ? Type::Real : Type::Int);
  case Type::Betas:
    within.high = 1;
    within.highOpen = true;
    return readTuple(expression, within, Type::Real);
  case Type::Call:
    return readCall(expression, parameter);
  case Type::Calls:
    return readTuple(expression, parameter, Type::Call);
  case Type::Source:
    return expression->kind == ast::Expr::Kind::Call ? readCall(expression, parameter) : readText(expression, parameter);
  case Type::Loss:
    return readLoss(expression);
  }
  return nullptr;
}

void RecipeChecker::readAll(const ast::Recipe &recipe, CheckedRecipe &result) {
  const bool train = recipe.kind == ast::Recipe::Kind::Train;
  const std::vector<Parameter> &keys = schema::settings(train);
  std::map<std::string, ast::Range> seen;
  for (const ast::Setting &setting : recipe.settings) {
    if (setting.isBind && train)
      continue; // checkBinds
    const std::string key = setting.isBind ? "bind" : setting.key.text;
    const ast::Range place = setting.isBind ? setting.range : setting.key.range;
    auto known =
        std::find_if(keys.begin(), keys.end(), [&](const Parameter &each) { return each.name == key && !setting.keyIsString; });
    if (known == keys.end()) {
      std::vector<std::string> names(train ? 1 : 0, "bind");
      for (const Parameter &each : keys)
        names.emplace_back(each.name);
      Diagnostic &error =
          diagnostics.error("T0601", place, "a " + result.kind + " block has no setting `" + key + "`", "unknown setting");
      meant.insert(suggest(error, key, names, "settings"));
      continue;
    }
    if (auto [first, isNew] = seen.try_emplace(key, place); !isNew) {
      Diagnostic &error = diagnostics.error("T0602", place, "`" + key + "` is set twice", "second time");
      error.related.push_back({first->second, "first time"});
      continue;
    }
    if (SettingValue value = read(setting.value, *known))
      result.settings.emplace_back(key, value);
  }
  CheckedRecipe written = result; // with mistaken settings as written, so that none of them counts as missing
  for (const auto &[key, place] : seen)
    if (!written.find(key))
      written.settings.emplace_back(key, std::make_shared<Setting>());
  for (auto &[key, value] : written.settings)
    if (auto place = seen.find(key); place != seen.end() && value->range.end == 0)
      value->range = place->second;
  requireSettings(recipe, written, train);
}

} // namespace tenon
