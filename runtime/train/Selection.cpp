#include "runtime/train/Selection.h"
#include <cmath>

namespace tenon::train {

Expected<std::optional<Measure>> measureOf(const Recipe &recipe, const std::vector<const runtime::EntryInfo *> &evaluations) {
  const bool compares = !recipe.best.empty() || recipe.patience > 0;
  if (!compares && !recipe.plateau)
    return std::optional<Measure>();
  const char *setting = !compares ? "schedule = plateau" : recipe.best.empty() ? "stop" : "best";
  if (!recipe.valid)
    return inputError("the recipe ", recipe.name, ": `", setting,
                      "` compares evaluations, and nothing is held out; pass --held-out SHARE, or say valid = ..");
  const runtime::EntryInfo *eval = evaluations.empty() ? nullptr : evaluations[0];
  for (const runtime::EntryInfo *each : evaluations) // of several tasks the first that has it; for `stop` alone the first
    if (!recipe.best.empty() && eval->outputIndex(recipe.best) < 0)
      eval = each;
  if (!eval || eval->outputs.empty())
    return inputError("the recipe ", recipe.name, ": `", setting,
                      "` compares evaluations, and the artifact was compiled without the entry eval");
  if ((recipe.patience > 0 || recipe.plateau) && recipe.validEvery == 0)
    return inputError("the recipe ", recipe.name, ": `", recipe.patience > 0 ? "stop" : "schedule = plateau",
                      "` counts evaluations, and there is one at the end only; pass --valid-every N, or say "
                      "valid = held_out(0.05, every = N)");
  if (!compares)
    return std::optional<Measure>();
  const int at = recipe.best.empty() ? 0 : eval->outputIndex(recipe.best);
  if (at < 0)
    return inputError("the recipe ", recipe.name, ": `best` compares '", recipe.best,
                      "', and nothing is held out of the data of ",
                      "the task that has it; give that task held_out = 0.05, or say another loss or metric that is evaluated");
  const runtime::TensorInfo &output = eval->outputs[static_cast<size_t>(at)];
  return std::optional<Measure>(Measure{output.name, !output.metric || recipe.lowest});
}

bool waitForBetter(double value, int64_t patience, uint64_t step, Plateau &plateau) {
  if (step <= plateau.last)
    return false;
  plateau.last = step;
  if (std::isfinite(value) && (!plateau.best || value < *plateau.best * (1 - 1e-4))) {
    plateau.best = value;
    plateau.waits = 0;
    return false;
  }
  if (++plateau.waits <= static_cast<uint64_t>(patience))
    return false;
  plateau.waits = 0;
  ++plateau.lowered;
  return true;
}

bool isScheduled(uint64_t step, int64_t validEvery) { return validEvery > 0 && step % static_cast<uint64_t>(validEvery) == 0; }

bool missesEvaluation(const RunState &state, int64_t validEvery) {
  return state.step > 0 && isScheduled(state.step, validEvery) &&
         ((state.plateau && state.plateau->last < state.step) || (state.best && state.best->last < state.step));
}

bool updateBest(const Measure &measure, double value, uint64_t step, bool counts, std::optional<BestEvaluation> &best) {
  if (best && best->measure != measure.name)
    best.reset();
  if (best && step <= best->last)
    return false;
  if (!best)
    best = BestEvaluation{measure.name, std::nan(""), step, step, std::nullopt, 0, 0};
  auto isBetterThan = [&](double other) {
    return std::isfinite(value) && (!std::isfinite(other) || (measure.lowest ? value < other : value > other));
  };
  if (counts && isBetterThan(best->awaited.value_or(std::nan("")))) {
    best->awaited = value;
    best->awaitedStep = step;
    best->since = 0;
  } else if (counts) {
    ++best->since;
  }
  const bool better = isBetterThan(best->value);
  if (better) {
    best->value = value;
    best->step = step;
  }
  best->last = step;
  return better;
}

} // namespace tenon::train
