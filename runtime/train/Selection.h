// Which evaluation of a run is the best, and when there has been no better one for too long.
#pragma once
#include "runtime/train/Evaluate.h"
#include "runtime/train/Recipe.h"
#include "runtime/train/RunState.h"

namespace tenon::train {

/// The number that evaluations are compared by.
struct Measure {
  std::string name;
  bool lowest = true; // is the best; else the highest
};

/// Counts the evaluation of `step`, whose first loss is `value`, once; true if the rate is lowered now. Better is what is below
/// the best by a ten thousandth of it (PyTorch, ReduceLROnPlateau, threshold 1e-4, relative).
bool waitForBetter(double value, int64_t patience, uint64_t step, Plateau &plateau);
/// Whether a run evaluates at this step however it is cut into commands. The others, at the end of a command, count neither for
/// `stop = patience(..)` nor for `schedule = plateau`.
bool isScheduled(uint64_t step, int64_t validEvery);
/// Whether an interruption has cut off the evaluation of `state.step`, which a run without it would have counted.
bool missesEvaluation(const RunState &state, int64_t validEvery);

/// The recipe's `best`, for `stop` alone the first loss; nullopt where it asks for neither. Fails where nothing evaluates:
/// without held-out data or the entry `eval` (of several tasks: one for each), and for `stop` without evaluations during the
/// training; for `schedule = plateau` likewise.
Expected<std::optional<Measure>> measureOf(const Recipe &recipe, const std::vector<const runtime::EntryInfo *> &evaluations);

/// Takes the evaluation of `step` into `best`, once; true if it is better than all before. The first of equal ones is the best,
/// and what is not finite never is: until one is, the value of `best` is NaN. Patience compares those that `counts` is said of
/// (isScheduled), and only with each other. Another measure than that of `best` begins anew.
bool updateBest(const Measure &measure, double value, uint64_t step, bool counts, std::optional<BestEvaluation> &best);

} // namespace tenon::train
