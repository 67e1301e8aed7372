// A crash of the compiler leaves a file with everything that led to it.
#pragma once
#include <string>

namespace tenon::compiler {

/// While it lives, a crash (SEGV, ABRT, BUS, ILL, FPE; also of the stack) writes a new file tenon-crash-PID.txt with the command
/// line and the specification, asks for it on stderr and exits with 70; the file is in the current folder, at home where others
/// can write to that one, or nowhere. Too little memory is said and exits with 5.
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
