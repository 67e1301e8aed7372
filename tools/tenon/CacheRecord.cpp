#include "tools/tenon/CacheRecord.h"
#include "runtime/base/File.h"
#include <algorithm>
#include <filesystem>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::driver {

namespace fs = std::filesystem;
using runtime::Expected;
using runtime::inputError;

namespace {

constexpr std::string_view kFormat = "tenon cache 2";
constexpr uint64_t kLargestFile = uint64_t(1) << 30;

std::string digits(XXH128_hash_t value) {
  char text[33];
  snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(value.high64),
           static_cast<unsigned long long>(value.low64));
  return text;
}

/// The texts between zero bytes, one after the other; at the end there are none.
class Fields {
public:
  explicit Fields(std::string_view text) : rest(text) {}
  std::optional<std::string> next() {
    size_t end = rest.find('\0');
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string field(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    return field;
  }

private:
  std::string_view rest;
};

} // namespace

std::string hashOf(std::string_view bytes) { return digits(XXH3_128bits(bytes.data(), bytes.size())); }

std::string hashOf(const std::vector<std::string> &texts) {
  std::string joined;
  for (const std::string &text : texts)
    joined += runtime::concat(text.size(), ":") + text;
  return hashOf(joined);
}

std::string CacheRecord::print() const {
  std::string text;
  auto add = [&](std::string_view field) { text.append(field).push_back('\0'); };
  add(kFormat);
  auto addFiles = [&](const char *kind, const std::vector<File> &files) {
    for (const File &file : files)
      for (const std::string &field : {std::string(kind), file.path, std::to_string(file.bytes), file.hash})
        add(field);
  };
  addFiles("read", read);
  for (const auto &[kind, paths] : {std::pair("absent", &absent), std::pair("root", &roots)})
    for (const std::string &path : *paths) {
      add(kind);
      add(path);
    }
  addFiles("made", made);
  add(hashOf(text));
  return text;
}

Expected<CacheRecord> parseRecord(std::string_view text) {
  const Expected<CacheRecord> damaged = inputError("the record is damaged");
  constexpr size_t hashBytes = 33; // the hash and its zero byte
  if (text.size() < hashBytes ||
      hashOf(text.substr(0, text.size() - hashBytes)) != text.substr(text.size() - hashBytes, hashBytes - 1))
    return damaged;
  Fields fields(text.substr(0, text.size() - hashBytes));
  if (fields.next() != kFormat)
    return damaged;
  CacheRecord record;
  while (auto kind = fields.next()) {
    auto path = fields.next();
    if (path && (*kind == "absent" || *kind == "root")) {
      (*kind == "root" ? record.roots : record.absent).push_back(*path);
      continue;
    }
    auto bytes = fields.next(), hash = fields.next();
    if (!hash)
      return damaged;
    (*kind == "read" ? record.read : record.made).push_back({*path, strtoull(bytes->c_str(), nullptr, 10), *hash});
  }
  return record;
}

bool FilesNow::is(const std::string &path, const CacheRecord::File &expected) {
  auto [known, isNew] = hashes.try_emplace(path);
  if (isNew)
    if (auto text = runtime::readWholeFile(path, kLargestFile); text.ok())
      known->second = hashOf(*text);
  return known->second == expected.hash;
}

bool FilesNow::areThose(const CacheRecord &record) {
  std::error_code ignored;
  return std::all_of(record.read.begin(), record.read.end(),
                     [&](const CacheRecord::File &file) { return is(file.path, file); }) &&
         std::none_of(record.absent.begin(), record.absent.end(),
                      [&](const std::string &path) { return fs::exists(path, ignored); });
}

Expected<std::vector<CacheRecord::File>> filesOf(const std::string &folder) {
  std::vector<CacheRecord::File> files;
  std::error_code failed;
  fs::directory_iterator entry(folder, failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    std::string name = entry->path().filename().string();
    if (name == kRecordName)
      continue;
    auto text = runtime::readWholeFile(entry->path().string(), kLargestFile);
    if (!text.ok())
      return text.status();
    files.push_back({name, text->size(), hashOf(*text)});
  }
  if (failed)
    return runtime::fileError("read", folder, failed.value());
  std::sort(files.begin(), files.end(), [](const auto &a, const auto &b) { return a.path < b.path; });
  return files;
}

bool isWhole(const std::string &folder, const CacheRecord &record) {
  auto files = filesOf(folder);
  auto same = [](const CacheRecord::File &a, const CacheRecord::File &b) {
    return a.path == b.path && a.bytes == b.bytes && a.hash == b.hash;
  };
  return files.ok() && !record.made.empty() &&
         std::equal(files->begin(), files->end(), record.made.begin(), record.made.end(), same);
}

} // namespace tenon::driver
