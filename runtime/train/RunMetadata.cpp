#include "runtime/train/RunMetadata.h"
#include "runtime/base/Json.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tenon::train {

using runtime::Context;
using runtime::inputError;
using runtime::JsonValue;
using runtime::Parameters;
using runtime::Status;

std::string textOf(const JsonValue &object, const char *key) {
  const JsonValue *value = object.find(key);
  return value && value->isString() ? value->text : std::string();
}

/// JSON has no NaN: null stands for no finite value yet.
static std::string textOf(const BestEvaluation &best) {
  auto number = [](double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    return std::isfinite(value) ? std::string(text) : std::string("null");
  };
  return runtime::concat(", \"best\": {\"measure\": ", runtime::quoteJson(best.measure), ", \"value\": ", number(best.value),
                         ", \"step\": ", best.step, ", \"last\": ", best.last,
                         ", \"awaited\": ", number(best.awaited.value_or(std::nan(""))), ", \"awaited_step\": ", best.awaitedStep,
                         ", \"since\": ", best.since, "}");
}

std::map<std::string, int64_t> sizesOf(const Context &context) {
  const std::vector<std::string> &dims = context.parameters()->manifest().dims;
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < context.inputs().size(); ++i)
    for (size_t axis = 0; axis < context.inputs()[i].shape.size(); ++axis)
      if (const std::string &name = context.entry().inputs[i].axes[axis]; std::find(dims.begin(), dims.end(), name) != dims.end())
        sizes[name] = context.inputs()[i].shape[axis];
  return sizes;
}

std::string metadataText(const RunState &state, const Context &context, const std::optional<TnLossScale> &lossScale) {
  char seconds[40];
  snprintf(seconds, sizeof seconds, "%.3f", state.seconds);
  const runtime::Manifest &manifest = context.parameters()->manifest();
  std::string dims;
  for (size_t i = 0; i < context.dims().size(); ++i)
    dims += runtime::concat(i ? ", " : "", runtime::quoteJson(context.entry().dims[i].name), ": ", context.dims()[i]);
  std::string sizes;
  for (const auto &[name, size] : sizesOf(context))
    sizes += runtime::concat(sizes.empty() ? "" : ", ", runtime::quoteJson(name), ": ", size);
  const std::string bestText = state.best ? textOf(*state.best) : std::string();
  char scale[96] = "";
  if (lossScale) // %.9g tells all numbers of f32 apart
    snprintf(scale, sizeof scale, ", \"loss_scale\": {\"scale\": %.9g, \"good\": %lld}", static_cast<double>(lossScale->scale),
             static_cast<long long>(lossScale->good));
  char lowest[40] = "null";
  if (state.plateau && state.plateau->best)
    snprintf(lowest, sizeof lowest, "%.17g", *state.plateau->best);
  const std::string plateau =
      state.plateau ? runtime::concat(", \"plateau\": {\"best\": ", lowest, ", \"waits\": ", state.plateau->waits,
                                      ", \"lowered\": ", state.plateau->lowered, ", \"last\": ", state.plateau->last, "}")
                    : std::string();
  // The seed is text: JSON integers of other readers end at 2^53 or 2^63.
  return runtime::concat(
      "{\"position\": ", state.position, ", \"seed\": \"", state.seed, "\", \"skipped\": ", state.skipped,
      ", \"seconds\": ", seconds, scale, plateau, bestText,
      ", \"signature\": ", runtime::quoteJson(context.parameters()->signature()),
      ", \"optimizer\": ", runtime::quoteJson(manifest.optimizer), ", \"spec\": ", runtime::quoteJson(manifest.specHash),
      ", \"recipe\": ", runtime::quoteJson(textOf(manifest.recipe, "sha256")),
      ", \"losses\": ", runtime::quoteJson(textOf(manifest.recipe, "losses_sha256")),
      ", \"build\": ", runtime::quoteJson(manifest.buildId), ", \"dims\": {", dims, "}, \"sizes\": {", sizes, "}}");
}

Status readBest(const runtime::LoadedCheckpoint &checkpoint, std::optional<BestEvaluation> &result) {
  const JsonValue *best = checkpoint.metadata.find("best");
  if (!best)
    return {};
  const JsonValue *value = best->find("value"), *step = best->find("step"), *since = best->find("since");
  if (!value || !(value->isNumber() || value->isNull()) || !step || !step->isInteger() || !since || !since->isInteger() ||
      textOf(*best, "measure").empty())
    return inputError(checkpoint.path, " does not say what its best evaluation is");
  auto stepOr = [&](const char *key) { // absent in older checkpoints
    const JsonValue *found = best->find(key);
    return static_cast<uint64_t>(found && found->isInteger() ? found->integer : step->integer);
  };
  const JsonValue *awaited = best->find("awaited");
  awaited = awaited ? awaited : value;
  result = BestEvaluation{textOf(*best, "measure"),
                          value->isNull() ? std::nan("") : value->real,
                          static_cast<uint64_t>(step->integer),
                          stepOr("last"),
                          awaited->isNumber() ? std::optional(awaited->real) : std::nullopt,
                          stepOr("awaited_step"),
                          static_cast<uint64_t>(since->integer)};
  return {};
}

Status readPlateau(const runtime::LoadedCheckpoint &checkpoint, std::optional<Plateau> &result) {
  const JsonValue *saved = checkpoint.metadata.find("plateau");
  if (!saved)
    return {};
  const JsonValue *best = saved->find("best"), *waits = saved->find("waits"), *lowered = saved->find("lowered");
  if (!best || !(best->isNumber() || best->isNull()) || !waits || !waits->isInteger() || waits->integer < 0 || !lowered ||
      !lowered->isInteger() || lowered->integer < 0)
    return inputError(checkpoint.path, " does not say how often its learning rate was lowered");
  const JsonValue *last = saved->find("last"); // absent in older checkpoints, which were not asked about it
  result = Plateau{best->isNull() ? std::nullopt : std::optional(best->real), static_cast<uint64_t>(waits->integer),
                   static_cast<uint64_t>(lowered->integer),
                   last && last->isInteger() ? static_cast<uint64_t>(last->integer) : checkpoint.step};
  return {};
}

Status readLossScale(const runtime::LoadedCheckpoint &checkpoint, Parameters &parameters) {
  const auto now = parameters.lossScale();
  if (!now.ok() || !*now)
    return now.status();
  const runtime::LossScaleInfo &recipe = *parameters.manifest().lossScale;
  const JsonValue *saved = checkpoint.metadata.find("loss_scale");
  if (!saved || recipe.isFixed())
    return parameters.setLossScale(recipe.initial, 0);
  const JsonValue *scale = saved->find("scale"), *good = saved->find("good");
  if (!scale || !scale->isNumber() || !(scale->real > 0 && std::isfinite(static_cast<float>(scale->real))) || !good ||
      !good->isInteger() || good->integer < 0)
    return inputError(checkpoint.path, " does not say what its loss scale is");
  return parameters.setLossScale(scale->real, good->integer);
}

} // namespace tenon::train
