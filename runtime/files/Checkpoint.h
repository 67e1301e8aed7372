// Checkpoints that survive a crash at any point: DIR/step-N.tmp is filled and synced, its manifest comes last, then one rename.
// Layout of DIR/step-N: the files given, and manifest.json with {"format", "step", "metadata", "files": [{"name", "bytes",
// "chunks"}]}, where `chunks` are XXH3-128 hashes of each 4 MiB.
#pragma once
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include <functional>
#include <set>

namespace tenon::runtime {

struct CheckpointFile {
  std::string name;                        // plain file name
  uint64_t bytes = 0;                      // exact size, reserved before writing
  std::function<Status(ByteSink &)> write; // must write exactly `bytes`
};
struct CheckpointContents {
  uint64_t step = 0;
  std::string metadata = "{}"; // a JSON object: seed, data position, signatures, ...
  std::vector<CheckpointFile> files;
  std::set<uint64_t> needed; // older ones that stay whatever `keep` says, and count for nothing in it
};

/// Writes DIR/step-N and then deletes the oldest valid ones beyond `keep` (at least 1) and leftovers of crashes. An error of kind
/// Resource (disk full) leaves the older checkpoints as they were: training may go on. An existing step-N is replaced.
Status saveCheckpoint(const std::string &directory, const CheckpointContents &contents, int keep);

struct LoadedCheckpoint {
  std::string path; // DIR/step-N
  uint64_t step = 0;
  JsonValue metadata;
  std::vector<std::string> files;
  std::string filePath(const std::string &name) const { return path + "/" + name; }
};
/// The newest checkpoint whose manifest, sizes and hashes verify. `skipped` gets one sentence per newer one that does not.
/// No valid checkpoint: an input error; `skipped` tells whether there were any.
Expected<LoadedCheckpoint> loadNewestCheckpoint(const std::string &directory, std::vector<std::string> &skipped);
/// The steps N of DIR/step-N, valid or not, newest first.
std::vector<uint64_t> listCheckpoints(const std::string &directory);
/// Deletes DIR/step-N with N > step.
Status removeCheckpointsAfter(const std::string &directory, uint64_t step);
/// The highest N of DIR/step-N, valid or not. A reader beside a training that loses its checkpoint finds another number here.
std::optional<uint64_t> newestCheckpointStep(const std::string &directory);
/// One given directory.
Expected<LoadedCheckpoint> loadCheckpoint(const std::string &path);

} // namespace tenon::runtime
