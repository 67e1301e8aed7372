#include "tools/tenon/Cache.h"
#include "tools/tenon/ScratchFolder.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::driver {

namespace fs = std::filesystem;
using runtime::Expected;
using runtime::File;
using runtime::inputError;
using runtime::Status;

namespace {

struct Kept {
  std::string path;
  struct timespec used;
  uint64_t bytes;
};

/// Only what a command of this name made: 32 hexadecimal digits twice; once in earlier versions.
bool isModel(const std::string &name) {
  return (name.size() == 32 || (name.size() == 65 && name[32] == '-')) &&
         name.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

uint64_t bytesOf(const std::string &folder) {
  uint64_t bytes = 0;
  std::error_code failed;
  for (fs::directory_iterator file(folder, failed), end; !failed && file != end; file.increment(failed)) {
    std::error_code ignored;
    uint64_t size = file->is_regular_file(ignored) ? file->file_size(ignored) : 0;
    bytes += ignored ? 0 : size;
  }
  return bytes;
}

/// The last used first.
std::vector<Kept> modelsOf(const std::string &root) {
  std::vector<Kept> models;
  std::error_code failed;
  for (fs::directory_iterator entry(root, failed), end; !failed && entry != end; entry.increment(failed)) {
    struct stat information{};
    std::string path = entry->path().string();
    if (isModel(entry->path().filename().string()) && lstat(path.c_str(), &information) == 0 && S_ISDIR(information.st_mode))
      models.push_back({path, information.st_mtim, bytesOf(path)});
  }
  std::sort(models.begin(), models.end(), [](const Kept &a, const Kept &b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) > std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  return models;
}

/// Under another name first: a process that comes now finds no model instead of half of one.
void removeModel(const std::string &path) {
  auto place = ScratchFolder::create(path);
  if (place.failed())
    return;
  std::error_code failed;
  fs::rename(path, place->path() + "/old", failed);
  // The destructor of `place` removes it.
}

void removeUnused(const std::string &path) {
  auto folder = File::openDirectory(path);
  if (folder.ok() && flock(folder->handle(), LOCK_EX | LOCK_NB) == 0)
    removeModel(path);
}

/// Empty if nothing names a place.
std::string cacheDirectory() {
  if (const char *given = getenv("TENON_CACHE"); given && *given)
    return given;
  if (const char *given = getenv("XDG_CACHE_HOME"); given && *given)
    return std::string(given) + "/tenon";
  const char *home = getenv("HOME");
  std::error_code ignored;
  // A home that does not exist is nobody's to make.
  return home && *home && fs::is_directory(home, ignored) ? std::string(home) + "/.cache/tenon" : "";
}

/// Opened with a lock against its removal; nullopt if it was removed meanwhile.
std::optional<CachedModel> openFolder(const std::string &path) {
  auto folder = File::openDirectory(path);
  if (!folder.ok())
    return std::nullopt;
  flock(folder->handle(), LOCK_SH); // waits while another process removes it; without locks nothing is removed
  struct stat opened{}, named{};
  if (fstat(folder->handle(), &opened) != 0 || stat(path.c_str(), &named) != 0 || opened.st_ino != named.st_ino ||
      opened.st_dev != named.st_dev)
    return std::nullopt;
  return CachedModel{path, folder.take()};
}

} // namespace

Expected<std::string> openCache() {
  constexpr const char *advice = "; set TENON_CACHE to a directory of yours";
  std::string root = cacheDirectory();
  while (root.size() > 1 && root.back() == '/')
    root.pop_back();
  if (root.empty())
    return inputError("there is no place for compiled models, for there is no home directory", advice);
  std::error_code failed;
  if (fs::path parent = fs::path(root).parent_path(); !parent.empty())
    fs::create_directories(parent, failed);
  if (!failed && ::mkdir(root.c_str(), 0700) != 0 && errno != EEXIST)
    failed = std::error_code(errno, std::generic_category());
  struct stat information{};
  if (!failed && stat(root.c_str(), &information) != 0)
    failed = std::error_code(errno, std::generic_category());
  if (failed) {
    Status status = runtime::fileError("make the cache of compiled models", root, failed.value());
    return Status(status.kind(), status.message() + advice);
  }
  if (!S_ISDIR(information.st_mode))
    return inputError("the cache of compiled models '", root, "' is not a directory", advice);
  if (information.st_uid != geteuid())
    return inputError("the cache of compiled models '", root, "' belongs to user ", information.st_uid, ", not to you (",
                      geteuid(), "), and holds code that would be run", advice);
  if (information.st_mode & (S_IWGRP | S_IWOTH))
    return inputError("the cache of compiled models '", root,
                      "' can be written by others, and holds code that would be run; empty it and chmod go-w '", root,
                      "', or set TENON_CACHE to a directory of yours");
  return root;
}

std::optional<CachedModel> findInCache(const std::string &root, const std::string &key) {
  FilesNow now;
  for (const Kept &kept : modelsOf(root)) {
    if (!fs::path(kept.path).filename().string().starts_with(key + "-"))
      continue;
    auto model = openFolder(kept.path);
    if (!model)
      continue;
    auto text = runtime::readWholeFile(kept.path + "/" + kRecordName, 16 << 20);
    Expected<CacheRecord> record = text.ok() ? parseRecord(*text) : text.status();
    if (record.ok() && !now.areThose(*record))
      continue;
    if (!record.ok() || !isWhole(kept.path, *record)) {
      removeModel(kept.path);
      continue;
    }
    futimens(model->lock.handle(), nullptr); // where it cannot be touched, it only looks older
    return model;
  }
  return std::nullopt;
}

void pruneCache(const std::string &root) {
  size_t count = 0;
  uint64_t bytes = 0;
  for (const Kept &model : modelsOf(root)) {
    ++count;
    bytes += model.bytes;
    if (count > kMostModels || bytes > kMostBytes)
      removeUnused(model.path);
  }
}

} // namespace tenon::driver
