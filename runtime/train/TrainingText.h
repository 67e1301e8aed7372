// What a training run says of itself before its first step and after its last.
#pragma once
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

/// "3 epochs of 12 batches are 36 steps".
std::string epochsText(const Session &session, double epochs);

/// What is left of a run that has `step` steps, of `total` (0: no limit).
std::string resumedText(uint64_t step, uint64_t total, bool stoppedEarly);

/// Why an update was skipped: the loss or its gradient, or with `usedScale` the gradients of the loss times that alone.
std::string skippedText(const std::optional<double> &usedScale, const std::optional<double> &nextScale,
                        const runtime::Manifest &manifest);
/// Why a run ends after so many of these in a row.
std::string hopelessText(uint64_t step, int skips, bool isFixedScale);
/// Seconds until the last of `total` steps (0: no limit) or the end of the `limit` (0: none); -1 where there is neither.
double secondsLeft(uint64_t total, uint64_t step, double stepsPerSecond, double limit, double elapsed);
/// "step 40: nll is no better than before; ..".
std::string plateauText(const std::string &loss, uint64_t step, uint64_t lowered);

/// What an evaluation found.
struct HeldOut {
  std::vector<std::pair<std::string, double>> numbers; // losses, then metrics; not empty
  uint64_t step = 0;
};
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

/// "step 40: acc has not been better than at step 25 for 3 evaluations (stop = patience(3))": why a run has ended early.
std::string earlyText(const BestEvaluation &best, uint64_t step, int64_t patience);

} // namespace tenon::train
