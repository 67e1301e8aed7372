#include "tools/compiler/Reproducer.h"
#include "llvm/Support/ErrorHandling.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tenon::compiler {

namespace {

// All that the handler needs stands ready: it may only make system calls.
std::string contents;
std::vector<std::string> paths; // the first that does not exist yet is taken; none in a folder that others can write to
std::new_handler earlierNewHandler;
constexpr int kSignals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE};
struct sigaction earlier[std::size(kSignals)];
stack_t earlierStack;
char handlerStack[65536];

void put(int file, const char *text, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, text, size);
    if (written <= 0)
      return;
    text += written;
    size -= static_cast<size_t>(written);
  }
}
void put(int file, const char *text) { put(file, text, strlen(text)); }

void writeReport(const char *event) {
  int file = -1;
  const char *path = nullptr;
  for (size_t i = 0; i < paths.size() && file < 0; ++i) {
    path = paths[i].c_str();
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600); // the specification is its owner's
  }
  put(STDERR_FILENO, "tenon: error: the compiler ");
  put(STDERR_FILENO, event);
  put(STDERR_FILENO, "; this is a bug in it, not in your specification. ");
  if (file >= 0) {
    put(file, contents.data(), contents.size());
    put(STDERR_FILENO, "Please send ");
    put(STDERR_FILENO, path);
    put(STDERR_FILENO, " with your report.\n");
  } else {
    put(STDERR_FILENO, "Please send the specification and the command line with your report.\n");
  }
  if (file >= 0)
    close(file);
}

/// Code of others does not ask whether it got memory: where there is room for nothing more, that is why it crashed.
bool isMemoryFull() {
  constexpr size_t room = 64 << 20;
  void *memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return true;
  munmap(memory, room);
  return false;
}

[[noreturn]] void onFullMemory();

void onCrash(int) {
  if (isMemoryFull())
    onFullMemory();
  writeReport("crashed");
  _exit(70);
}

/// Not the compiler's mistake; and nothing can be said that needs memory.
[[noreturn]] void onFullMemory() {
  put(STDERR_FILENO, "tenon: error: out of memory while compiling\n");
  _exit(5);
}

bool isOwn(const char *folder) {
  struct stat information{};
  return stat(folder, &information) == 0 && S_ISDIR(information.st_mode) && information.st_uid == geteuid() &&
         !(information.st_mode & (S_IWGRP | S_IWOTH));
}

/// In the current folder if it is the user's alone, else at home.
std::vector<std::string> reportPaths() {
  const char *home = getenv("HOME");
  std::string folder = isOwn(".") ? "" : home && isOwn(home) ? std::string(home) + "/" : "/";
  std::vector<std::string> result;
  for (int i = 0; i < 10 && folder != "/"; ++i)
    result.push_back(folder + "tenon-crash-" + std::to_string(getpid()) + (i ? "-" + std::to_string(i) : "") + ".txt");
  return result;
}

} // namespace

CrashGuard::CrashGuard(int argc, const char **argv, const std::string &specification) {
  paths = reportPaths();
  earlierNewHandler = std::set_new_handler(onFullMemory);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { onFullMemory(); });
  contents = "command:";
  for (int i = 0; i < argc; ++i)
    contents.append(" ").append(argv[i]);
  std::ifstream file(specification, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  contents += "\n\n" + specification + ":\n" + text.str();
  stack_t stack{};
  stack.ss_sp = handlerStack;
  stack.ss_size = sizeof handlerStack;
  sigaltstack(&stack, &earlierStack);
  struct sigaction action{};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &action, &earlier[i]);
}

CrashGuard::~CrashGuard() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &earlier[i], nullptr);
  sigaltstack(&earlierStack, nullptr);
  llvm::remove_bad_alloc_error_handler();
  std::set_new_handler(earlierNewHandler);
}

void CrashGuard::report() { writeReport("failed"); }

} // namespace tenon::compiler
