// The compiled models that commands share: one folder each, KEY-SOURCES. KEY is a hash of what the command line asks for, SOURCES
// one of what the compiler read; the record in the folder says what that was.
#pragma once
#include "runtime/base/File.h"
#include "tools/tenon/CacheRecord.h"
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

/// $TENON_CACHE, $XDG_CACHE_HOME/tenon or ~/.cache/tenon, made if it is missing, for this user alone: it holds code that is run.
/// Errors: there is no such place, or it is not this user's alone to write.
runtime::Expected<std::string> openCache();
/// The folder of this key whose sources are now as they were, which counts as used now; nullopt if there is none. One that is
/// damaged is removed.
std::optional<CachedModel> findInCache(const std::string &root, const std::string &key);
/// Removes what was not used for longest until kMostModels and kMostBytes are kept, and never what is in use.
void pruneCache(const std::string &root);

} // namespace tenon::driver
