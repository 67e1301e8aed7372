// What a training run says of itself before its first step and after its last, of evaluations and of steps that were skipped.
#pragma once
#include "runtime/train/Evaluate.h"
#include "runtime/train/Metrics.h"
#include "runtime/train/Session.h"
#include <optional>

namespace tenon::train {

struct StartPoint {
  uint64_t steps = 0; // to be done in all; 0: no limit
  uint64_t symbolsPerStep = 0, seed = 0, checkpointEvery = 0;
  int keep = 0;
};
/// Three lines: model and parameters; tier, threads and memory; where checkpoints go.
std::string startText(const Session &session, const RunDirectory &run, const StartPoint &point);
/// Of a run that is there already: where it goes on, or that nothing is left of `steps` (0: no limit) to train.
std::string resumedText(uint64_t step, uint64_t steps, bool stoppedEarly);

/// What an evaluation found.
struct HeldOut {
  std::vector<std::pair<std::string, double>> numbers; // losses, then metrics; not empty
  uint64_t step = 0;
};
HeldOut heldOut(const Evaluation &result, uint64_t step);
struct EndPoint {
  uint64_t step = 0, stepsNow = 0; // in all, and by this command
  uint64_t skippedNow = 0;
  double seconds = 0, secondsNow = 0, tokensPerSecond = 0, loss = 0;
  std::optional<double> bits;          // per character
  std::optional<HeldOut> last, lowest; // of this command; lowest by the first loss
  std::string checkpoint;              // the newest
  std::optional<BestEvaluation> best;  // of the run, where its checkpoint is kept apart
  std::string bestCheckpoint;
  std::optional<double> lossScale; // of the next step
};
/// "trained 500 steps in 1:23, ..": what a reader wants to find at the end of a long output.
std::string endText(const EndPoint &point);

/// "step 500  held out: nll 1.4523 (2.095 bits/char)", and the line of the metrics.
std::string heldOutText(const Evaluation &result, uint64_t step);
MetricsLine heldOutLine(const Evaluation &result, uint64_t step);

/// Why an update was skipped. `tooLarge`: the loss scale with which only the gradients were not finite; `next`: the one after it.
std::string skippedText(const runtime::Manifest &manifest, const std::optional<double> &tooLarge,
                        const std::optional<double> &next);

/// "step 40: acc has not been better than at step 25 for 3 evaluations (stop = patience(3))": why a run has ended early.
std::string earlyText(const BestEvaluation &best, uint64_t step, int64_t patience);

} // namespace tenon::train
