// A run directory: model/ (the artifact), checkpoints/, metrics.jsonl, vocabulary.json, run.json (what the command line said
// about data, and what its files were), lock (see RunLock.h).
#pragma once
#include "runtime/data/Fingerprint.h"
#include "runtime/train/Recipe.h"
#include <map>

namespace tenon::train {

struct RunDirectory {
  std::string path;
  std::string model() const { return path + "/model"; }
  std::string checkpoints() const { return path + "/checkpoints"; }
  std::string metrics() const { return path + "/metrics.jsonl"; }
  std::string vocabularyFile() const { return path + "/vocabulary.json"; }
  std::string settingsFile() const { return path + "/run.json"; }
};

/// What a later command needs to find the same data: overrides with absolute paths, and dims bound by hand.
struct RunSettings {
  DataOverrides data;
  std::map<std::string, int64_t> bind;
  std::optional<uint64_t> seed;
  std::vector<data::FileFingerprint> files; // of data and valid, as the run saw them last
};

/// Reads run.json; a missing file gives empty settings. Any text of a path comes back, UTF-8 or not. An error names the key.
Expected<RunSettings> readRunSettings(const RunDirectory &run);
Status writeRunSettings(const RunDirectory &run, const RunSettings &settings);
/// `given` where it says something, `saved` elsewhere; paths of `given` become absolute.
RunSettings mergeSettings(const RunSettings &saved, RunSettings given);

/// vocabulary.json, or where that is gone what the newest checkpoint notes of it; nullopt where there is neither. An error where
/// the note is no more than a hash.
Expected<std::optional<data::Vocabulary>> readVocabulary(const RunDirectory &run);

/// The fingerprints of what `recipe` reads, for training and for evaluation.
Expected<std::vector<data::FileFingerprint>> fingerprintsOf(const Recipe &recipe);

/// Renames what is at `path`, if anything, to the first free name with a number, and says so in `notes`.
Status setAside(const std::string &path, std::vector<std::string> &notes);
/// Puts what is at `made` in the place of what is at `path`, which gets such a name: in one step where the file system can.
Status takePlace(const std::string &made, const std::string &path, std::vector<std::string> &notes);
/// Gives a file such a name besides its own.
Status keepCopy(const std::string &path, std::vector<std::string> &notes);

} // namespace tenon::train
