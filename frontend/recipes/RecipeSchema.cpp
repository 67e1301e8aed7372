#include "frontend/recipes/RecipeSchema.h"
#include "frontend/recipes/OptimizerRules.h"
#include "frontend/recipes/SchemaForms.h"

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
                                                     starting(whole("accumulate"), 1),
                                                     starting(whole("slices", 1, 4096), 1),
                                                     choice("save", {"all", "blocks"}),
                                                     call("numerics", "numerics"),
                                                     open(whole("steps")),
                                                     open(positive("epochs")),
                                                     call("checkpoint", "checkpoint rule"),
                                                     call("stop", "stopping rule"),
                                                     call("average", "average"),
                                                     whole("seed", 0)};
  static const std::vector<Parameter> forGeneration = {required(of("entry", Type::Entry)), required(call("method", "method")),
                                                       of("start", Type::TextOrInt), of("stop", Type::TextOrInt),
                                                       whole("seed", 0)};
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
    result.push_back({"schedule", rule.name, rule.settings, false, {}});
    if (rule.ends)
      result.back().oneOf = {"total", "epochs"};
  }
  return result;
}

/// Tasks of published recipes that no code makes batches for yet.
static std::vector<Function> plannedTasks() {
  const Parameter text = required(of("text", Type::Texts)), file = required(of("file", Type::Text)),
                  vocab = of("vocab", Type::Text);
  const Parameter merges = of("merges", Type::Text), rate = probability("rate"), length = whole("length");
  const Parameter tokens = whole("tokens");
  const std::vector<std::pair<std::string_view, std::vector<Parameter>>> tasks = {
      {"mlm_blocks", {text, vocab, merges, rate, choice("mask", {"static", "dynamic"})}},
      {"groups", {file, vocab, length, required(whole("size", 2))}},
      {"squad", {file, vocab, length, whole("stride"), whole("question")}},
      {"ernie_masks", {text, vocab, tokens, of("stages", Type::Texts)}},
      {"dialogues", {text, vocab, tokens, of("forms", Type::Texts), probability("fake")}},
      {"reorder", {text, vocab, whole("most", 2)}},
      {"distances", {text, vocab}},
      {"relations", {file, vocab}},
      {"relevance", {file, vocab}},
      {"unilm", {text, vocab, of("shares", Type::Reals), rate, probability("ngram")}},
      {"images", {required(of("folder", Type::Text)), of("crop", Type::Text), of("flip", Type::Bool), of("norm", Type::Text)}}};
  std::vector<Function> result;
  for (const auto &[name, parameters] : tasks)
    result.push_back({"data task", name, parameters, false, {}, false});
  return result;
}

/// Tasks over lines of files: texts that belong together, and texts with labels.
static std::vector<Function> lineTasks() {
  using Element = Made::Element;
  using Values = Made::Values;
  const Parameter vocab = of("vocab", Type::Text), merges = unsupported(of("merges", Type::Text)),
                  pieces = unsupported(of("model", Type::Text)), vectors = unsupported(of("vectors", Type::Text));
  const Parameter file = required(of("file", Type::Text)), length = open(whole("length")), form = of("form", Type::Text),
                  pad = choice("pad", {"right", "left"}), label = of("label", Type::Text);
  const Made ids{"ids", "BT", Element::Whole, Values::Symbols}, seg{"seg", "BT", Element::Whole, Values::Below, 2},
      len{"len", "B", Element::Whole, Values::PlacesAndOne};
  return {{"data task",
           "translation",
           {required(of("source", Type::Text)), required(of("target", Type::Text)), vocab, unsupported(whole("tokens"))},
           false,
           {},
           true,
           {{"src", "BS", Element::Whole, Values::Symbols},
            {"src_len", "B"},
            {"tgt", "BT", Element::Whole, Values::Symbols},
            {"tgt_len", "B"},
            {"label", "BT", Element::Whole, Values::Symbols}}},
          {"data task",
           "single",
           {file, vocab, merges, pieces, length, form, pad, label, vectors},
           false,
           {},
           true,
           {ids, seg, len, {"label", "B"}, {"score", "B", Element::Real}}},
          {"data task",
           "pairs",
           {file, vocab, merges, pieces, length, form, pad, label},
           false,
           {},
           true,
           {ids, seg, len, {"label", "B"}, {"score", "B", Element::Real}}},
          {"data task",
           "tags",
           {file, vocab, length, vectors},
           false,
           {},
           true,
           {ids, len, {"tag", "BT"}, {"weight", "BT", Element::Real}}},
          {"data task",
           "seq2seq",
           {required(of("source", Type::Text)), required(of("target", Type::Text)), vocab, starting(fraction("rate"), 0.7)},
           false,
           {},
           true,
           {ids,
            {"seg", "BT", Element::Whole, Values::Below, 6},
            {"place", "BT", Element::Whole, Values::Places},
            len,
            {"task", "B", Element::Whole, Values::Below, 4},
            {"prefix", "B", Element::Whole, Values::PlacesAndOne},
            {"at", "BK", Element::Whole, Values::Places},
            {"word", "BK", Element::Whole, Values::Symbols},
            {"weight", "BK", Element::Real}}}};
}

/// Tasks over texts and over files of the user's own.
static std::vector<Function> dataTasks() {
  using Element = Made::Element;
  using Values = Made::Values;
  const Parameter text = required(of("text", Type::Texts)), vocab = of("vocab", Type::Text),
                  unit = choice("unit", {"bytes", "characters"});
  const Parameter merges = unsupported(of("merges", Type::Text)), pieces = unsupported(of("model", Type::Text));
  const Made ids{"ids", "BT", Element::Whole, Values::Symbols}, target{"target", "BT", Element::Whole, Values::Symbols},
      at{"at", "BK", Element::Whole, Values::Places}, word{"word", "BK", Element::Whole, Values::Symbols},
      weight{"weight", "BK", Element::Real};
  const std::vector<Made> stream = {ids, target};
  Parameter words = choice("words", {"pieces", "whole", "jieba"});
  Parameter share = first(fraction("share"));
  share.lowOpen = true;
  std::vector<Function> tasks = {
      {"data task", "byte_stream", {text, vocab, unit}, false, {}, true, stream},
      {"data task", "char_stream", {text, vocab, starting(unit, 1)}, false, {}, true, stream},
      {"data task", "lm_stream", {text, vocab, merges, pieces, unit}, false, {}, true, stream},
      {"data task",
       "lm_blocks",
       {text, vocab, merges, pieces, unit},
       false,
       {},
       true,
       {ids, target, {"len", "B", Element::Whole, Values::PlacesAndOne}}},
      {"data task",
       "permutation_lm",
       {text, vocab, pieces, unit, whole("reuse", 0), starting(whole("alpha"), 6), starting(whole("beta"), 1),
        starting(whole("max_span"), 5), of("both_ways", Type::Bool)},
       false,
       {},
       true,
       {ids,
        {"seg", "BT", Element::Whole, Values::Below, 3},
        {"rank", "BT"},
        {"back", "B", Element::Truth},
        at,
        word,
        weight,
        {"label", "B", Element::Whole, Values::Below, 2}}},
      {"data task",
       "mlm_nsp",
       {text, vocab, starting(fraction("rate"), 0.15), words, starting(fraction("short"), 0.1), unit},
       false,
       {},
       true,
       {ids,
        {"seg", "BT", Element::Whole, Values::Below, 2},
        {"len", "B", Element::Whole, Values::PlacesAndOne},
        at,
        word,
        weight,
        {"follows", "B", Element::Whole, Values::Below, 2}}},
      {"data task",
       "rtd",
       {text, vocab, starting(fraction("rate"), 0.15), starting(fraction("keep"), 0.15), unit},
       false,
       {},
       true,
       {ids,
        {"masked", "BT", Element::Whole, Values::Symbols},
        {"seg", "BT", Element::Whole, Values::Below, 2},
        {"len", "B", Element::Whole, Values::PlacesAndOne},
        at,
        weight}},
      {"data task", "arrays", {of("stream", Type::Bool)}, false, {}, true, {}, call("file", "array", Type::Source)},
      {"data task", "jsonl", {text}, false, {}, true, {}, of("key", Type::Text)}};
  for (const std::vector<Function> &more : {lineTasks(), plannedTasks()})
    tasks.insert(tasks.end(), more.begin(), more.end());
  for (Function &task : tasks) {
    task.parameters.push_back(open(whole("every"))); // for `valid`: evaluate after so many steps
    task.parameters.push_back(fraction("held_out")); // the last share of the text, which training does not see
  }
  tasks.push_back({"data task", "caller", {}, false, {}});                              // batches come through the C interface
  tasks.push_back({"data task", "held_out", {share, open(whole("every"))}, false, {}}); // `valid`: a part of `data`
  tasks.push_back(
      {"array", "ragged", {first(of("values", Type::Text)), first(of("offsets", Type::Text)), whole("pad", 0)}, false, {}});
  tasks.push_back({"array", "fixed", {first(of("values", Type::Text))}, false, {}});
  return tasks;
}

static std::vector<Function> others() {
  const std::vector<std::string_view> types = {"f64", "f32", "bf16", "f16"};
  Parameter limit = starting(of("limit", Type::TextOrInt), 400);
  limit.low = 1;
  Parameter pattern = of("pattern", Type::Text);
  pattern.positional = true;
  auto lossScale = [](std::string_view name) { return real(name, 0.001, 1e12); };
  Parameter growth = real("growth", 1), backoff = fraction("backoff");
  growth.lowOpen = backoff.lowOpen = true;
  return {{"initial weights",
           "load",
           {first(of("file", Type::Text)), of("names", Type::Scheme), unsupported(of("grow", Type::Texts))},
           false,
           {}},
          {"task",
           "task",
           {required(call("data", "data task")), required(of("loss", Type::Loss)), starting(positive("share"), 1),
            open(whole("id", 0)), open(whole("batch"))},
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
          {"numerics",
           "policy",
           {starting(choice("params", types), 1), starting(choice("compute", types), 1), starting(choice("reduce", types), 1),
            call("scale", "loss scale"), of("f32", Type::Texts), of("bf16", Type::Texts), unsupported(of("f64", Type::Texts))},
           false,
           {}},
          {"loss scale", // torch.amp.GradScaler
           "dynamic",
           {starting(lossScale("initial"), 65536), starting(whole("every"), 2000), starting(growth, 2), starting(backoff, 0.5)},
           false,
           {}},
          {"loss scale", "fixed", {first(lossScale("scale"))}, false, {}},
          {"checkpoint rule",
           "every",
           {positional(starting(whole("steps"), 1000)), starting(whole("keep"), 3), of("best", Type::Measure),
            of("lowest", Type::Bool)},
           false,
           {}},
          {"stopping rule", "patience", {first(whole("evaluations"))}, false, {}},
          {"average", "ema", {first(fraction("decay")), of("ramp", Type::Bool)}, false, {}},
          {"average", "last", {first(whole("count", 1, 1000))}, false, {}},
          {"method", "greedy", {limit}, false, {}},
          {"method",
           "sample",
           {starting(positive("temperature"), 1),
            whole("top_k", 0),
            {"top_p", Type::Real, false, false, 0, 1, true, false, {}, false, true, 1},
            limit},
           false,
           {}},
          {"method",
           "beam",
           {required(whole("size")), starting(real("alpha"), 0.6), choice("rule", {"t2t", "hf", "unilm"}), limit,
            whole("no_repeat", 0), unsupported(choice("feed", {"token", "mask"}))},
           false,
           {}}};
}

static const std::vector<Function> &functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> joined;
    for (const std::vector<Function> &part : {optimizers(), schedules(), dataTasks(), others()})
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

bool decays(std::string_view schedule) {
  const Function *function = find("schedule", schedule);
  return function && !function->oneOf.empty();
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
