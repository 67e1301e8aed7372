#include "lowering/ArtifactFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

namespace fs = llvm::sys::fs;
using llvm::StringRef;

namespace tenon {

static constexpr const char *kNewFolder = ".new-";

/// A compilation that was killed leaves its folder, `.new-PID-..`; it is nobody's when no process has that number.
static void removeLeftovers(StringRef directory) {
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure, false), end; !failure && entry != end; entry.increment(failure)) {
    StringRef name = llvm::sys::path::filename(entry->path());
    pid_t process = 0;
    if (name.consume_front(kNewFolder) && !name.consumeInteger(10, process) && process > 0 && name.starts_with("-") &&
        kill(process, 0) != 0 && errno == ESRCH)
      fs::remove_directories(entry->path());
  }
}

/// `replaced`: whether new files stand.
static std::error_code replaceInFolder(StringRef directory, llvm::function_ref<bool(StringRef)> make, bool &replaced) {
  if (std::error_code failure =
          fs::create_directories(directory, true, fs::perms::all_all)) // cut by the umask, as of any command
    return failure;
  removeLeftovers(directory);
  // mkdtemp replaces the last characters only; LLVM's createUniqueDirectory replaces every % of the path.
  llvm::SmallString<128> folder(directory);
  llvm::sys::path::append(folder, kNewFolder + std::to_string(getpid()) + "-XXXXXX");
  if (std::error_code failure = fs::make_absolute(folder))
    return failure;
  if (!mkdtemp(const_cast<char *>(folder.c_str())))
    return std::error_code(errno, std::generic_category());
  const bool made = make(folder);
  std::error_code failure, walk;
  for (fs::directory_iterator file(folder, walk), end; made && !failure && !walk && file != end; file.increment(walk))
    failure = fs::rename(file->path(), (directory + "/" + llvm::sys::path::filename(file->path())).str());
  fs::remove_directories(folder);
  replaced = made && !failure && !walk;
  return failure ? failure : walk;
}

std::error_code replaceFiles(StringRef directory, llvm::function_ref<bool(StringRef)> make) {
  std::vector<std::string> made; // outermost first: what was not there before goes away again
  for (StringRef path = directory; !path.empty() && !fs::exists(path); path = llvm::sys::path::parent_path(path))
    made.insert(made.begin(), path.str());
  bool replaced = false;
  std::error_code failure = replaceInFolder(directory, make, replaced);
  for (; !replaced && !made.empty(); made.pop_back())
    fs::remove(made.back()); // a folder that is not empty stays
  return failure;
}

} // namespace tenon
