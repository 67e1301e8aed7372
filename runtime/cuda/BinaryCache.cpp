#include "runtime/cuda/BinaryCache.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"
#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::runtime::cuda {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFirstLine = "tenon-gpu-code 1\n"; // the format of a file; then the hash of the rest, and a line's end
constexpr size_t kHashDigits = 32, kHeadBytes = kFirstLine.size() + kHashDigits + 1;
constexpr uint64_t kMostBytes = uint64_t(1) << 30; // of a file
constexpr size_t kMostFiles = 64;
constexpr const char *kSuffix = ".cubin";

/// Empty where nothing names a place, or others than this user can write there.
std::string folder(bool makes) {
  auto given = [](const char *variable) {
    const char *value = std::getenv(variable);
    return std::string(value ? value : "");
  };
  fs::path place = given("TENON_CACHE");
  std::error_code failed;
  if (place.empty() && !given("XDG_CACHE_HOME").empty())
    place = fs::path(given("XDG_CACHE_HOME")) / "tenon";
  else if (place.empty() && !given("HOME").empty() && fs::is_directory(given("HOME"), failed))
    place = fs::path(given("HOME")) / ".cache" / "tenon";
  if (place.empty())
    return "";
  if (makes)
    fs::create_directories(place.parent_path(), failed);
  for (const fs::path &each : {place, place / "gpu"}) {
    if (makes)
      ::mkdir(each.c_str(), 0700);
    struct stat information{};
    if (stat(each.c_str(), &information) != 0 || !S_ISDIR(information.st_mode) || information.st_uid != geteuid() ||
        (information.st_mode & (S_IWGRP | S_IWOTH)))
      return "";
  }
  return (place / "gpu").string();
}

/// The last used stay.
void prune(const std::string &folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code failed;
  for (fs::directory_iterator file(folder, failed), end; !failed && file != end; file.increment(failed))
    if (std::error_code ignored; file->path().extension() == kSuffix)
      files.emplace_back(file->last_write_time(ignored), file->path());
  std::sort(files.begin(), files.end(), std::greater<>());
  for (size_t i = kMostFiles; i < files.size(); ++i)
    fs::remove(files[i].second, failed);
}

} // namespace

BinaryCache::BinaryCache(const CudaDevice &device, std::string_view ptx) {
  int version = 0;
  device.driver().cuDriverGetVersion(&version);
  name = concat(hash128(ptx), "-sm_", device.capability(), "-cuda", version, kSuffix);
}

std::string BinaryCache::find() const {
  const std::string place = folder(false);
  if (place.empty())
    return "";
  const std::string path = place + "/" + name;
  auto text = readWholeFile(path, kMostBytes);
  if (!text.ok() || text->size() <= kHeadBytes || !text->starts_with(kFirstLine))
    return "";
  std::string image = text->substr(kHeadBytes);
  if (text->compare(kFirstLine.size(), kHashDigits, hash128(image)) != 0)
    return "";
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // where it cannot be touched, it only looks older
  return image;
}

void BinaryCache::keep(std::string_view image) const {
  const std::string place = folder(true);
  if (place.empty())
    return;
  const std::string head = concat(kFirstLine, hash128(image), '\n');
  const Status status = replaceFile(place + "/" + name, [&](ByteSink &sink) {
    Status written = sink.write(head.data(), head.size());
    return written.ok() ? sink.write(image.data(), image.size()) : written;
  });
  if (status.ok())
    prune(place);
}

} // namespace tenon::runtime::cuda
