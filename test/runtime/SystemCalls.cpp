#include "test/runtime/SystemCalls.h"
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tenon::runtime::test {
SystemCalls calls;
}

using tenon::runtime::test::calls;
using Kind = tenon::runtime::test::Operation::Kind;

namespace {

bool strikes() {
  long before = calls.countdown.load();
  if (before < 0)
    return false;
  calls.countdown.store(before - 1);
  if (before != 0)
    return false;
  if (calls.killing)
    kill(getpid(), SIGKILL);
  errno = calls.failure;
  return true;
}

std::string pathOf(int file) {
  char link[40], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path);
  return std::string(path, length > 0 ? static_cast<size_t>(length) : 0);
}

/// `path` as seen from the open directory `folder`.
std::string pathAt(int folder, const char *path) {
  return path[0] == '/' || folder == AT_FDCWD ? path : pathOf(folder) + "/" + path;
}

int recorded(int result, Kind kind, std::string path, std::string target = {}) {
  if (result == 0 && calls.record)
    calls.record->push_back({kind, std::move(path), std::move(target)});
  return result;
}

} // namespace

extern "C" {

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  int file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (file >= 0 && flags & O_TRUNC)
    recorded(0, Kind::MakeFile, pathOf(file));
  return file;
}

ssize_t write(int file, const void *data, size_t bytes) {
  if (strikes()) // half of the bytes reach the disk before a full one is noticed
    return calls.failure == ENOSPC && bytes > 1 ? syscall(SYS_write, file, data, bytes / 2) : -1;
  const off_t offset = calls.record ? lseek(file, 0, SEEK_CUR) : 0;
  const ssize_t written = syscall(SYS_write, file, data, bytes);
  if (calls.record && offset >= 0 && written > 0)
    calls.record->push_back({Kind::Write, pathOf(file), "", static_cast<uint64_t>(offset),
                             std::string(static_cast<const char *>(data), static_cast<size_t>(written))});
  return written;
}

int fsync(int file) { return strikes() ? -1 : recorded(static_cast<int>(syscall(SYS_fsync, file)), Kind::Sync, pathOf(file)); }

int mkdir(const char *path, mode_t mode) noexcept {
  return strikes() ? -1 : recorded(static_cast<int>(syscall(SYS_mkdir, path, mode)), Kind::MakeFolder, path);
}

int renameat(int from, const char *old, int to, const char *path) noexcept {
  if (strikes())
    return -1;
  return recorded(static_cast<int>(syscall(SYS_renameat2, from, old, to, path, 0)), Kind::Rename, pathAt(from, old),
                  pathAt(to, path));
}

int renameat2(int from, const char *old, int to, const char *path, unsigned flags) noexcept {
  if (strikes())
    return -1;
  return recorded(static_cast<int>(syscall(SYS_renameat2, from, old, to, path, flags)),
                  flags & RENAME_EXCHANGE ? Kind::Exchange : Kind::Rename, pathAt(from, old), pathAt(to, path));
}

// std::filesystem calls these from its own library, which has to see them.
#pragma GCC visibility push(default)
int unlinkat(int folder, const char *path, int flags) noexcept {
  std::string whole = pathAt(folder, path);
  return recorded(static_cast<int>(syscall(SYS_unlinkat, folder, path, flags)), Kind::Remove, std::move(whole));
}
int unlink(const char *path) noexcept { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) noexcept { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) noexcept { return unlink(path) == 0 || rmdir(path) == 0 ? 0 : -1; }
#pragma GCC visibility pop

int posix_fallocate(int file, off_t offset, off_t bytes) {
  if (strikes())
    return calls.failure;
  const int error = syscall(SYS_fallocate, file, 0, offset, bytes) == 0 ? 0 : errno;
  if (error == 0 && calls.record)
    calls.record->push_back({Kind::Reserve, pathOf(file), "", static_cast<uint64_t>(offset + bytes)});
  return error;
}

} // extern "C"
