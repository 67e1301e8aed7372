// What a step says: a line of the metrics, and the numbers that a person follows, smoothed.
#pragma once
#include "runtime/train/Progress.h"
#include "runtime/train/Recorder.h"
#include "runtime/train/Session.h"

namespace tenon::train {

struct StepPoint {
  const SessionTask &task;
  const std::vector<double> &values; // outputs of its entry, the loss first
  std::optional<double> lossScale;   // that the step used
  double seconds, tokens;            // of the step
  uint64_t total;                    // steps to be done in all; 0: no limit
  double limit, elapsed;             // seconds of this command
};

class StepReport {
public:
  /// All outlive it. `state`: that of the run, whose last step is reported.
  StepReport(const Session &session, const RunState &state, Recorder &recorder, Progress &progress)
      : session(session), state(state), recorder(recorder), progress(progress) {}
  void done(const StepPoint &point);
  /// The step behind the last one came to a loss or gradient that is not finite.
  void skipped(const StepPoint &point);
  /// A line of the metrics, of a step or of an evaluation.
  void record(const MetricsLine &line);
  double lastLoss() const { return loss; }
  std::optional<double> lastBits() const { return bits; } // per character

private:
  MetricsLine lineOf(const StepPoint &point, uint64_t step) const;
  void addOutputs(const StepPoint &point, MetricsLine &line);
  void checkRate(double rate, uint64_t total);
  void show(const StepPoint &point, double speed, uint64_t resident);

  const Session &session;
  const RunState &state;
  Recorder &recorder;
  Progress &progress;
  double loss = 0, smoothSpeed = 0, smoothLoss = 0, smoothBits = 0;
  std::optional<double> bits;
  bool rateEnded = false;
};

} // namespace tenon::train
