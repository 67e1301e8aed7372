// Copies between the host and a GPU by way of pinned memory, which the driver neither copies again nor waits for.
#pragma once
#include "runtime/cuda/Driver.h"

namespace tenon::runtime::cuda {

/// All copies are work of one stream.
class Staging {
public:
  static constexpr size_t kPieceBytes = size_t(1) << 20;
  Staging(const Driver &driver) : driver(driver) {}
  /// Of the current context; held as long as the process lives.
  Result start(Handle stream);
  /// `from` may change after the return. Waits only for room: for what was copied two pieces before.
  Result copyIn(Address to, const void *from, size_t bytes);
  /// Waits for the bytes.
  Result copyOut(void *to, Address from, size_t bytes);

private:
  Result turn();
  const Driver &driver;
  Handle stream = nullptr;
  char *pinned = nullptr; // two pieces that go in, in turn, one that comes out
  Handle left[2] = {};    // the event behind the last copy out of each of the two
  bool isRecorded[2] = {};
  unsigned filling = 0; // which of the two
  size_t filled = 0;    // bytes of it
};

} // namespace tenon::runtime::cuda
