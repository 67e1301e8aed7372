// What a recipe says about single parameters, and what it says that cannot be done yet.
#include "frontend/recipes/PictureFormats.h"
#include "frontend/recipes/RecipeReader.h"
#include <algorithm>
#include <cmath>
#include <iterator>

namespace tenon {

/// `steps` grows by the characters looked at.
static bool matchesCounted(const std::string &pattern, const std::string &text, uint64_t &steps) {
  size_t at = 0, star = std::string::npos, resume = 0, i = 0;
  for (; i < text.size(); ++steps) {
    if (at < pattern.size() && pattern[at] == '*') { // try the empty text first, come back here with one character more
      star = at++;
      resume = i;
    } else if (at < pattern.size() && pattern[at] == text[i]) {
      ++at;
      ++i;
    } else if (star != std::string::npos) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*')
    ++at;
  return at == pattern.size();
}

bool globMatches(const std::string &pattern, const std::string &text) {
  uint64_t steps = 0;
  return matchesCounted(pattern, text, steps);
}

namespace {

/// One element of a parameter's stack: its published path and the index of the innermost stack.
struct Element {
  std::string path;
  std::optional<int64_t> depth;
};

std::vector<Element> elementsOf(const Param &param) {
  std::vector<Element> elements{{param.path, std::nullopt}};
  for (int64_t count : param.stackCounts) {
    std::vector<Element> next;
    for (const Element &element : elements) {
      const size_t star = element.path.find('*');
      for (int64_t i = 0; i < count && star != std::string::npos; ++i) {
        std::string path = element.path;
        next.push_back({path.replace(star, 1, std::to_string(i)), i});
      }
    }
    elements = std::move(next);
  }
  return elements;
}

/// The values of one key ("lr") for the elements of one parameter.
struct GroupKey {
  const char *name;
  std::vector<double> ParamPolicy::*values;
  double neutral;
};
const GroupKey kKeys[] = {{"lr", &ParamPolicy::learningRate, 1.0},
                          {"gradient", &ParamPolicy::gradient, 1.0},
                          {"decay", &ParamPolicy::decay, std::nan("")},
                          {"clip", &ParamPolicy::clip, std::nan("")},
                          {nullptr, &ParamPolicy::clipGroup, 0.0}}; // set with `clip`

class PolicyResolver {
public:
  PolicyResolver(const RecipeContext &context, Diagnostics &diagnostics) : context(context), diagnostics(diagnostics) {}

  std::map<std::string, ParamPolicy> resolve(const CheckedRecipe &recipe, const std::vector<Param> &params) {
    const Setting *groups = recipe.find("groups"), *freeze = recipe.find("freeze");
    std::vector<std::vector<bool>> used;
    std::vector<bool> frozenUsed(freeze ? freeze->elements.size() : 0);
    if (groups)
      for (const SettingValue &group : groups->elements)
        used.emplace_back(group->elements.size());
    std::map<std::string, ParamPolicy> policies;
    for (const Param &param : params) {
      uint64_t count = groups || freeze ? 1 : 0;
      for (int64_t layers : param.stackCounts)
        count *= uint64_t(layers);
      if (!mayGoOn(param.range, count * kStepsPerElement))
        return policies;
      const std::vector<Element> elements = elementsOf(param);
      if (groups)
        applyGroups(*groups, param, elements, used, policies);
      if (freeze)
        applyFreeze(*freeze, param, elements, frozenUsed, policies);
    }
    if (stopped)
      return policies; // what is unused was perhaps not looked at
    if (const Setting *init = recipe.find("init"))
      checkGrow(*init, params);
    if (groups)
      for (size_t i = 0; i < groups->elements.size(); ++i)
        reportUnused(*groups->elements[i], used[i], params);
    if (freeze)
      reportUnused(*freeze, frozenUsed, params);
    return policies;
  }

private:
  static constexpr uint64_t kStepsPerElement = 64, kStepsPerPattern = 8, kStepsPerUnit = 512; // a step is about 2 ns

  /// Counts steps, and says once in a while whether there may be more.
  bool mayGoOn(ast::Range place, uint64_t more) {
    steps += more;
    if (steps >= kStepsPerUnit * 1000) {
      stopped |= context.spend && !context.spend(place, steps / kStepsPerUnit);
      steps = 0;
    }
    return !stopped;
  }
  bool matchesAny(const Setting &patterns, const std::string &path, std::vector<bool> &used) {
    bool matches = false;
    for (size_t i = 0; i < patterns.elements.size() && mayGoOn(patterns.elements[i]->range, kStepsPerPattern); ++i)
      if (matchesCounted(patterns.elements[i]->text, path, steps))
        matches = used[i] = true;
    return matches;
  }
  void applyGroups(const Setting &groups, const Param &param, const std::vector<Element> &elements,
                   std::vector<std::vector<bool>> &used, std::map<std::string, ParamPolicy> &policies) {
    for (size_t e = 0; e < elements.size() && !stopped; ++e) {
      std::vector<size_t> matching;
      for (size_t g = 0; g < groups.elements.size(); ++g)
        if (matchesAny(*groups.elements[g], elements[e].path, used[g]))
          matching.push_back(g);
      auto set = [&](const GroupKey &key, double number) {
        std::vector<double> &values = policies[param.path].*key.values;
        values.resize(elements.size(), key.neutral);
        values[e] = number;
      };
      for (const GroupKey &key : kKeys)
        for (size_t g : matching)
          if (const Setting *value = key.name ? keyword(*groups.elements[g], key.name) : nullptr) {
            set(key, valueFor(*value, param, elements[e], key));
            if (key.values == &ParamPolicy::clip) { // where the bound uses the depth, each depth is a group of its own
              const bool usesDepth = value->expression && elements[e].depth;
              set(kKeys[std::size(kKeys) - 1], double(g + (usesDepth ? groups.elements.size() * (1 + *elements[e].depth) : 0)));
            }
            break; // the first match of a key wins
          }
    }
    if (auto policy = policies.find(param.path); policy != policies.end())
      for (const GroupKey &key : kKeys)
        (policy->second.*key.values).resize(elements.size(), key.neutral);
  }

  void applyFreeze(const Setting &freeze, const Param &param, const std::vector<Element> &elements, std::vector<bool> &used,
                   std::map<std::string, ParamPolicy> &policies) {
    std::vector<double> frozen;
    for (const Element &element : elements)
      frozen.push_back(matchesAny(freeze, element.path, used) ? 1 : 0);
    const size_t count = std::count(frozen.begin(), frozen.end(), 1.0);
    if (count == 0)
      return;
    ParamPolicy &policy = policies[param.path];
    for (const GroupKey &key : kKeys)
      (policy.*key.values).resize(elements.size(), key.neutral);
    policy.frozen = count == elements.size();
    if (!policy.frozen)
      policy.frozenAt = std::move(frozen);
  }

  static const Setting *keyword(const Setting &call, const std::string &name) {
    for (const auto &[key, value] : call.keywords)
      if (key == name)
        return value.get();
    return nullptr;
  }

  double valueFor(const Setting &value, const Param &param, const Element &element, const GroupKey &key) {
    if (!value.expression)
      return value.real;
    if (!element.depth) {
      if (!reported)
        diagnostics.error("T0642", value.range, "`depth` has no meaning for `" + param.path + "`, which is in no stack",
                          "the group matches a parameter outside of stacks");
      reported = true;
      return 1;
    }
    SettingValue number = context.evaluate(value.expression, element.depth);
    if (!number || (number->kind != Setting::Kind::Int && number->kind != Setting::Kind::Real))
      return 1; // reported by the evaluation
    const double result = number->kind == Setting::Kind::Int ? double(number->integer) : number->real;
    const bool isBound = key.values == &ParamPolicy::clip;
    if ((!std::isfinite(result) || result < 0 || (isBound && result == 0)) && !reported) {
      diagnostics.error("T0609", value.range, isBound ? "the bound of a norm must be above 0" : "a factor must be at least 0",
                        "at depth " + std::to_string(*element.depth) + " this is " + std::to_string(result));
      reported = true;
    }
    return result;
  }

  void reportUnused(const Setting &patterns, const std::vector<bool> &used, const std::vector<Param> &params) {
    for (size_t i = 0; i < used.size(); ++i)
      if (!used[i])
        reportUnused(*patterns.elements[i], params);
  }
  void reportUnused(const Setting &pattern, const std::vector<Param> &params) {
    Diagnostic &error =
        diagnostics.error("T0640", pattern.range, "no parameter matches \"" + pattern.text + "\"", "matches nothing");
    std::vector<std::string> paths;
    for (const Param &param : params)
      paths.push_back(param.path);
    if (std::string near = nearest(pattern.text, paths); !near.empty())
      error.notes.emplace_back("help", "did you mean \"" + near + "\"?");
    else if (!paths.empty())
      error.notes.emplace_back("help",
                               "parameters are called " + paths.front() + ", " + paths.back() + "; * stands for any text");
  }

  /// `grow` of `load` names parameters, none of a stack: a table is not in one. `rows` are whole numbers, of what grows.
  void checkGrow(const Setting &init, const std::vector<Param> &params) {
    const Setting *grow = keywordOf(&init, "grow"), *rows = keywordOf(&init, "rows");
    if (rows && !grow)
      diagnostics.error("T0610", rows->range, "`rows` says how the rows behind those of the file start, and nothing may grow",
                        "needs `grow`");
    auto whole = [](const Setting &row) { return row.kind == Setting::Kind::Int; };
    if (rows && !(rows->elements.empty() ? whole(*rows)
                                         : std::all_of(rows->elements.begin(), rows->elements.end(),
                                                       [&](const SettingValue &row) { return whole(*row); })))
      diagnostics.error("T0608", rows->range, "`rows` of `load` are numbers of rows, from 0 on", "no whole numbers");
    auto check = [&](const Setting &name) {
      if (std::none_of(params.begin(), params.end(), [&](const Param &param) { return param.path == name.text; }))
        reportUnused(name, params);
    };
    if (grow && grow->elements.empty())
      check(*grow);
    for (size_t i = 0; grow && i < grow->elements.size(); ++i)
      check(*grow->elements[i]);
  }

  const RecipeContext &context;
  Diagnostics &diagnostics;
  bool reported = false, stopped = false;
  uint64_t steps = 0; // not yet counted by context.spend
};

/// The function of a setting that is one call, else null.
const schema::Function *functionOf(const std::string &key, const Setting &value) {
  for (const schema::Parameter &setting : schema::settings(true))
    if (setting.name == key && setting.type == schema::Type::Call)
      return schema::find(setting.choices.at(0), value.text);
  return key == "method" ? schema::find("method", value.text) : nullptr;
}

bool works(const schema::Function &function, const std::string &argument) {
  for (const schema::Parameter &parameter : function.parameters)
    if (parameter.name == argument)
      return parameter.works;
  return true;
}

/// What to write in place of a keyword, or a data task, that is not built yet.
const char *insteadOf(const std::string &name) {
  return name == "dialogues" ? "rows that another program has made are read by `arrays` and `jsonl`"
         : name == "words"
             ? "`words = units` takes the words of a text in which a tab ends each, as jieba or another program cuts it"
         : name == "vectors" ? "a table in a safetensors file is read by `init = load(..)`"
         : name == "tokens"  ? "leave it out: a batch has B rows"
                             : "";
}

/// A function that is not built yet, or of one that is, keywords. `refuse` is told the place, what it is, and what to write.
void reportUnsupportedCall(const std::string &key, const Setting &call, const schema::Function *function,
                           const std::function<void(const Setting &, const std::string &, const char *)> &refuse) {
  if (function && !function->works)
    return refuse(call, key + " `" + call.text + "`", insteadOf(call.text));
  for (const auto &[name, argument] : call.keywords) {
    const bool words = name == "words" && argument->text == "jieba";
    if (words || (function && !works(*function, name)))
      refuse(*argument, "`" + name + "` of `" + call.text + "`", insteadOf(name));
    const auto format = call.text == "images" && name == "file" ? schema::unreadPictures(argument->text) : std::string_view();
    if (!format.empty())
      refuse(*argument,
             std::string(format) + " files of `images`; it reads .npy files, and folders of " +
                 std::string(schema::kPictureEnds) + " files",
             "");
  }
}

} // namespace

std::map<std::string, ParamPolicy> resolvePolicies(const CheckedRecipe &recipe, const std::vector<Param> &params,
                                                   const RecipeContext &context, Diagnostics &diagnostics) {
  return PolicyResolver(context, diagnostics).resolve(recipe, params);
}

void reportUnsupported(const CheckedRecipe &recipe, Diagnostics &diagnostics) {
  auto refuse = [&](const Setting &place, const std::string &what, const char *instead = "") {
    Diagnostic &mistake =
        diagnostics.error("T0690", place.range, "not supported yet: " + what,
                          (recipe.kind == "generate" ? "in generate block `" : "in recipe `") + recipe.name + "`");
    if (*instead)
      mistake.notes.push_back({"help", instead});
  };
  const Setting *clip = recipe.find("clip"), *optimizer = recipe.find("optimizer");
  if (clip && clip->text == "value" && optimizer)
    for (const auto &[name, argument] : optimizer->keywords)
      if (name == "clip_each") // its norms would be those of gradients that are clipped already
        refuse(*argument, "`clip_each` of `" + optimizer->text + "` beside `clip = value(..)`", "leave one of them out");
  for (const auto &[key, value] : recipe.settings) {
    if (std::any_of(schema::settings(true).begin(), schema::settings(true).end(),
                    [&, wanted = key](const schema::Parameter &setting) { return setting.name == wanted && !setting.works; })) {
      refuse(*value, "`" + key + "`");
      continue;
    }
    if (key == "tasks") {
      for (const RecipeTask &task : tasksOf(recipe)) {
        reportUnsupportedCall("data", *task.data, schema::find("data task", task.data->text), refuse);
        if (const Setting *tokens = keywordOf(task.data, "tokens");
            tokens && works(*schema::find("data task", task.data->text), "tokens"))
          refuse(*tokens, "`tokens` beside `tasks`");
      }
      continue;
    }
    if (key == "numerics") {
      for (const auto &[place, what] : unsupportedNumerics(*value))
        refuse(*place, what);
      continue;
    }
    reportUnsupportedCall(key, *value, functionOf(key, *value), refuse);
  }
}

} // namespace tenon
