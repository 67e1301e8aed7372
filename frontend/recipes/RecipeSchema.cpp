#include "frontend/recipes/RecipeSchema.h"
#include "frontend/recipes/OptimizerRules.h"
#include "frontend/recipes/SchemaForms.h"
#include "runtime/base/DataType.h"
#include <algorithm>

namespace tenon::schema {

const std::vector<Parameter> &settings(bool train) {
  static const std::vector<Parameter> forTraining = {call("data", "data task"),
                                                     call("valid", "data task"),
                                                     call("init", "initial weights"),
                                                     of("loss", Type::Loss),
                                                     call("tasks", "task", Type::Calls),
                                                     choice("mix", {"by share", "shuffled batches", "round robin"}),
                                                     of("freeze", Type::Texts),
                                                     call("groups", "parameter group", Type::Calls),
                                                     call("optimizer", "optimizer"),
                                                     call("schedule", "schedule"),
                                                     call("clip", "clipping"),
                                                     starting(whole("accumulate", 1, 1 << 20), 1),
                                                     starting(whole("slices", 1, 4096), 1),
                                                     call("save", "way of saving"),
                                                     call("numerics", "numerics"),
                                                     open(whole("steps")),
                                                     open(positive("epochs")),
                                                     call("checkpoint", "checkpoint rule"),
                                                     call("stop", "stopping rule"),
                                                     call("average", "average"),
                                                     whole("seed", 0)};
  static const std::vector<Parameter> forGeneration = {required(of("entry", Type::Entry)), required(call("method", "method")),
                                                       of("start", Type::TextOrInt),       of("stop", Type::TextOrInt),
                                                       of("mask", Type::TextOrInt),        whole("seed", 0)};
  return train ? forTraining : forGeneration;
}

static std::vector<Function> optimizers() {
  std::vector<Function> result;
  for (const OptimizerRule &rule : optimizerRules()) {
    Function function{"optimizer", rule.name, rule.settings, false, {}};
    if (rule.forms.size() > 1) {
      std::vector<std::string_view> forms;
      for (const OptimizerForm &form : rule.forms)
        forms.push_back(form.name);
      function.parameters.push_back(choice("form", forms));
    }
    result.push_back(std::move(function));
  }
  return result;
}

static std::vector<Function> schedules() {
  std::vector<Function> result;
  for (const ScheduleRule &rule : scheduleRules()) {
    result.push_back({"schedule", rule.name, rule.settings, false, rule.oneOf});
    if (rule.ends)
      result.back().oneOf = {"total", "epochs"};
  }
  return result;
}

/// What the settings about parameters and their updates say.
static std::vector<Function> updates() {
  Parameter pattern = of("pattern", Type::Text);
  pattern.positional = true;
  return {{"initial weights",
           "load",
           {first(of("file", Type::Text)), of("names", Type::Scheme), of("grow", Type::Texts), of("rows", Type::Reals),
            of("partial", Type::Bool)},
           false,
           {}},
          {"parameter group",
           "group",
           {pattern, starting(perDepth(real("lr")), 1), starting(perDepth(real("gradient")), 1), open(perDepth(real("decay"))),
            open(perDepth(positive("clip")))},
           true,
           {"lr", "gradient", "decay", "clip"}},
          {"clipping", "global_norm", {first(positive("norm")), choice("form", {"torch", "tf"})}, false, {}},
          {"clipping", "each", {first(positive("norm")), choice("form", {"torch", "tf"})}, false, {}},
          {"clipping", "value", {first(positive("bound"))}, false, {}},
          {"average", "ema", {first(fraction("decay")), of("ramp", Type::Bool)}, false, {}},
          {"average", "last", {first(whole("count", 1, 1000))}, false, {}}};
}

std::vector<std::string> factorsOfF32() {
  const std::vector<std::string_view> types = runtime::namesThat(runtime::isComputedInF32);
  std::vector<std::string> words(types.begin(), types.end());
  words.emplace_back(kRoundedFactors);
  return words;
}

/// One of `words`, without it f32.
static Parameter elementType(std::string_view name, const std::vector<std::string_view> &words) {
  const auto usual = std::find(words.begin(), words.end(), runtime::nameOf(runtime::DataType::F32));
  return starting(choice(name, words), double(usual - words.begin()));
}

static std::vector<Function> numerics() {
  const std::vector<std::string_view> types = runtime::namesThat(runtime::isReal);
  std::vector<std::string_view> computed = types;
  computed.push_back(kRoundedFactors);
  auto lossScale = [](std::string_view name) { return real(name, 0.001, 1e12); };
  Parameter growth = real("growth", 1), backoff = fraction("backoff");
  growth.lowOpen = backoff.lowOpen = true;
  std::vector<Parameter> policy = {elementType("params", types), elementType("compute", computed), elementType("reduce", types),
                                   call("scale", "loss scale")};
  // Exceptions; the scale of a loss is for all of a step.
  for (std::string_view type : runtime::namesThat([](runtime::DataType real) { return isReal(real) && !needsScale(real); }))
    policy.push_back(of(type, Type::Texts));
  return {{"numerics", "policy", policy, false, {}},
          {"loss scale", // torch.amp.GradScaler
           "dynamic",
           {starting(lossScale("initial"), 65536), starting(whole("every"), 2000), starting(growth, 2), starting(backoff, 0.5)},
           false,
           {}},
          {"loss scale", "fixed", {first(lossScale("scale"))}, false, {}}};
}

/// What a run does beside its steps.
static std::vector<Function> runs() {
  return {{"task",
           "task",
           {required(call("data", "data task")), required(of("loss", Type::Loss)), starting(positive("share"), 1),
            open(whole("id", 0)), open(whole("batch"))},
           false,
           {}},
          {"checkpoint rule",
           "every",
           {positional(starting(whole("steps"), 1000)), starting(whole("keep"), 3), of("best", Type::Measure),
            of("lowest", Type::Bool)},
           false,
           {}},
          {"stopping rule", "patience", {first(whole("evaluations"))}, false, {}},
          {"way of saving", "all", {}, false, {}},
          {"way of saving", "blocks", {starting(whole("steps"), 1)}, false, {}}};
}

static std::vector<Function> methods() {
  Parameter limit = starting(of("limit", Type::TextOrInt), 400);
  limit.low = 1;
  const Parameter feed = choice("feed", {"token", "mask"});
  return {{"method", "greedy", {limit, feed}, false, {}},
          {"method",
           "sample",
           {starting(positive("temperature"), 1),
            whole("top_k", 0),
            {"top_p", Type::Real, false, false, 0, 1, true, false, {}, false, true, 1},
            limit,
            feed},
           false,
           {}},
          {"method",
           "beam",
           {required(whole("size")), starting(real("alpha"), 0.6), choice("rule", {"t2t", "hf", "unilm"}), limit,
            whole("no_repeat", 0), of("except", Type::Texts), feed},
           false,
           {}}};
}

static const std::vector<Function> &functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> joined;
    for (const std::vector<Function> &part : {optimizers(), schedules(), dataTasks(), updates(), numerics(), runs(), methods()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

const Function *find(std::string_view family, std::string_view name) {
  for (const Function &function : functions())
    if (function.family == family && function.name == name)
      return &function;
  return nullptr;
}

std::vector<std::string> names(std::string_view family) {
  std::vector<std::string> result;
  for (const Function &function : functions())
    if (function.family == family)
      result.emplace_back(function.name);
  return result;
}

bool works(std::string_view family, std::string_view name) {
  const Function *function = find(family, name);
  return function && function->works;
}

std::string working(std::string_view family, std::string_view last) {
  std::vector<std::string_view> names;
  for (const Function &function : functions())
    if (function.family == family && function.works)
      names.push_back(function.name);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " " + std::string(last) + " ") + std::string(names[i]);
  return text;
}

} // namespace tenon::schema
