#include "runtime/train/RunLock.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace tenon::train {

using runtime::concat;
using runtime::Expected;
using runtime::File;
using runtime::Status;

namespace {

/// "process 4711 on host orion since 2026-11-22 09:30:12 UTC"
std::string thisProcess() {
  char host[HOST_NAME_MAX + 1] = "", since[32] = "";
  if (gethostname(host, sizeof host - 1) != 0 || !host[0])
    snprintf(host, sizeof host, "%s", "unknown");
  const time_t now = time(nullptr);
  struct tm parts{};
  if (gmtime_r(&now, &parts))
    strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return concat("process ", static_cast<int64_t>(getpid()), " on host ", std::string_view(host), " since ",
                std::string_view(since));
}

/// What the holder has written. It may be about to write, and the file may be anybody's: only one short printable line counts.
std::string holderOf(const File &file) {
  char line[512];
  ssize_t bytes = pread(file.handle(), line, sizeof line, 0);
  std::string_view text(line, bytes > 0 ? static_cast<size_t>(bytes) : 0);
  size_t end = text.find('\n');
  bool printable =
      end != std::string_view::npos && text.starts_with("process ") &&
      std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), [](char c) { return c >= ' ' && c <= '~'; });
  return printable ? std::string(text.substr(0, end)) : "another process";
}

} // namespace

Expected<RunLock> RunLock::take(const std::string &directory, std::string &note) {
  auto file = File::openForUpdate(directory + "/lock");
  if (!file.ok())
    return file.status();
  // A lock of the open file, not of the process: no other descriptor that is closed in this process gives it up, and NFS knows it
  // too.
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  if (fcntl(file->handle(), F_OFD_SETLK, &range) != 0) {
    const int reason = errno;
    if (reason == EAGAIN || reason == EACCES)
      return runtime::usageError("the run in ", directory, " is in training by ", holderOf(*file),
                                 "; wait for it, stop it, or train into another --out");
    note = concat("nothing keeps a second training out of ", directory, ": ", runtime::systemMessage(reason));
  }
  const std::string line = thisProcess() + "\n";
  if (ftruncate(file->handle(), 0) == 0) // a full disk only costs the name of the process
    (void)!pwrite(file->handle(), line.data(), line.size(), 0);
  RunLock lock;
  lock.file = file.take();
  return Expected<RunLock>(std::move(lock));
}

} // namespace tenon::train
