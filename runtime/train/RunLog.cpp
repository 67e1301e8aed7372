#include "runtime/train/RunLog.h"

namespace tenon::train {

using runtime::Status;

void RunLog::record(const MetricsLine &line, uint64_t step) {
  Status status = metrics.write(line);
  if (status.ok() && events.isOpen())
    status = recordEvent(line, step);
  if (status.failed() && !metricsFailed)
    progress.message("warning: " + status.message());
  metricsFailed = status.failed();
}

/// The numbers of a line but its step: those of evaluations in a group of their own.
Status RunLog::recordEvent(const MetricsLine &line, uint64_t step) {
  std::vector<std::pair<std::string, double>> values;
  for (const auto &[name, value] : line.values())
    if (name != "step")
      values.emplace_back(name.starts_with("valid_") ? "valid/" + name.substr(6) : "train/" + name, value);
  return events.write(step, values);
}

} // namespace tenon::train
