#include "frontend/sema/RecipeSchema.h"

namespace tenon::schema {

static Parameter required(Parameter parameter) {
  parameter.required = true;
  return parameter;
}
static Parameter first(Parameter parameter) { // positional and required
  parameter.required = parameter.positional = true;
  return parameter;
}
static Parameter whole(std::string_view name, double low = 1, double high = kInfinity) {
  return {name, Type::Int, false, false, low, high, false, false, {}, false};
}
static Parameter real(std::string_view name, double low = 0, double high = kInfinity) {
  return {name, Type::Real, false, false, low, high, false, false, {}, false};
}
static Parameter positive(std::string_view name) { return {name, Type::Real, false, false, 0, kInfinity, true, false, {}, false}; }
static Parameter probability(std::string_view name) { return real(name, 0, 1); }
static Parameter of(std::string_view name, Type type) { return {name, type, false, false, -kInfinity, kInfinity, false, false, {}, false}; }
static Parameter choice(std::string_view name, std::vector<std::string_view> words) {
  Parameter parameter = of(name, Type::Choice);
  parameter.choices = std::move(words);
  return parameter;
}
static Parameter call(std::string_view name, std::string_view family, Type type = Type::Call) {
  Parameter parameter = of(name, type);
  parameter.choices = {family};
  return parameter;
}
static Parameter perDepth(Parameter parameter) {
  parameter.usesDepth = true;
  return parameter;
}

const std::vector<Parameter> &settings(bool train) {
  static const std::vector<Parameter> forTraining = {
      call("data", "data task"), call("valid", "data task"), call("init", "initial weights"), of("loss", Type::Loss),
      call("tasks", "task", Type::Calls), choice("mix", {"by share", "shuffled batches", "round robin"}), of("freeze", Type::Texts),
      call("groups", "parameter group", Type::Calls), call("optimizer", "optimizer"), call("schedule", "schedule"), call("clip", "clipping"),
      whole("accumulate"), call("numerics", "numerics"), whole("steps"), positive("epochs"), call("checkpoint", "checkpoint rule"), call("stop", "stopping rule"),
      call("average", "average"), whole("seed", 0)};
  static const std::vector<Parameter> forGeneration = {
      required(of("entry", Type::Entry)), required(call("method", "method")), of("start", Type::TextOrInt), of("stop", Type::TextOrInt),
      whole("seed", 0)};
  return train ? forTraining : forGeneration;
}

/// reference/training.md section 1.
static std::vector<Function> optimizers() {
  const Parameter rate = required(positive("lr")), betas = of("betas", Type::Betas), eps = positive("eps"), decay = real("decay");
  const std::vector<Parameter> adam = {rate, betas, eps, decay};
  std::vector<Parameter> clipped = adam, lamb = adam;
  clipped.push_back(positive("clip_each"));
  lamb.push_back(choice("form", {"v3", "pytorch", "albert", "nvidia_tf", "nvlamb", "huawei"}));
  return {{"optimizer", "sgd", {rate, {"momentum", Type::Real, false, false, 0, 1, false, true, {}, false}, probability("dampening"),
                                of("nesterov", Type::Bool), decay}, false, {}},
          {"optimizer", "adam", adam, false, {}},
          {"optimizer", "adam_tf", adam, false, {}},
          {"optimizer", "adamw", adam, false, {}},
          {"optimizer", "bert_adam", clipped, false, {}},
          {"optimizer", "gpt1_adam", {rate, betas, eps, real("l2")}, false, {}},
          {"optimizer", "adamax", adam, false, {}},
          {"optimizer", "adamaxw", adam, false, {}},
          {"optimizer", "adam_paddle", adam, false, {}},
          {"optimizer", "lamb", lamb, false, {}}};
}

/// reference/training.md section 2. `warmup` is a number of steps or a fraction of the run; a decay needs its length.
static std::vector<Function> schedules() {
  const Parameter warmup = of("warmup", Type::Share), total = whole("total"), epochs = positive("epochs"), floor = probability("floor");
  auto decaying = [&](std::string_view name, bool hasFloor) {
    Function function{"schedule", name, {warmup, total, epochs}, false, {"total", "epochs"}};
    if (hasFloor)
      function.parameters.push_back(floor);
    return function;
  };
  return {{"schedule", "constant", {warmup}, false, {}},
          decaying("linear", true),
          decaying("cosine", true),
          {"schedule", "noam", {required(whole("size")), required(whole("warmup")), positive("factor")}, false, {}},
          {"schedule", "paddle_noam", {required(whole("warmup"))}, false, {}},
          {"schedule", "inverse_sqrt", {required(whole("warmup"))}, false, {}},
          decaying("bert_linear", false),
          decaying("electra_linear", false),
          decaying("nezha_linear", false),
          decaying("bertadam_linear", false),
          decaying("gpt1_linear", false),
          decaying("xlnet_linear", true),
          decaying("txl_cosine", true),
          {"schedule", "steps", {required(whole("every")), required(positive("factor")), total, epochs}, false, {}}};
}

static std::vector<Function> dataTasks() {
  const Parameter text = required(of("text", Type::Texts)), file = required(of("file", Type::Text)), vocab = of("vocab", Type::Text);
  const Parameter merges = of("merges", Type::Text), pieces = of("model", Type::Text), rate = probability("rate"), every = whole("every");
  const Parameter length = whole("length"), form = of("form", Type::Text), pad = choice("pad", {"left", "right"}), vectors = of("vectors", Type::Text);
  const Parameter source = required(of("source", Type::Text)), target = required(of("target", Type::Text)), tokens = whole("tokens");
  const Parameter unit = choice("unit", {"bytes", "characters"});
  std::vector<Function> tasks = {
      {"data task", "held_out", {required(first(probability("share")))}, false, {}}, // `valid`: the last part of the text
      {"data task", "byte_stream", {text, vocab, unit}, false, {}},
      {"data task", "char_stream", {text, vocab, unit}, false, {}},
      {"data task", "lm_stream", {text, vocab, merges, pieces, unit}, false, {}},
      {"data task", "lm_blocks", {text, vocab, merges, pieces, unit}, false, {}},
      {"data task", "permutation_lm",
       {text, vocab, pieces, unit, whole("reuse", 0), whole("alpha"), whole("beta"), whole("max_span"), of("both_ways", Type::Bool)}, false, {}},
      {"data task", "mlm_nsp",
       {text, vocab, rate, choice("words", {"pieces", "whole", "jieba"}), probability("short"), unit}, false, {}},
      {"data task", "mlm_blocks", {text, vocab, merges, rate, choice("mask", {"static", "dynamic"})}, false, {}},
      {"data task", "rtd", {text, vocab, rate, probability("keep")}, false, {}},
      {"data task", "pairs", {file, vocab, merges, pieces, length, form, pad}, false, {}},
      {"data task", "single", {file, vocab, merges, pieces, length, form, pad, vectors}, false, {}},
      {"data task", "groups", {file, vocab, length, required(whole("size", 2))}, false, {}},
      {"data task", "squad", {file, vocab, length, whole("stride"), whole("question")}, false, {}},
      {"data task", "tags", {file, vocab, vectors}, false, {}},
      {"data task", "ernie_masks", {text, vocab, tokens, of("stages", Type::Texts)}, false, {}},
      {"data task", "dialogues", {text, vocab, tokens, of("forms", Type::Texts), probability("fake")}, false, {}},
      {"data task", "reorder", {text, vocab, whole("most", 2)}, false, {}},
      {"data task", "distances", {text, vocab}, false, {}},
      {"data task", "relations", {file, vocab}, false, {}},
      {"data task", "relevance", {file, vocab}, false, {}},
      {"data task", "translation", {source, target, vocab, tokens}, false, {}},
      {"data task", "seq2seq", {source, target, vocab, rate}, false, {}},
      {"data task", "unilm", {text, vocab, of("shares", Type::Reals), rate, probability("ngram")}, false, {}},
      {"data task", "images", {required(of("folder", Type::Text)), of("crop", Type::Text), of("flip", Type::Bool), of("norm", Type::Text)}, false, {}}};
  for (Function &task : tasks) {
    task.parameters.push_back(every);                   // for `valid`: evaluate after so many steps
    task.parameters.push_back({"held_out", Type::Real, false, false, 0, 1, false, true, {}, false}); // the last share of the text, which training does not see
  }
  return tasks;
}

static std::vector<Function> others() {
  const std::vector<std::string_view> types = {"f64", "f32", "bf16", "f16"};
  Parameter limit = of("limit", Type::TextOrInt);
  limit.low = 1;
  Parameter pattern = of("pattern", Type::Text);
  pattern.positional = true;
  return {
      {"initial weights", "load", {first(of("file", Type::Text)), of("names", Type::Scheme), of("grow", Type::Texts)}, false, {}},
      {"task", "task",
       {required(call("data", "data task")), required(of("loss", Type::Loss)), positive("share"), whole("id", 0), whole("batch")}, false, {}},
      {"parameter group", "group",
       {pattern, perDepth(real("lr")), perDepth(real("gradient")), perDepth(real("decay")), perDepth(positive("clip"))}, true,
       {"lr", "gradient", "decay", "clip"}},
      {"clipping", "global_norm", {first(positive("norm"))}, false, {}},
      {"numerics", "policy",
       {choice("params", types), choice("compute", types), choice("reduce", types), call("scale", "loss scale"), of("f32", Type::Texts),
        of("f64", Type::Texts), of("bf16", Type::Texts)}, false, {}},
      {"loss scale", "dynamic", {positive("initial"), whole("every"), positive("growth"), positive("backoff")}, false, {}},
      {"loss scale", "fixed", {first(positive("scale"))}, false, {}},
      {"checkpoint rule", "every", {first(whole("steps")), whole("keep"), of("best", Type::Measure), of("lowest", Type::Bool)}, false, {}},
      {"stopping rule", "patience", {first(whole("evaluations"))}, false, {}},
      {"average", "last", {first(whole("count"))}, false, {}},
      {"method", "greedy", {limit}, false, {}},
      {"method", "sample", {{"temperature", Type::Real, false, false, 0, kInfinity, true, false, {}, false}, whole("top_k", 0),
                            {"top_p", Type::Real, false, false, 0, 1, true, false, {}, false}, limit}, false, {}},
      {"method", "beam", {required(whole("size")), real("alpha"), choice("rule", {"t2t", "hf", "unilm"}), limit, whole("no_repeat"),
                          choice("feed", {"token", "mask"})}, false, {}}};
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

const std::vector<std::string_view> &inputsOf(std::string_view task) {
  static const std::vector<std::string_view> stream = {"ids", "target"}, blocks = {"ids", "target", "len"}, none,
                                             permuted = {"ids", "seg", "rank", "back", "at", "word", "weight"},
                                             pairs = {"ids", "seg", "len", "at", "word", "weight", "follows"};
  if (task == "byte_stream" || task == "char_stream" || task == "lm_stream")
    return stream;
  if (task == "lm_blocks")
    return blocks;
  if (task == "permutation_lm")
    return permuted;
  return task == "mlm_nsp" ? pairs : none;
}

} // namespace tenon::schema
