// What a run is besides its buffers, and how it gets into a checkpoint and back.
#pragma once
#include "runtime/context/Context.h"
#include "runtime/files/Checkpoint.h"
#include <set>

namespace tenon::train {

class AveragedWeights;

/// The best evaluation so far.
struct BestEvaluation {
  std::string measure; // the loss or metric
  double value = 0;
  uint64_t step = 0;
  uint64_t last = 0; // step of the newest evaluation that was compared; each step is once
  // What `stop = patience(..)` waits for knows only the evaluations that a run has however it is cut into commands.
  std::optional<double> awaited; // the best of them; absent: none was finite yet
  uint64_t awaitedStep = 0;
  uint64_t since = 0; // of them, behind it
  bool operator==(const BestEvaluation &) const = default;
};

/// What a schedule that waits for better evaluations has seen.
struct Plateau {
  std::optional<double> best; // of the first loss
  uint64_t waits = 0;         // evaluations since then, or since the rate was lowered
  uint64_t lowered = 0;       // how often it was
  uint64_t last = 0;          // step of the newest evaluation that was counted; each step counts once
};

/// Saved in the checkpoint's metadata.
struct RunState {
  uint64_t step = 0;     // optimizer steps done
  uint64_t position = 0; // index of the next batch; steps that were skipped for a loss that is not finite move it too
  uint64_t seed = 0;
  uint64_t skipped = 0;                              // in all
  double seconds = 0;                                // training time in all sessions
  std::optional<BestEvaluation> best = std::nullopt; // where the recipe asks for one
  std::optional<Plateau> plateau = std::nullopt;     // likewise
};

/// What a checkpoint holds besides parameters, moments and the states of one context.
struct RunParts {
  AveragedWeights *means = nullptr;            // of the parameters, where the recipe asks for them
  std::vector<runtime::Context *> others = {}; // of further tasks
  std::set<uint64_t> needed = {};              // checkpoints of these steps stay, whatever a save keeps
};

/// Writes DIRECTORY/step-N: parameters, moments, the states of `context`, `state` and `parts`. Keeps the newest `keep`.
runtime::Status saveRun(const std::string &directory, const RunState &state, const runtime::Context &context, int keep,
                        const RunParts &parts = {});

/// Reads a checkpoint into the parameters and states of `context`. `which`: "" the newest valid one, where `found` is false if
/// there is none; "best", or the number of a step, where that is an error. Refuses a checkpoint whose parameters, states or
/// losses differ from the artifact's, or that was made with another optimizer. The best evaluation is the one that the best
/// checkpoint has, where the one that is read does not know of it. `notes`: sentences about skipped checkpoints, and about
/// another recipe or specification. Means are the checkpoint's, else its parameters.
runtime::Status loadRun(const std::string &directory, const std::string &which, RunState &state, runtime::Context &context,
                        bool &found, std::vector<std::string> &notes, const RunParts &parts = {});

/// DIRECTORY of the checkpoints of a run: the one of its best evaluation is kept in a folder of its own, which pruning leaves
/// alone.
std::string bestDirectory(const std::string &directory);
/// The same for the best one, which takes the place of the one before it.
runtime::Status saveBest(const std::string &directory, const RunState &state, const runtime::Context &context,
                         const RunParts &parts = {});

/// Reads only the parameters (and model states), for eval, run and generate: their means where the checkpoint has them. `which`:
/// "" the newest valid checkpoint, "best", or the number of a step.
runtime::Status loadWeights(const std::string &directory, const std::string &which, runtime::Parameters &parameters,
                            uint64_t &step, std::vector<std::string> &notes);

} // namespace tenon::train
