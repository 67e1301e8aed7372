// Evaluations during a training: of every task that holds data out.
#pragma once
#include "runtime/train/Evaluate.h"
#include "runtime/train/Metrics.h"
#include "runtime/train/Session.h"

namespace tenon::train {

/// Whether a task of the session holds data out.
bool evaluates(const Session &session);
/// In the order of the tasks; not of all where a signal has asked to stop.
Expected<std::vector<TaskEvaluation>> evaluateTasks(Session &session);

struct HeldOutReport {
  std::string text; // " nll 1.2345 (1.781 bits/char)"
  std::vector<std::pair<std::string, double>> numbers;
};
/// The numbers of an evaluation, also as valid_NAME in a line of the metrics.
HeldOutReport reportHeldOut(const std::vector<TaskEvaluation> &results, MetricsLine &line);

} // namespace tenon::train
