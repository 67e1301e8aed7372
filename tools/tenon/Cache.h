// The compiled models that commands share: one folder each, named by a hash of all that made it.
#pragma once
#include "runtime/File.h"
#include <optional>
#include <string>

namespace tenon::driver {

constexpr size_t kMostModels = 200;
constexpr uint64_t kMostBytes = uint64_t(1) << 30;

/// A folder of the cache. As long as this lives, no process removes it.
struct CachedModel {
  std::string directory;
  runtime::File lock; // the folder; not open where the filesystem has no locks on folders
};

/// $TENON_CACHE, $XDG_CACHE_HOME/tenon or ~/.cache/tenon; empty if there is no such place.
std::string cacheDirectory();
/// The folder of this name, which counts as used now; nullopt if there is none.
std::optional<CachedModel> findInCache(const std::string &root, const std::string &name);
/// Removes what was not used for longest until kMostModels and kMostBytes are kept, and never what is in use.
void pruneCache(const std::string &root);

} // namespace tenon::driver
