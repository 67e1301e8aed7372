// One launch of a kernel: its blocks, one after the other, and what was found wrong.
#pragma once
#include "Machine.h"

namespace tenon::emu {

struct SharedRegion {
  std::string name;
  uint32_t offset = 0, bytes = 0; // in the arena; of dynamic memory, the launch says how many
  bool dynamic = false;
};

struct Kernel {
  std::string name;
  void (*entry)(const uint64_t *arguments) = nullptr; // one slot of 8 bytes per argument
  std::vector<uint32_t> argumentBytes;
  std::vector<SharedRegion> shared; // by offset
  uint32_t sharedEnd = 0;           // of static memory
  uint32_t staticShared = 0;        // without gaps
  bool meets = false;               // has calls in which threads wait for each other
  uint32_t mostThreads = kMostThreads;
  uint32_t mostRegisters = 0; // of a thread, where the kernel says it
};

struct Outcome {
  std::vector<Report> reports; // none: it is right, as far as is looked
  bool illegalAddress = false;
  bool ok() const { return reports.empty(); }
};

/// Runs all blocks, or until a finding after which nothing can go on. The memory of the device must be open. `arguments`: as
/// Kernel::entry wants them. The shape must be one that a device takes.
Outcome launch(const Kernel &kernel, Dim3 grid, Dim3 block, uint32_t dynamicShared, const uint64_t *arguments);

/// What a launch found, for people: a line each, "gpu-emu: kernel: kind: text (3 times)".
std::string describe(const std::string &kernel, const Outcome &outcome);

} // namespace tenon::emu
