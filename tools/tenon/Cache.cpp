#include "tools/tenon/Cache.h"
#include "tools/tenon/ScratchFolder.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>

namespace tenon::driver {

namespace fs = std::filesystem;
using runtime::File;

namespace {

struct Kept {
  std::string path;
  struct timespec used;
  uint64_t bytes;
};

/// Only what a command of this name made: 32 hexadecimal digits.
bool isModel(const std::string &name) { return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos; }

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
    struct stat information {};
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
void removeUnused(const std::string &root, const std::string &path) {
  auto folder = File::openDirectory(path);
  if (!folder.ok() || flock(folder->handle(), LOCK_EX | LOCK_NB) != 0)
    return;
  auto place = ScratchFolder::create(path);
  if (place.failed())
    return;
  std::error_code failed;
  fs::rename(path, place->path() + "/old", failed);
  // The destructor of `place` removes it.
}

} // namespace

std::string cacheDirectory() {
  if (const char *given = getenv("TENON_CACHE"); given && *given)
    return given;
  if (const char *given = getenv("XDG_CACHE_HOME"); given && *given)
    return std::string(given) + "/tenon";
  const char *home = getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/tenon" : "";
}

std::optional<CachedModel> findInCache(const std::string &root, const std::string &name) {
  const std::string path = root + "/" + name;
  auto folder = File::openDirectory(path);
  if (!folder.ok())
    return std::nullopt;
  flock(folder->handle(), LOCK_SH); // waits while another process removes it; without locks nothing is removed
  struct stat opened {}, named {};
  if (fstat(folder->handle(), &opened) != 0 || stat(path.c_str(), &named) != 0 || opened.st_ino != named.st_ino || opened.st_dev != named.st_dev)
    return std::nullopt;
  futimens(folder->handle(), nullptr); // what cannot be touched, in a cache of another user, only looks older
  return CachedModel{path, folder.take()};
}

void pruneCache(const std::string &root) {
  size_t count = 0;
  uint64_t bytes = 0;
  for (const Kept &model : modelsOf(root)) {
    ++count;
    bytes += model.bytes;
    if (count > kMostModels || bytes > kMostBytes)
      removeUnused(root, model.path);
  }
}

} // namespace tenon::driver
