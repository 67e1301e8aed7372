#include "tools/compiler/Reproducer.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace tenon::compiler {

namespace {

// All that the handler needs stands ready: it may only make system calls.
std::string contents, path;
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
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  put(STDERR_FILENO, "tenon: error: the compiler ");
  put(STDERR_FILENO, event);
  put(STDERR_FILENO, "; this is a bug in it, not in your specification. ");
  if (file >= 0) {
    put(file, contents.data(), contents.size());
    put(STDERR_FILENO, "Please send ");
    put(STDERR_FILENO, path.c_str());
    put(STDERR_FILENO, " with your report.\n");
  } else {
    put(STDERR_FILENO, "Please send the specification and the command line with your report.\n");
  }
  if (file >= 0)
    close(file);
}

void onCrash(int) {
  writeReport("crashed");
  _exit(70);
}

} // namespace

CrashGuard::CrashGuard(int argc, const char **argv, const std::string &specification) {
  path = "tenon-crash-" + std::to_string(getpid()) + ".txt";
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
  struct sigaction action {};
  action.sa_handler = onCrash;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &action, &earlier[i]);
}

CrashGuard::~CrashGuard() {
  for (size_t i = 0; i < std::size(kSignals); ++i)
    sigaction(kSignals[i], &earlier[i], nullptr);
  sigaltstack(&earlierStack, nullptr);
}

void CrashGuard::report() { writeReport("failed"); }

} // namespace tenon::compiler
