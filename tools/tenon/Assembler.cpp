#include "tools/tenon/Assembler.h"
#include "runtime/base/File.h"
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tenon::driver {

namespace fs = std::filesystem;
using runtime::concat;
using runtime::Expected;
using runtime::inputError;
using runtime::Status;

namespace {

/// A file that lives as long as this, with the text in it.
class TextFile {
public:
  explicit TextFile(std::string_view text) {
    std::error_code ignored;
    name = (fs::temp_directory_path(ignored) / "tenon-ptx-XXXXXX").string();
    const int handle = mkstemp(name.data());
    isWhole = handle >= 0;
    while (isWhole && !text.empty()) {
      const ssize_t count = ::write(handle, text.data(), text.size());
      isWhole = count > 0 || (count < 0 && errno == EINTR);
      text.remove_prefix(count > 0 ? static_cast<size_t>(count) : 0);
    }
    reason = isWhole ? "" : std::strerror(errno);
    if (handle >= 0)
      ::close(handle);
  }
  ~TextFile() { ::unlink(name.c_str()); }
  TextFile(const TextFile &) = delete;
  TextFile &operator=(const TextFile &) = delete;
  std::string name, reason;
  bool isWhole = false;
};

/// Runs a program; what it writes to its outputs, and whether it ended with 0. Nothing: it could not be started.
std::optional<std::pair<std::string, bool>> runProgram(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR);)
    text.append(buffer, count > 0 ? static_cast<size_t>(count) : 0);
  ::close(ends[0]);
  int status = 0;
  while (failure == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (failure != 0) {
    errno = failure;
    return {};
  }
  return std::pair(std::move(text), WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// The whole number in front of `unit` in a line, 0 if there is none.
int64_t numberBefore(std::string_view line, std::string_view unit) {
  size_t end = line.find(unit);
  if (end == std::string_view::npos)
    return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  int64_t number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

/// What stands between two marks.
std::string_view between(std::string_view line, std::string_view before, std::string_view behind) {
  const size_t begin = line.find(before);
  if (begin == std::string_view::npos)
    return {};
  line.remove_prefix(begin + before.size());
  return line.substr(0, line.find(behind));
}

} // namespace

std::string findAssembler() {
  std::vector<fs::path> folders;
  if (const char *path = getenv("PATH")) {
    std::istringstream list(path);
    for (std::string folder; std::getline(list, folder, ':');)
      folders.emplace_back(folder);
  }
  if (const char *home = getenv("CUDA_HOME"); home && *home)
    folders.push_back(fs::path(home) / "bin");
  folders.emplace_back("/usr/local/cuda/bin");
  for (const fs::path &folder : folders)
    if (const std::string program = (folder / "ptxas").string(); folder.is_absolute() && ::access(program.c_str(), X_OK) == 0)
      return program;
  return {};
}

Expected<std::map<std::string, KernelResources, std::less<>>> assemble(const std::string &assembler, std::string_view ptx,
                                                                       const std::string &chip) {
  const TextFile file(ptx);
  if (!file.isWhole)
    return Status(runtime::ErrorKind::Resource, concat(file.name, ": ", file.reason));
  auto done = runProgram({assembler, "-arch=" + chip, "-v", "-o", "/dev/null", file.name});
  if (!done)
    return Status(runtime::ErrorKind::Resource, concat("cannot start ", assembler, ": ", std::strerror(errno)));
  const auto &[text, isGood] = *done;
  if (!isGood)
    return inputError(assembler, " does not take the kernels for ", chip, ": ",
                      std::string_view(text).substr(0, text.find('\n')));
  std::map<std::string, KernelResources, std::less<>> kernels;
  KernelResources *kernel = nullptr;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (const std::string_view name = between(line, "Compiling entry function '", "'"); !name.empty())
      kernel = &kernels[std::string(name)];
    if (!kernel)
      continue;
    if (line.find(" bytes spill stores") != std::string_view::npos) {
      kernel->spillStores = numberBefore(line, " bytes spill stores");
      kernel->spillLoads = numberBefore(line, " bytes spill loads");
    } else if (line.find("Used ") != std::string_view::npos) {
      kernel->registers = numberBefore(line, " registers");
      kernel->shared = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

} // namespace tenon::driver
