#include "Memory.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstring>
#include <map>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace tenon::emu {
namespace {

constexpr uint64_t kPage = 4096, kAlign = 256;
constexpr uint64_t kRegion = uint64_t(1) << 40, kRegionHint = uint64_t(0x2000) << 32; // address space, not memory

uint64_t region = 0, regionEnd = 0; // where the next buffer's pages begin
std::map<uint64_t, Buffer> buffers; // by their begin
uint64_t total = 0;
unsigned openings = 0;

void *reserve(uint64_t hint, uint64_t bytes) {
  void *place = mmap(reinterpret_cast<void *>(hint), bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (hint ? MAP_FIXED_NOREPLACE : 0), -1, 0);
  if (place != MAP_FAILED && hint && place != reinterpret_cast<void *>(hint)) { // a kernel that does not know the flag
    munmap(place, bytes);
    return MAP_FAILED;
  }
  return place;
}

std::pair<void *, uint64_t> pagesOf(const Buffer &buffer) {
  const uint64_t begin = buffer.begin & ~(kPage - 1);
  return {reinterpret_cast<void *>(begin), (buffer.begin + buffer.bytes - begin + kPage - 1) & ~(kPage - 1)};
}

void protect(const Buffer &buffer, bool open) {
  const auto [begin, bytes] = pagesOf(buffer);
  if (mprotect(begin, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
    llvm::report_fatal_error("gpu-emu: the memory of a buffer cannot be opened");
}

} // namespace

uintptr_t sharedArena() {
  static const uintptr_t arena = [] {
    for (uint64_t hint = 0x10000000; hint < 0x70000000; hint += 0x1000000) {
      void *place = reserve(hint, kArena + 2 * kArena);
      if (place == MAP_FAILED)
        continue;
      char *begin = static_cast<char *>(place) + kArena;
      if (mprotect(begin, kArena, PROT_READ | PROT_WRITE) == 0)
        return reinterpret_cast<uintptr_t>(begin);
    }
    llvm::report_fatal_error("gpu-emu: no free addresses below 2 GiB for shared memory");
  }();
  return arena;
}

uint64_t allocateBuffer(uint64_t bytes, uint64_t limit) {
  if (!region) {
    void *place = reserve(kRegionHint, kRegion);
    if (place == MAP_FAILED)
      place = reserve(0, kRegion);
    if (place == MAP_FAILED)
      llvm::report_fatal_error("gpu-emu: no addresses for the memory of the device");
    region = regionEnd = reinterpret_cast<uint64_t>(place);
  }
  if (bytes > limit || total > limit - bytes)
    return 0;
  const uint64_t rounded = (bytes + kAlign - 1) & ~(kAlign - 1);
  const uint64_t pages = (rounded + kPage - 1) & ~(kPage - 1);
  if (regionEnd + kPage + pages > region + kRegion)
    return 0;
  const uint64_t begin = regionEnd + kPage + pages - rounded;
  regionEnd += kPage + pages;
  const Buffer buffer = {begin, bytes};
  protect(buffer, true);
  memset(reinterpret_cast<void *>(begin), 0xff, bytes);
  if (openings == 0)
    protect(buffer, false);
  buffers[begin] = buffer;
  total += bytes;
  return begin;
}

bool freeBuffer(uint64_t address) {
  const auto found = buffers.find(address);
  if (found == buffers.end())
    return false;
  const auto [begin, bytes] = pagesOf(found->second);
  madvise(begin, bytes, MADV_DONTNEED);
  mprotect(begin, bytes, PROT_NONE);
  total -= found->second.bytes;
  buffers.erase(found);
  return true;
}

const Buffer *bufferAt(uint64_t address) {
  auto found = buffers.upper_bound(address);
  return found == buffers.begin() ? nullptr : &std::prev(found)->second;
}

std::vector<Buffer> allBuffers() {
  std::vector<Buffer> all;
  for (const auto &[begin, buffer] : buffers)
    all.push_back(buffer);
  return all;
}

uint64_t allocatedBytes() { return total; }

bool isDeviceAddress(uint64_t address) { return region && address >= region && address < region + kRegion; }

OpenMemory::OpenMemory() {
  if (openings++ == 0)
    for (const auto &[begin, buffer] : buffers)
      protect(buffer, true);
}

OpenMemory::~OpenMemory() {
  if (--openings == 0)
    for (const auto &[begin, buffer] : buffers)
      protect(buffer, false);
}

} // namespace tenon::emu
