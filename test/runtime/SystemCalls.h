// The system calls of a save, interposed in the test's process: one of them can fail or kill, and all can be recorded.
#pragma once
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::runtime::test {

/// What one call has done to the disk. Paths are absolute.
struct Operation {
  enum class Kind { MakeFile, MakeFolder, Reserve, Write, Sync, Rename, Exchange, Remove } kind;
  std::string path, target; // `target`: the new name
  uint64_t offset = 0;      // Write: where; Reserve: the least size
  std::string bytes = {};   // Write
};

struct SystemCalls {
  std::atomic<long> countdown{-1}; // the call at 0 fails with `failure`; -1: none does
  int failure = EIO;
  bool killing = false;                     // the process dies instead
  std::vector<Operation> *record = nullptr; // what succeeds is appended; of one thread
};
extern SystemCalls calls;

} // namespace tenon::runtime::test
