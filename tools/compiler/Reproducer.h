// A crash of the compiler leaves a file with everything that led to it.
#pragma once
#include <string>

namespace tenon::compiler {

/// While it lives, a crash (SEGV, ABRT, BUS, ILL, FPE; also of the stack) writes tenon-crash-PID.txt with the command line and the
/// specification, asks for it on stderr and exits with 70.
class CrashGuard {
public:
  CrashGuard(int argc, const char **argv, const std::string &specification);
  ~CrashGuard();
  /// The same file and request for a compiler that found a mistake of its own (exit code 70) and goes on to end in order.
  static void report();
  CrashGuard(const CrashGuard &) = delete;
  CrashGuard &operator=(const CrashGuard &) = delete;
};

} // namespace tenon::compiler
