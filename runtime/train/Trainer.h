// The training loop: batches in, one compiled step after the other, metrics, evaluation and checkpoints out.
#pragma once
#include "runtime/train/Recipe.h"
#include <functional>
#include <map>
#include <memory>

namespace tenon::runtime {
class Artifact;
}

namespace tenon::train {

struct TrainOptions {
  std::string runDirectory; // created; gets checkpoints/, metrics.jsonl, vocabulary.json, run.json
  std::string entry;        // of kind train; empty: the first one
  std::string
      from; // go on from this checkpoint of the run, "best" or the number of a step; later ones are renamed; empty: the newest
  bool fresh = false;            // start anew even where there is a checkpoint; what is there is renamed, not deleted
  std::optional<uint64_t> steps; // instead of the recipe's
  double seconds = 0;            // stop and save after this time; 0: no limit
  int threads = 0;               // 0: all CPUs
  std::optional<uint64_t> seed;
  std::optional<int64_t> checkpointEvery, keep;
  std::map<std::string, int64_t> bind; // dims that the recipe left open
  DataOverrides data;
  std::string weights, scheme; // start from a weights file; scheme: whose names it has, empty: Tenon's
  bool tensorBoard = false;    // event files beside metrics.jsonl
  bool partial = false;        // of that file only what fits: what it lacks or has in another shape stays initial and is listed
  bool quiet = false;
  std::function<Status()> prepare; // called before the first write, when all is known to fit: copies the model, for instance
};

/// Trains until the steps are done, the time is over or a signal asks to stop. In a run directory with a valid checkpoint it goes
/// on from there, with the same bits as if it had never stopped. Errors: Input (text, recipe, checkpoint of another model),
/// Resource (memory, disk), Numeric (10 steps without a finite loss), Resumable (stopped by a signal after saving).
Status trainModel(const std::shared_ptr<const runtime::Artifact> &artifact, const TrainOptions &options);

} // namespace tenon::train
