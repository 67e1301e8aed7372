#include "runtime/base/File.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::runtime {

namespace {
// strerror_r has two signatures; overloads take whichever this C library has.
[[maybe_unused]] const char *messageText(int, const char *buffer) { return buffer; }
[[maybe_unused]] const char *messageText(const char *text, const char *) { return text; }

// One system call never moves more than this (Linux stops at 0x7ffff000).
constexpr size_t largestTransfer = size_t(1) << 30;

template <typename Call> auto retry(Call call) {
  decltype(call()) result;
  do
    result = call();
  while (result < 0 && errno == EINTR);
  return result;
}
} // namespace

std::string systemMessage(int error) {
  char buffer[256] = "unknown error";
  return messageText(strerror_r(error, buffer, sizeof buffer), buffer);
}

Status fileError(const std::string &action, const std::string &path, int error) {
  bool resource = error == ENOSPC || error == EDQUOT || error == EFBIG || error == ENOMEM || error == EMFILE || error == ENFILE;
  return Status(resource ? ErrorKind::Resource : ErrorKind::Input,
                concat("cannot ", action, " '", path, "': ", systemMessage(error)));
}

File &File::operator=(File &&other) noexcept {
  if (this != &other) {
    close();
    descriptor = other.descriptor;
    path = std::move(other.path);
    other.forget();
  }
  return *this;
}

Expected<File> File::openForReading(const std::string &path) {
  // O_NONBLOCK: a named pipe must not hang the program; it is refused by size().
  int handle = retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (handle < 0)
    return fileError("open", path, errno);
  return File(handle, path);
}

Expected<File> File::create(const std::string &path, const std::string &shown) {
  int handle = retry([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); });
  if (handle < 0)
    return fileError("create", shown.empty() ? path : shown, errno);
  return File(handle, path);
}

Expected<File> File::openForUpdate(const std::string &path) {
  int handle = retry([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666); });
  if (handle < 0)
    return fileError("open", path, errno);
  return File(handle, path);
}

Expected<File> File::openDirectory(const std::string &path) {
  int handle = retry([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (handle < 0)
    return fileError("open directory", path, errno);
  return File(handle, path);
}

Expected<uint64_t> File::size() const {
  struct stat information;
  if (fstat(descriptor, &information) != 0)
    return fileError("examine", path, errno);
  if (!S_ISREG(information.st_mode))
    return inputError("'", path, "' is not a regular file");
  return static_cast<uint64_t>(information.st_size);
}

Status File::readAt(uint64_t offset, void *data, size_t bytes) const {
  char *target = static_cast<char *>(data);
  while (bytes > 0) {
    ssize_t count =
        retry([&] { return ::pread(descriptor, target, std::min(bytes, largestTransfer), static_cast<off_t>(offset)); });
    if (count < 0)
      return fileError("read", path, errno);
    if (count == 0)
      return inputError("'", path, "' ends at byte ", offset, ", ", bytes, " bytes too early");
    target += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<size_t>(count);
  }
  return {};
}

Status File::write(const void *data, size_t bytes) {
  const char *source = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t count = retry([&] { return ::write(descriptor, source, std::min(bytes, largestTransfer)); });
    if (count < 0)
      return fileError("write", path, errno);
    source += count;
    bytes -= static_cast<size_t>(count);
  }
  return {};
}

Status File::reserve(uint64_t bytes) {
  if (bytes == 0)
    return {};
  int error;
  do
    error = posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error == 0 || error == EOPNOTSUPP || error == EINVAL || error == ENOSYS)
    return {};
  return fileError(concat("reserve ", bytes, " bytes for"), path, error);
}

Status File::sync() {
  if (retry([&] { return ::fsync(descriptor); }) != 0)
    return fileError("write to disk", path, errno);
  return {};
}

Status File::closeChecked() {
  if (descriptor < 0)
    return {};
  int handle = descriptor;
  descriptor = -1;
  // After EINTR the descriptor is gone on Linux: never call close twice.
  if (::close(handle) != 0 && errno != EINTR)
    return fileError("close", path, errno);
  return {};
}

void File::close() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

Expected<File> File::openForReading(const std::string &path, uint64_t &bytes) {
  auto file = openForReading(path);
  if (!file.ok())
    return file;
  auto size = file->size();
  if (!size.ok())
    return size.status();
  bytes = *size;
  return file;
}

/// What the symbolic link at `path` names, link after link, whether it exists or not; `path` itself if it is no link.
static Expected<std::string> followLinks(const std::string &path) {
  namespace fs = std::filesystem;
  constexpr int mostLinks = 40; // as Linux
  fs::path at = path;
  for (int links = 0; links < mostLinks; ++links) {
    std::error_code failed;
    fs::path next = fs::read_symlink(at, failed);
    if (failed)
      return at.string();
    at = at.parent_path() / next; // an absolute `next` replaces the folder
  }
  return fileError("replace", path, ELOOP);
}

FileBatch::~FileBatch() {
  for (const Waiting &file : waiting)
    ::unlink(file.temporary.c_str());
}

Status FileBatch::write(const std::string &path, const std::function<Status(ByteSink &)> &write) {
  struct stat information;
  const bool exists = stat(path.c_str(), &information) == 0, inPlace = exists && !S_ISREG(information.st_mode);
  auto followed = inPlace ? Expected<std::string>(path) : followLinks(path);
  if (!followed.ok())
    return followed.status();
  std::error_code failed;
  std::string target = std::filesystem::weakly_canonical(*followed, failed).string(); // ./a and a are one file
  if (failed || inPlace)
    target = *followed;
  for (const Waiting &other : waiting)
    if (other.target == target)
      return usageError("two outputs would go to '", path, "'; give each a file of its own");
  const std::string temporary = inPlace ? target : concat(target, ".tmp", static_cast<int64_t>(getpid()));
  auto file = File::create(temporary, *followed == path ? path : concat(path, "' -> '", *followed));
  if (!file.ok())
    return file.status();
  if (!inPlace)
    waiting.push_back({temporary, target});
  if (exists && !inPlace && fchmod(file->handle(), information.st_mode & 07777) != 0)
    return fileError("set the permissions of", temporary, errno);
  FileSink sink(*file);
  Status status = write(sink);
  if (status.ok() && !inPlace)
    status = file->sync();
  return status.ok() ? file->closeChecked() : status;
}

Status FileBatch::commit() {
  for (; !waiting.empty(); waiting.erase(waiting.begin()))
    if (::rename(waiting[0].temporary.c_str(), waiting[0].target.c_str()) != 0)
      return fileError("replace", waiting[0].target, errno);
  return {};
}

Status replaceFile(const std::string &path, const std::function<Status(ByteSink &)> &write, FileBatch *batch) {
  FileBatch own;
  Status status = (batch ? *batch : own).write(path, write);
  return status.ok() ? own.commit() : status;
}

Status replaceFile(const std::string &path, std::string_view text) {
  return replaceFile(path, [&](ByteSink &sink) { return sink.write(text.data(), text.size()); });
}

Expected<std::string> readWholeFile(const std::string &path, uint64_t limit) {
  uint64_t size = 0;
  auto file = File::openForReading(path, size);
  if (!file.ok())
    return file.status();
  if (size > limit)
    return inputError("'", path, "' has ", size, " bytes, at most ", limit, " are read");
  std::string text(size, '\0');
  if (Status status = file->readAt(0, text.data(), text.size()); status.failed())
    return status;
  return text;
}

} // namespace tenon::runtime
