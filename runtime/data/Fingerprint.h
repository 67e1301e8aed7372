// What the files of a data task were when a run read them, so that a later command can say that they have changed.
#pragma once
#include "runtime/data/Task.h"

namespace tenon::data {

struct FileFingerprint {
  std::string path;   // absolute
  uint64_t bytes = 0; // of a folder, of all of its pictures
  std::string hash;   // XXH3-128, 32 hexadecimal digits
  bool operator==(const FileFingerprint &) const = default;
};

/// Appends the fingerprint of each regular file that is not in `result` yet; pipes and devices, which may be read only once, are
/// left out. Reads whole files, in pieces; of files beyond 1 GiB pieces of that many bytes in all, spread over them. A folder is
/// one of pictures: their names, sizes and bytes; of those beyond 1 GiB in all the bytes of every n-th one. An error names the
/// file.
Status fingerprintFiles(const std::vector<std::string> &paths, std::vector<FileFingerprint> &result);

/// Which of the files that both lists name have changed: "a.txt has 1200 bytes, before 1100; b.txt has other bytes", and which
/// came and went beside them. Empty if none has, and if the lists name different files altogether.
std::string changedFiles(const std::vector<FileFingerprint> &before, const std::vector<FileFingerprint> &now);

} // namespace tenon::data
