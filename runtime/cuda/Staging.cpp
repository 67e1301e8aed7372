#include "runtime/cuda/Staging.h"
#include <algorithm>
#include <cstring>

namespace tenon::runtime::cuda {

Result Staging::start(Handle ofDevice) {
  stream = ofDevice;
  void *memory = nullptr;
  Result result = driver.cuMemHostAlloc(&memory, 3 * kPieceBytes, 0);
  pinned = static_cast<char *>(memory);
  for (int i = 0; i < 2 && result == kSuccess; ++i)
    result = driver.cuEventCreate(&left[i], kEventWithoutTime);
  return result;
}

/// To the other piece, when what was copied out of it has left.
Result Staging::turn() {
  Result result = driver.cuEventRecord(left[filling], stream);
  isRecorded[filling] = true;
  filling ^= 1;
  filled = 0;
  if (result == kSuccess && isRecorded[filling])
    result = driver.cuEventSynchronize(left[filling]);
  return result;
}

Result Staging::copyIn(Address to, const void *from, size_t bytes) {
  constexpr size_t kAlignment = 64;
  for (size_t done = 0; done < bytes;) {
    if (filled == kPieceBytes)
      if (Result failed = turn())
        return failed;
    char *const place = pinned + filling * kPieceBytes + filled;
    const size_t count = std::min(bytes - done, kPieceBytes - filled);
    std::memcpy(place, static_cast<const char *>(from) + done, count);
    if (Result failed = driver.cuMemcpyHtoDAsync_v2(to + done, place, count, stream))
      return failed;
    filled += std::min((count + kAlignment - 1) / kAlignment * kAlignment, kPieceBytes - filled);
    done += count;
  }
  return kSuccess;
}

Result Staging::copyOut(void *to, Address from, size_t bytes) {
  char *const place = pinned + 2 * kPieceBytes;
  for (size_t done = 0; done < bytes; done += kPieceBytes) {
    const size_t count = std::min(bytes - done, kPieceBytes);
    Result result = driver.cuMemcpyDtoHAsync_v2(place, from + done, count, stream);
    if (result == kSuccess)
      result = driver.cuStreamSynchronize(stream);
    if (result != kSuccess)
      return result;
    std::memcpy(static_cast<char *>(to) + done, place, count);
  }
  return kSuccess;
}

} // namespace tenon::runtime::cuda
