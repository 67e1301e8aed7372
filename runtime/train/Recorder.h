// Where the lines of a run's metrics go: metrics.jsonl, and event files where they are asked for.
#pragma once
#include "runtime/train/Metrics.h"
#include "runtime/train/RunDirectory.h"
#include "runtime/train/TensorBoard.h"

namespace tenon::train {

class Recorder {
public:
  /// As MetricsFile::open.
  Status open(const RunDirectory &run, uint64_t lastStep, std::vector<std::string> &notes) {
    return metrics.open(run.metrics(), lastStep, notes);
  }
  Status openEvents(const RunDirectory &run) { return events.open(run.path); }
  /// A full disk must not end the training: the metrics stop, with one warning, which is returned; else nothing.
  std::string record(const MetricsLine &line, uint64_t step);

private:
  Status recordEvent(const MetricsLine &line, uint64_t step);
  MetricsFile metrics;
  EventFile events;
  bool failed = false;
};

} // namespace tenon::train
