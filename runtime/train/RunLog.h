// What a training tells while it runs: lines of metrics.jsonl, the same for TensorBoard, messages and the line of progress.
#pragma once
#include "runtime/train/Metrics.h"
#include "runtime/train/Progress.h"
#include "runtime/train/TensorBoard.h"

namespace tenon::train {

class RunLog {
public:
  /// `quiet`: as of Progress.
  explicit RunLog(bool quiet) : progress(quiet) {}

  /// As MetricsFile::open and EventFile::open; without the latter there are no events.
  runtime::Status openMetrics(const std::string &path, uint64_t lastStep, std::vector<std::string> &notes) {
    return metrics.open(path, lastStep, notes);
  }
  runtime::Status openEvents(const std::string &directory) { return events.open(directory); }

  /// A full disk must not end the training: the metrics stop, with one warning.
  void record(const MetricsLine &line, uint64_t step);
  void message(const std::string &text) { progress.message(text); }
  void update(const ProgressPoint &point, bool force) { progress.update(point, force); }

private:
  runtime::Status recordEvent(const MetricsLine &line, uint64_t step);
  Progress progress;
  MetricsFile metrics;
  EventFile events;
  bool metricsFailed = false;
};

} // namespace tenon::train
