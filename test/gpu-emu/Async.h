// Copies that arrive later than they are issued: cp.async and its groups, bulk copies and their barriers.
#pragma once
#include "Machine.h"

namespace tenon::emu {
void resetAsync();
void resetMbarriers();
/// When a thread has returned: copies that nobody waits for any more.
void exitAsync(const Thread &thread);
void resetProducts();
void exitProducts(const Thread &thread);
/// Lets arrive what nobody has to wait for; false if there was nothing.
bool deliverCopies();
/// Bytes of a bulk copy that are neighbours on both sides; those behind `fromSource` become zero.
struct Segment {
  uint64_t to, from;
  uint32_t bytes, fromSource;
};
/// Starts a bulk copy, whose bytes arrive at an mbarrier.
void issueBulk(const Site &site, uint64_t barrier, std::vector<Segment> segments);
/// When all threads of a block have returned.
void checkEndOfBlock();
} // namespace tenon::emu
