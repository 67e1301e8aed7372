// Barriers that are objects in shared memory, and bulk copies that arrive at them.
#include "Async.h"
#include "Fiber.h"
#include "Memory.h"
#include "Models.h"
#include "Shadow.h"
#include <algorithm>
#include <deque>
#include <map>

namespace tenon::emu {
namespace {

struct Mbarrier {
  uint32_t count = 0, pending = 0; // arrivals of a phase, and those that are missing
  int64_t bytes = 0;               // that are expected and have not come
  uint64_t phase = 0;              // how many are complete
  std::vector<uint32_t> waiting;
  Sync current, complete;       // of this phase and of the last one
  uint32_t made = 0, maker = 0; // epoch of its initialisation, and the thread
  bool isShown = false;         // by a fence for barriers
};
std::map<uint64_t, Mbarrier> mbarriers; // by address

struct BulkCopy {
  const Site *site;
  uint64_t barrier;
  std::vector<Segment> segments;
};
std::deque<BulkCopy> flying;

Mbarrier &barrierAt(const Site &site, uint64_t address) {
  const auto found = mbarriers.find(address);
  if (found == mbarriers.end())
    fail("wrong barrier", nameOf(*machine.current) + " uses an mbarrier that is not initialised, at " + placeOf(site));
  return found->second;
}

void completeIfDone(Mbarrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.complete.clear();
  std::swap(barrier.complete, barrier.current);
  for (uint32_t thread : barrier.waiting)
    wake(thread);
  barrier.waiting.clear();
}

void arrive(const Site &site, Mbarrier &barrier, uint32_t arrivals, uint32_t bytes, void *result) {
  if (barrier.pending < arrivals)
    fail("wrong barrier", nameOf(*machine.current) + " arrives where " + std::to_string(barrier.count) +
                              " have arrived and the phase waits for bytes alone, at " + placeOf(site));
  give(result, barrier.phase);
  if (machine.mode.checked)
    barrier.current.add(machine.current->index);
  barrier.bytes += bytes;
  barrier.pending -= arrivals;
  completeIfDone(barrier);
}

/// One that has arrived; its bytes are counted.
void deliver(const BulkCopy &copy) {
  const auto found = mbarriers.find(copy.barrier);
  if (found == mbarriers.end())
    fail("wrong barrier", "a copy arrives at an mbarrier that is gone, that of " + placeOf(*copy.site));
  Mbarrier &barrier = found->second;
  for (const Segment &segment : copy.segments) {
    memcpy(reinterpret_cast<void *>(segment.to), reinterpret_cast<const void *>(segment.from), segment.fromSource);
    memset(reinterpret_cast<char *>(segment.to) + segment.fromSource, 0, segment.bytes - segment.fromSource);
    if (machine.mode.checked)
      shadowDelivered(*copy.site, segment.to, segment.bytes);
    barrier.bytes -= segment.bytes;
  }
  if (machine.mode.checked)
    barrier.current.addCopies();
  completeIfDone(barrier);
}

} // namespace

void resetMbarriers() {
  for (auto &[address, barrier] : mbarriers) {
    barrier.current.clear();
    barrier.complete.clear();
  }
  mbarriers.clear();
  flying.clear();
}

void issueBulk(const Site &site, uint64_t barrier, std::vector<Segment> segments) {
  const Thread &thread = *machine.current;
  const Mbarrier &meant = barrierAt(site, barrier);
  if (machine.mode.checked) {
    if (!meant.isShown && !engineSees(meant.made, thread.index))
      report("proxy", "the mbarrier of the copy at " + placeOf(site) +
                          " was initialised without a fence that shows it to the engine of copies");
    for (const Segment &segment : segments) {
      if (segment.fromSource)
        shadowRead(site, thread, segment.from, segment.fromSource);
      shadowPending(site, thread, segment.to, segment.bytes);
    }
  }
  const BulkCopy copy = {&site, barrier, std::move(segments)};
  if (!machine.mode.late)
    return deliver(copy);
  for (const Segment &segment : copy.segments)
    memset(reinterpret_cast<void *>(segment.to), 0xff, segment.bytes);
  flying.push_back(copy);
}

bool deliverCopies() {
  if (flying.empty())
    return false;
  const size_t next = machine.mode.order == Order::Random ? machine.draw() % flying.size() : 0; // in any order
  const BulkCopy copy = flying[next];
  flying.erase(flying.begin() + next);
  deliver(copy);
  return true;
}

void checkEndOfBlock() {
  if (!flying.empty())
    report("unfinished copy", "a block ends before its copy arrives, that of " + placeOf(*flying.front().site));
}

void opMbarrierInit(const Site &site, const uint64_t *arguments, void *) {
  const uint32_t count = argument<uint32_t>(arguments, 1);
  if (!inArena(arguments[0]) || arguments[0] % 8 || count == 0 || count >= 1u << 20)
    fail("wrong barrier", nameOf(*machine.current) +
                              " makes an mbarrier that is not in shared memory, not aligned to 8 bytes or for " +
                              std::to_string(count) + " arrivals, at " + placeOf(site));
  Mbarrier &barrier = mbarriers[arguments[0]];
  if (!barrier.waiting.empty())
    fail("wrong barrier", nameOf(*machine.current) + " initialises an mbarrier at which others wait, at " + placeOf(site));
  barrier.count = barrier.pending = count;
  barrier.bytes = 0;
  barrier.phase = 0;
  barrier.maker = machine.current->index;
  barrier.made = machine.mode.checked ? epochOf(barrier.maker) : 0;
  barrier.isShown = false;
}

void opFenceBarriers(const Site &, const uint64_t *, void *) {
  for (auto &[address, barrier] : mbarriers)
    barrier.isShown |= barrier.maker == machine.current->index;
}

void opFenceProxy(const Site &, const uint64_t *, void *) {
  if (machine.mode.checked)
    fenceProxy(machine.current->index);
}

void opMbarrierInvalidate(const Site &site, const uint64_t *arguments, void *) {
  barrierAt(site, arguments[0]);
  mbarriers.erase(arguments[0]);
}

// The parameter says what the second argument is: nothing, arrivals, or bytes.
void opMbarrierArrive(const Site &site, const uint64_t *arguments, void *result) {
  const int form = site.model->parameter;
  const uint32_t number = form ? argument<uint32_t>(arguments, 1) : 0;
  arrive(site, barrierAt(site, arguments[0]), form == kArrivals ? number : 1, form == kBytes ? number : 0, result);
}

void opMbarrierExpect(const Site &site, const uint64_t *arguments, void *) {
  barrierAt(site, arguments[0]).bytes += argument<uint32_t>(arguments, 1);
}

// Waits until the phase is complete, though hardware may return false at any time; so does this, with random orders.
void opMbarrierWait(const Site &site, const uint64_t *arguments, void *result) {
  Mbarrier &barrier = barrierAt(site, arguments[0]);
  Thread &thread = *machine.current;
  const uint64_t parity = arguments[1] & 1; // of a phase, which a token is the number of
  if (machine.mode.order == Order::Random && machine.draw() % 4 == 0) {
    yieldFiber();
    give(result, false);
    return;
  }
  while ((barrier.phase & 1) == parity) {
    thread.at = &site;
    barrier.waiting.push_back(thread.index);
    park();
  }
  thread.at = nullptr;
  if (machine.mode.checked)
    barrier.complete.take(thread.index, false);
  give(result, true);
}

void opBulkCopy(const Site &site, const uint64_t *arguments, void *) {
  const uint64_t to = arguments[0], from = arguments[2];
  const uint32_t bytes = argument<uint32_t>(arguments, 3);
  const Thread &thread = *machine.current;
  if (to % 16 || from % 16 || bytes % 16 || bytes == 0)
    fail("misaligned", nameOf(thread) + " copies " + std::to_string(bytes) +
                           " bytes, of which and of whose addresses not all are multiples of 16, at " + placeOf(site));
  issueBulk(site, arguments[1], {{to, from, bytes, bytes}});
}

} // namespace tenon::emu
