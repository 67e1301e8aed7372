// Big buffers, and what the machine has left for them.
#pragma once
#include "runtime/base/Status.h"
#include <cstddef>
#include <vector>

namespace tenon::runtime {

/// A zero-filled anonymous mapping: the data begin `stagger` bytes after a 2 MiB border, MADV_HUGEPAGE asked for. Movable.
class Arena {
public:
  Arena() = default;
  Arena(Arena &&other) noexcept;
  Arena &operator=(Arena &&other) noexcept;
  ~Arena();
  /// Streams that are walked together get stagger 0, 1, 2, ... steps of 257 KiB so that they do not meet in the same cache sets.
  static Expected<Arena> allocate(uint64_t bytes, unsigned staggerSteps, const char *purpose);
  char *data() const { return begin; } // never null after allocate, 64-byte aligned
  uint64_t size() const { return bytes; }

private:
  void *mapping = nullptr;
  size_t mappingBytes = 0;
  char *begin = nullptr;
  uint64_t bytes = 0;
};

/// Peak resident set of this process, bytes.
uint64_t peakResidentBytes();
/// Bytes that can be allocated without swapping: MemAvailable, cut by the limits of the cgroups (v2 and v1) around the process.
/// 0 if the system does not say.
uint64_t availableBytes();

/// "96 B", "1.50 KiB", "412.00 MiB", "1.250 GiB".
std::string readableBytes(uint64_t bytes);

struct MemoryItem {
  std::string name;
  uint64_t bytes;
};
/// Resource error with the table of items if their sum exceeds what is available (0: not known). Call before the first step.
Status checkMemory(const std::vector<MemoryItem> &items, uint64_t available = availableBytes());

} // namespace tenon::runtime
