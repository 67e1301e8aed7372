#include "runtime/data/Fingerprint.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"
#include "runtime/data/Pictures.h"
#include <algorithm>
#include <filesystem>

namespace tenon::data {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kPieceBytes = 4 << 20, kMostBytes = 1 << 30; // that are read of one file

Status hashFile(FileFingerprint &print) {
  auto file = runtime::File::openForReading(print.path, print.bytes);
  if (!file.ok())
    return file.status();
  runtime::Hash128 hash;
  std::vector<char> piece(std::min(kPieceBytes, print.bytes));
  const uint64_t stride =
      std::max<uint64_t>(1, (print.bytes + kMostBytes - 1) / kMostBytes); // beyond kMostBytes every stride-th piece
  for (uint64_t at = 0; at < print.bytes; at += stride * piece.size()) {
    size_t bytes = std::min<uint64_t>(piece.size(), print.bytes - at);
    if (Status status = file->readAt(at, piece.data(), bytes); status.failed())
      return status;
    hash.add(piece.data(), bytes);
  }
  print.hash = hash.take();
  return {};
}

/// Of a folder of pictures their names and sizes, and the bytes of all or, beyond kMostBytes, of every n-th one.
Status hashPictures(FileFingerprint &print) {
  Pictures pictures;
  if (Status status = pictures.open(print.path, "", ""); status.failed())
    return status;
  runtime::Hash128 hash;
  std::vector<uint64_t> sizes;
  for (uint64_t i = 0; i < pictures.count(); ++i) {
    std::error_code failed;
    const std::string path = pictures.placeOf(i), name = path.substr(print.path.size());
    sizes.push_back(fs::file_size(path, failed));
    if (failed)
      return inputError("cannot read '", path, "': ", failed.message());
    print.bytes += sizes.back();
    hash.add(name.c_str(), name.size() + 1);
  }
  hash.add(sizes.data(), sizes.size() * sizeof(uint64_t));
  const uint64_t stride = std::max<uint64_t>(1, (print.bytes + kMostBytes - 1) / kMostBytes);
  for (uint64_t i = 0; i < pictures.count(); i += stride) {
    FileFingerprint one;
    one.path = pictures.placeOf(i);
    if (Status status = hashFile(one); status.failed())
      return status;
    hash.add(one.hash.data(), one.hash.size());
  }
  print.hash = hash.take();
  return {};
}

const FileFingerprint *findPath(const std::vector<FileFingerprint> &files, const std::string &path) {
  auto found = std::find_if(files.begin(), files.end(), [&](const FileFingerprint &file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

} // namespace

Status fingerprintFiles(const std::vector<std::string> &paths, std::vector<FileFingerprint> &result) {
  for (const std::string &path : paths) {
    std::error_code failed;
    FileFingerprint print;
    print.path = fs::absolute(path, failed).lexically_normal().string();
    const bool isFolder = !failed && fs::is_directory(path, failed);
    if (failed || !(isFolder || fs::is_regular_file(path, failed)) || findPath(result, print.path))
      continue;
    if (Status status = isFolder ? hashPictures(print) : hashFile(print); status.failed())
      return status;
    result.push_back(std::move(print));
  }
  return {};
}

std::string changedFiles(const std::vector<FileFingerprint> &before, const std::vector<FileFingerprint> &now) {
  std::string changes;
  bool common = false;
  auto say = [&](const auto &...parts) { changes += runtime::concat(changes.empty() ? "" : "; ", parts...); };
  for (const FileFingerprint &file : now) {
    const FileFingerprint *earlier = findPath(before, file.path);
    common |= earlier != nullptr;
    if (!earlier)
      say(file.path, " is new");
    else if (std::error_code failed; *earlier != file && fs::is_directory(file.path, failed))
      say(file.path, " has other pictures");
    else if (earlier->bytes != file.bytes)
      say(file.path, " has ", file.bytes, " bytes, before ", earlier->bytes);
    else if (earlier->hash != file.hash)
      say(file.path, " has other bytes");
  }
  for (const FileFingerprint &file : before)
    if (!findPath(now, file.path))
      say(file.path, " is gone");
  return common ? changes : std::string();
}

} // namespace tenon::data
