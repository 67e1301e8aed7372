#include "tools/tenon/ScratchFolder.h"
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <regex>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::driver {

namespace fs = std::filesystem;
using runtime::Expected;
using runtime::File;

namespace {

enum class Lock { Taken, Held, Unknown }; // Unknown: the filesystem has no locks on folders (some NFS): nothing is removed there

Lock tryLock(const File &folder) {
  if (flock(folder.handle(), LOCK_EX | LOCK_NB) == 0)
    return Lock::Taken;
  return errno == EWOULDBLOCK ? Lock::Held : Lock::Unknown;
}

/// Between the making of a folder and its lock another process may have taken it for a leftover.
bool isStillThere(const File &folder) {
  struct stat opened{}, named{};
  return fstat(folder.handle(), &opened) == 0 && stat(folder.name().c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

} // namespace

Expected<ScratchFolder> ScratchFolder::create(const std::string &prefix) {
  for (int64_t attempt = 0;; ++attempt) {
    std::string path = runtime::concat(prefix, ".", int64_t(getpid()), ".", attempt, ".tmp");
    if (::mkdir(path.c_str(), 0777) != 0) {
      if (errno == EEXIST && attempt < 100) // of a process with this number in another container
        continue;
      return runtime::fileError("create", path, errno);
    }
    auto folder = File::openDirectory(path);
    if (folder.failed() && attempt >= 100)
      return folder.status();
    if (folder.ok() && tryLock(*folder) != Lock::Held && isStillThere(*folder))
      return ScratchFolder(std::move(*folder));
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (lock.handle() >= 0 && isStillThere(lock))
    fs::remove_all(path(), ignored);
}

namespace {

/// Whether a name is that of a scratch folder whose process may be gone: PREFIX.PID.N.tmp, which its lock tells; or
/// PREFIX.PID.tmp of versions without a lock, where only a process of that number can be asked for.
bool mayBeLeft(const std::string &name) {
  static const std::regex scratch("[0-9a-f]{32}(?:-[0-9a-f]{32})?\\.([0-9]{1,9})(\\.[0-9]+)?\\.tmp");
  std::smatch parts;
  if (!std::regex_match(name, parts, scratch))
    return false;
  return parts[2].matched || (kill(std::stoi(parts[1].str()), 0) != 0 && errno == ESRCH);
}

} // namespace

void removeLeftovers(const std::string &directory) {
  std::error_code failed;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code ignored;
    if (!mayBeLeft(entry->path().filename().string()) || entry->is_symlink(ignored))
      continue;
    auto folder = File::openDirectory(entry->path().string());
    if (folder.ok() && tryLock(*folder) == Lock::Taken)
      fs::remove_all(entry->path(), ignored);
  }
}

} // namespace tenon::driver
