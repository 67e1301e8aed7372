#include "lowering/artifact/Link.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace tenon {

namespace {

/// A name for the folder without a %: the linker's own temporary file would have other characters in its place. Linux names open
/// files so.
class FolderForLinker {
public:
  explicit FolderForLinker(const std::string &folder) : name(folder) {
    if (folder.find('%') == std::string::npos)
      return;
    handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY); // which the linker inherits
    if (handle >= 0)
      name = "/proc/self/fd/" + std::to_string(handle);
  }
  ~FolderForLinker() {
    if (handle >= 0)
      ::close(handle);
  }
  FolderForLinker(const FolderForLinker &) = delete;
  FolderForLinker &operator=(const FolderForLinker &) = delete;
  const std::string &path() const { return name; }

private:
  int handle = -1;
  std::string name;
};

bool isLibrary(const std::string &path) {
  llvm::file_magic magic;
  return !llvm::identify_magic(path, magic) && magic == llvm::file_magic::elf_shared_object;
}

} // namespace

LinkResult linkLibrary(const std::vector<std::string> &objects, const std::string &directory, const std::string &name,
                       llvm::ArrayRef<llvm::StringLiteral> folders) {
  auto linker = llvm::sys::findProgramByName("ld.lld-22");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld");
  if (!linker)
    return {LinkResult::Kind::NoLibrary, "there is no linker: neither ld.lld-22 nor ld.lld is in PATH; install lld-22"};
  const std::string library = directory + "/" + name, log = library + ".log";
  FolderForLinker folder(directory);
  std::vector<std::string> arguments{*linker, "-shared", "-o", folder.path() + "/" + name, "-soname", name};
  for (const char *flag : {"--hash-style=gnu", "-z", "now", "-z", "relro", "--gc-sections", "--no-undefined", "--as-needed"})
    arguments.push_back(flag);
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  for (llvm::StringRef place : folders)
    if (llvm::sys::fs::is_directory(place))
      arguments.push_back(("-L" + place).str());
  arguments.push_back("-l:libc.so.6");
  arguments.push_back("-l:libm.so.6");
  std::vector<llvm::StringRef> views(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log), llvm::StringRef(log)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*linker, views, std::nullopt, redirects, 0, 0, &message);
  std::string output;
  if (auto buffer = llvm::MemoryBuffer::getFile(log))
    output = (*buffer)->getBuffer().rtrim().str();
  llvm::sys::fs::remove(log);
  if (status != 0) // below zero: not started, or ended by a signal
    return {status < 0 ? LinkResult::Kind::NoLibrary : LinkResult::Kind::Refused,
            "linking " + library + " by " + *linker + " failed: " + message + output};
  if (!isLibrary(library))
    return {LinkResult::Kind::NoLibrary, "the linker " + *linker + " reports success and has written no library"};
  return {};
}

} // namespace tenon
