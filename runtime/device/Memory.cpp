#include "runtime/device/Memory.h"
#include "runtime/base/Checked.h"
#include "runtime/base/File.h"
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/resource.h>

namespace tenon::runtime {

namespace {
constexpr uint64_t hugePage = uint64_t(2) << 20;
constexpr uint64_t staggerBytes = 257 * 1024; // odd multiple of 1 KiB: other sets in L1 and L2, still 64-byte aligned

/// Text of a small kernel file; its size is reported as 0, so it is read until it ends.
std::string kernelText(const std::string &path) {
  std::string text;
  if (FILE *file = std::fopen(path.c_str(), "re")) {
    char buffer[4096];
    size_t count;
    while (text.size() < (1 << 16) && (count = std::fread(buffer, 1, sizeof buffer, file)) > 0)
      text.append(buffer, count);
    std::fclose(file);
  }
  return text;
}

std::optional<uint64_t> firstNumber(std::string_view text) {
  size_t start = text.find_first_of("0123456789");
  if (start == std::string_view::npos || text.substr(0, 3) == "max")
    return std::nullopt;
  uint64_t value = 0;
  auto result = std::from_chars(text.data() + start, text.data() + text.size(), value);
  return result.ec == std::errc() ? std::optional<uint64_t>(value) : std::nullopt;
}

std::optional<uint64_t> fieldOf(const std::string &text, std::string_view key) {
  size_t at = text.find(key);
  return at == std::string::npos ? std::nullopt : firstNumber(std::string_view(text).substr(at + key.size()));
}

/// What one memory cgroup still allows; nullopt without a limit.
std::optional<uint64_t> cgroupRoom(const std::string &folder, const char *limitName, const char *usedName) {
  auto limit = firstNumber(kernelText(folder + limitName));
  auto used = firstNumber(kernelText(folder + usedName));
  if (!limit || !used || *limit > (uint64_t(1) << 60)) // v1 writes a huge number for "no limit"
    return std::nullopt;
  // Pages of files are counted as used although they can be dropped.
  std::string statistics = kernelText(folder + "memory.stat");
  auto cache = fieldOf(statistics, "\ninactive_file ");
  uint64_t busy = *used - std::min(*used, cache.value_or(0));
  return *limit - std::min(*limit, busy);
}

uint64_t sumOf(const std::vector<MemoryItem> &items) {
  uint64_t sum = 0;
  for (const MemoryItem &item : items)
    sum = checkedAdd(sum, item.bytes).value_or(UINT64_MAX);
  return sum;
}
} // namespace

std::string readableBytes(uint64_t bytes) {
  char buffer[32];
  if (bytes >= uint64_t(1) << 30)
    std::snprintf(buffer, sizeof buffer, "%.3f GiB", static_cast<double>(bytes) / (1 << 30));
  else if (bytes >= uint64_t(1) << 20)
    std::snprintf(buffer, sizeof buffer, "%.2f MiB", static_cast<double>(bytes) / (1 << 20));
  else if (bytes >= 1024)
    std::snprintf(buffer, sizeof buffer, "%.2f KiB", static_cast<double>(bytes) / 1024);
  else
    std::snprintf(buffer, sizeof buffer, "%u B", static_cast<unsigned>(bytes));
  return buffer;
}

Arena::Arena(Arena &&other) noexcept { *this = std::move(other); }

Arena &Arena::operator=(Arena &&other) noexcept {
  std::swap(mapping, other.mapping);
  std::swap(mappingBytes, other.mappingBytes);
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
  return *this;
}

Arena::~Arena() {
  if (mapping)
    munmap(mapping, mappingBytes);
}

Expected<Arena> Arena::allocate(uint64_t bytes, unsigned staggerSteps, const char *purpose) {
  // Small arenas gain nothing from huge pages; a whole one per context would only cost memory.
  bool huge = bytes >= hugePage;
  uint64_t stagger = huge ? staggerSteps * staggerBytes : 0;
  auto payload = checkedAdd(bytes, stagger + 64);
  auto total = payload ? checkedAlign(*payload, huge ? hugePage : 4096) : std::nullopt;
  if (total && huge)
    total = checkedAdd(*total, hugePage);
  if (!total || *total > (uint64_t(1) << 47))
    return resourceError(purpose, " needs ", bytes, " bytes, more than the address space");
  void *mapping = mmap(nullptr, *total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return resourceError("not enough memory for ", purpose, ": ", readableBytes(bytes), " (", systemMessage(errno), ")");
  Arena arena;
  arena.mapping = mapping;
  arena.mappingBytes = *total;
  arena.bytes = bytes;
  uintptr_t base = reinterpret_cast<uintptr_t>(mapping);
  if (huge) {
    base = (base + hugePage - 1) & ~(hugePage - 1);
    madvise(reinterpret_cast<void *>(base), static_cast<size_t>(*total - hugePage), MADV_HUGEPAGE); // advice only
  }
  arena.begin = reinterpret_cast<char *>(base + stagger);
  return arena;
}

uint64_t peakResidentBytes() {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

uint64_t availableBytes() {
  auto system = fieldOf(kernelText("/proc/meminfo"), "MemAvailable:");
  if (!system)
    return 0;
  uint64_t available = *system * 1024;
  // Every cgroup from the process's own up to the root may have a limit. Lines: "0::/path" (v2), "5:memory:/path" (v1).
  std::string groups = kernelText("/proc/self/cgroup");
  for (size_t start = 0; start < groups.size();) {
    size_t end = std::min(groups.find('\n', start), groups.size());
    std::string line = groups.substr(start, end - start);
    start = end + 1;
    bool second = line.rfind("0::", 0) == 0;
    size_t first = line.find(":memory:");
    if (!second && first == std::string::npos)
      continue;
    std::string folder = second ? line.substr(3) : line.substr(first + 8);
    for (;;) {
      std::string full = (second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory") + folder + (folder == "/" ? "" : "/");
      auto room = second ? cgroupRoom(full, "memory.max", "memory.current")
                         : cgroupRoom(full, "memory.limit_in_bytes", "memory.usage_in_bytes");
      available = std::min(available, room.value_or(available));
      size_t slash = folder.rfind('/');
      if (slash == std::string::npos || folder == "/")
        break;
      folder = slash == 0 ? "/" : folder.substr(0, slash);
    }
  }
  return available;
}

/// One line per item and the sum, for the user.
static std::string memoryTable(const std::vector<MemoryItem> &items) {
  std::string table;
  size_t width = 24;
  for (const MemoryItem &item : items)
    width = std::max(width, item.name.size());
  auto line = [&](std::string name, uint64_t bytes) {
    name.resize(width, ' ');
    std::string size = readableBytes(bytes);
    table += concat("  ", name, std::string(14 - std::min<size_t>(14, size.size()), ' '), size, '\n');
  };
  for (const MemoryItem &item : items)
    line(item.name, item.bytes);
  line("sum", sumOf(items));
  return table;
}

Status checkMemory(const std::vector<MemoryItem> &items, uint64_t available) {
  const uint64_t sum = sumOf(items);
  if (available == 0 || sum <= available)
    return {};
  return resourceError("not enough memory: ", readableBytes(sum), " needed, ", readableBytes(available), " available\n",
                       memoryTable(items));
}

} // namespace tenon::runtime
