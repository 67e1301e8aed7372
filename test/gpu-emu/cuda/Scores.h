// The mutation score of what a program launches (mode `mutants`): at the first launches of each kernel every call that
// synchronises is deleted in turn, on the memory as it is there, and the kernel must give other memory or a report. A survivor is
// sorted by what else is found: see docs/testing.md.
#pragma once
#include "../Program.h"
#include <map>
#include <memory>

namespace tenon::emu::cuda {

/// How a launch is told.
struct LaunchShape {
  Dim3 grid, block;
  uint32_t dynamicShared;
  const uint64_t *arguments;
};

class Scores {
public:
  /// Before the launch itself; leaves the memory of the device, which is open, as it is. `code`: the module of the kernel.
  void score(llvm::MemoryBufferRef code, const std::string &kernel, const LaunchShape &shape);
  /// A line per kind of kernel, then those that nobody misses.
  void print() const;

private:
  enum class Fate { Found, Unreached, Twice, Survives };
  struct Call {
    std::string text;
    Fate fate = Fate::Unreached;
    unsigned partner = 0; // of Twice
  };
  struct Scored {
    std::unique_ptr<Program> program; // of this kernel alone, with calls that can be deleted
    std::vector<Call> calls;
    unsigned launches = 0;
  };
  static void prepare(llvm::MemoryBufferRef code, const std::string &kernel, Scored &scored);
  std::map<std::string, Scored> all; // by kernel
};

} // namespace tenon::emu::cuda
