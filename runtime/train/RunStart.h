// The first writes of a training: everything that can be wrong with its input has been found before.
#pragma once
#include "runtime/train/RunLock.h"
#include "runtime/train/RunState.h"
#include "runtime/train/Session.h"

namespace tenon::train {

/// Works on what the trainer owns.
struct RunStart {
  Session &session;
  const TrainOptions &options;
  const RunDirectory &run;
  RunLock &lock;
  RunState &state;
  int keep;
  uint64_t checkpointEvery;

  /// What the recipe gives in epochs, in steps. Fails where its warm-up is longer.
  Status setLength(std::vector<std::string> &notes) const;
  /// Values of the parameters where no checkpoint has been read: the initializers', or those of a file, of which `notes` say what
  /// fitted.
  Status initialize(std::vector<std::string> &notes) const;
  /// The directory and its lock; what an earlier run has there gets other names where this one does not go on from it.
  Status prepareDirectory(bool resumed, std::vector<std::string> &notes) const;

private:
  /// The run goes on from an earlier checkpoint: what came after it stays under other names, and the checkpoint is the newest of
  /// a folder of its own.
  std::string bestBefore(std::vector<std::string> &notes) const;
  Status goBack(std::vector<std::string> &notes) const;
  /// What later means over checkpoints are made of besides the one that the run goes back to.
  Status copyNeeded(const std::string &made) const;
  /// The lock of a directory that was not there when the command began.
  Status lockNew(std::vector<std::string> &notes) const;
};

} // namespace tenon::train
