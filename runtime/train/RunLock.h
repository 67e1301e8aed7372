// One training at a time in a run directory. Readers (eval, generate, run) need no lock: what they read is replaced as a whole.
#pragma once
#include "runtime/base/File.h"

namespace tenon::train {

/// Holds RUN/lock as long as it lives. The kernel lets go of it when the process ends, however it ends; the file stays, and means
/// nothing without the lock. Movable.
class RunLock {
public:
  RunLock() = default;
  /// Takes the lock of an existing directory. A usage error names the process that has it: its number, host, and since when. On a
  /// filesystem without locks, `note` says that nothing guards the run.
  static runtime::Expected<RunLock> take(const std::string &directory, std::string &note);
  bool held() const { return file.handle() >= 0; }

private:
  runtime::File file;
};

} // namespace tenon::train
