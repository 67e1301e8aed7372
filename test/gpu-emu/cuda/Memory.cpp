// Memory of the device, pinned memory of the host, copies.
#include "../Memory.h"
#include "../Shadow.h"
#include "Driver.h"
#include <cstdlib>
#include <cstring>

namespace tenon::emu::cuda {
namespace {

bool isPinned(const void *address, size_t bytes) {
  const auto &pinned = driver().pinned;
  auto next = pinned.upper_bound(static_cast<char *>(const_cast<void *>(address)));
  if (next == pinned.begin())
    return false;
  const auto &[begin, size] = *std::prev(next);
  return static_cast<const char *>(address) + bytes <= begin + size;
}

bool inBuffer(uint64_t address, size_t bytes) {
  const Buffer *buffer = bufferAt(address);
  return bytes == 0 || (buffer && buffer->contains(address, bytes));
}

/// Of bytes that a call names and that must lie within one buffer.
Result outside(const char *call, uint64_t address, size_t bytes) {
  const Buffer *buffer = bufferAt(address);
  std::string where = "lie in no buffer of the device";
  if (buffer && buffer->contains(address, 0))
    where = "begin at byte " + std::to_string(address - buffer->begin) + " of a buffer of " + std::to_string(buffer->bytes);
  return complain(kInvalidValue, std::string(call) + ": its " + std::to_string(bytes) + " bytes " + where);
}

/// Checked again when it is done: a graph may outlive a buffer.
Result copied(void *to, const void *from, size_t bytes, uint64_t ofDevice, uint64_t alsoOfDevice) {
  if (!inBuffer(ofDevice, bytes) || !inBuffer(alsoOfDevice, bytes))
    return complain(kIllegalAddress, "a copy of " + std::to_string(bytes) + " bytes from or to a buffer that has been freed");
  memmove(to, from, bytes);
  ++driver().copies;
  driver().copiedBytes += bytes;
  return kSuccess;
}

} // namespace

TENON_CUDA_API Result cuMemGetInfo_v2(size_t *unused, size_t *total) {
  TENON_CUDA_ENTER;
  *total = machine.mode.memory;
  *unused = *total - allocatedBytes();
  return kSuccess;
}

TENON_CUDA_API Result cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  TENON_CUDA_ENTER;
  if (bytes == 0)
    return complain(kInvalidValue, "cuMemAlloc: 0 bytes");
  if (spoilCaptures())
    return complain(kCaptureUnsupported, "cuMemAlloc during a capture");
  *address = allocateBuffer(bytes, machine.mode.memory);
  return *address ? kSuccess : kOutOfMemory;
}

TENON_CUDA_API Result cuMemFree_v2(uint64_t address) {
  std::lock_guard lock(driver().mutex);
  if (address == 0)
    return kSuccess;
  if (!driver().sticky) {
    if (Result wrong = entryCheck())
      return wrong;
    if (Result wrong = drainAll())
      return wrong;
  }
  if (!freeBuffer(address))
    return complain(kInvalidValue, "cuMemFree: no buffer begins there");
  shadowForget(address);
  return driver().sticky;
}

TENON_CUDA_API Result cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  TENON_CUDA_ENTER;
  if (bytes == 0)
    return complain(kInvalidValue, "cuMemHostAlloc: 0 bytes");
  *address = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*address)
    return kOutOfMemory;
  driver().pinned[static_cast<char *>(*address)] = bytes;
  return kSuccess;
}

TENON_CUDA_API Result cuMemFreeHost(void *address) {
  std::lock_guard lock(driver().mutex);
  if (!driver().sticky)
    if (Result wrong = drainAll())
      return wrong;
  if (!driver().pinned.erase(static_cast<char *>(address)))
    return complain(kInvalidValue, "cuMemFreeHost: this is no memory of cuMemHostAlloc");
  free(address);
  return driver().sticky;
}

TENON_CUDA_API Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *handle) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  if (!stream)
    return complain(kInvalidHandle, "cuMemcpyHtoDAsync: this is no stream");
  if (!inBuffer(to, bytes))
    return outside("cuMemcpyHtoDAsync", to, bytes);
  void *place = reinterpret_cast<void *>(to);
  if (isPinned(from, bytes) || stream->capture) // read when it is done, so it must not change before
    return tell(*stream, [=] { return copied(place, from, bytes, to, to); });
  const std::vector<char> staged(static_cast<const char *>(from), static_cast<const char *>(from) + bytes);
  return tell(*stream, [=] { return copied(place, staged.data(), bytes, to, to); });
}

TENON_CUDA_API Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *handle) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  if (!stream)
    return complain(kInvalidHandle, "cuMemcpyDtoHAsync: this is no stream");
  if (!inBuffer(from, bytes))
    return outside("cuMemcpyDtoHAsync", from, bytes);
  const Result told = tell(*stream, [=] { return copied(to, reinterpret_cast<const void *>(from), bytes, from, from); });
  if (told || stream->capture || isPinned(to, bytes))
    return told;
  return drain(*stream); // into pageable memory it is done when it returns
}

TENON_CUDA_API Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *handle) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  if (!stream)
    return complain(kInvalidHandle, "cuMemcpyDtoDAsync: this is no stream");
  if (!inBuffer(to, bytes) || !inBuffer(from, bytes))
    return outside("cuMemcpyDtoDAsync", inBuffer(to, bytes) ? from : to, bytes);
  return tell(*stream,
              [=] { return copied(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes, to, from); });
}

TENON_CUDA_API Result cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *handle) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(handle);
  if (!stream)
    return complain(kInvalidHandle, "cuMemsetD8Async: this is no stream");
  if (!inBuffer(to, bytes))
    return outside("cuMemsetD8Async", to, bytes);
  return tell(*stream, [=]() -> Result {
    if (!inBuffer(to, bytes))
      return complain(kIllegalAddress, "a fill of a buffer that has been freed");
    memset(reinterpret_cast<void *>(to), value, bytes);
    return kSuccess;
  });
}

} // namespace tenon::emu::cuda
