#include "runtime/train/Validation.h"
#include "runtime/train/Stop.h"
#include <algorithm>
#include <cstdio>

namespace tenon::train {

using runtime::concat;

static std::string rounded(double value, int digits) {
  char buffer[64];
  snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

bool evaluates(const Session &session) {
  const std::vector<const SessionTask *> tasks = session.tasks();
  return std::any_of(tasks.begin(), tasks.end(), [](const SessionTask *task) { return task->valid != nullptr; });
}

Expected<std::vector<TaskEvaluation>> evaluateTasks(Session &session) {
  std::vector<TaskEvaluation> results;
  for (SessionTask *task : session.tasks()) {
    if (!task->valid || StopSignals::requested())
      continue;
    auto result = evaluate(*task->valid, *task->validFeeder, 0, StopSignals::requested);
    if (!result.ok())
      return result.status();
    results.push_back({task->name, result.take()});
  }
  return nameNumbers(std::move(results));
}

HeldOutReport reportHeldOut(const std::vector<TaskEvaluation> &results, MetricsLine &line) {
  HeldOutReport report;
  double seconds = 0;
  for (const TaskEvaluation &each : results) {
    const Evaluation &result = each.evaluation;
    for (size_t i = 0; i < result.numbers.size(); ++i) {
      const Evaluation::Number &number = result.numbers[i];
      line.add("valid_" + number.name, number.value);
      report.text += concat(" ", number.name, " ", rounded(number.value, 4));
      report.numbers.emplace_back(number.name, number.value);
      if (static_cast<int>(i) != result.entropy)
        continue;
      line.add(concat("valid_", each.prefix, "bits_per_char"), result.bitsPerCharacter());
      report.text += concat(" (", rounded(result.bitsPerCharacter(), 3), " bits/char)");
    }
    if (auto perplexity = result.perplexity())
      line.add(concat("valid_", each.prefix, "perplexity"), *perplexity);
    seconds += result.seconds;
  }
  line.add("valid_seconds", seconds);
  return report;
}

} // namespace tenon::train
