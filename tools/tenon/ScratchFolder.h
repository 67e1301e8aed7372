// A folder in which one process makes an artifact before it takes its place in the cache.
#pragma once
#include "runtime/base/File.h"
#include <string>

namespace tenon::driver {

/// `PREFIX.PID.N.tmp`, locked while its process lives. A process that is killed leaves its folder behind; the lock goes with it,
/// and the next compilation removes the folder.
class ScratchFolder {
public:
  ScratchFolder(ScratchFolder &&) = default;
  ScratchFolder &operator=(ScratchFolder &&) = delete;
  /// Removes the folder, if it has not been renamed.
  ~ScratchFolder();

  static runtime::Expected<ScratchFolder> create(const std::string &prefix);
  const std::string &path() const { return lock.name(); }

private:
  explicit ScratchFolder(runtime::File lock) : lock(std::move(lock)) {}
  runtime::File lock; // the folder itself: a lock on it needs no file of its own
};

/// Removes the folders that killed processes left in `directory`.
void removeLeftovers(const std::string &directory);

} // namespace tenon::driver
