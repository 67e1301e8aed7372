#include "Barriers.h"
#include "Fiber.h"
#include "Models.h"
#include "Shadow.h"
#include <cstring>

namespace tenon::emu {
namespace {

struct Barrier {
  uint32_t expected = 0, arrived = 0;
  uint32_t votes = 0; // of a reduction: arguments that are true
  std::vector<uint32_t> waiting;
  Sync order;
};
Barrier barriers[kBarriers];

void empty(Barrier &barrier) {
  barrier.expected = barrier.arrived = barrier.votes = 0;
  barrier.waiting.clear();
  barrier.order.clear();
}

/// `.aligned`: the lanes of a warp come by the same instruction.
void checkAligned(const Barrier &barrier, const Site &site) {
  for (size_t i = 1; i < barrier.waiting.size(); ++i) {
    const Thread &one = machine.threads[barrier.waiting[i - 1]], &other = machine.threads[barrier.waiting[i]];
    if (one.warp == other.warp && one.at != other.at)
      report("divergent barrier", "lanes of one warp meet at " + placeOf(*one.at) + " and at " + placeOf(*other.at));
  }
}

void release(Barrier &barrier, const Site &site, uint32_t self) {
  if (barrier.waiting.empty())
    report("wrong barrier",
           std::to_string(barrier.expected) + " threads arrive and none waits for them, the last one at " + placeOf(site));
  if (site.model->parameter & kAligned)
    checkAligned(barrier, site);
  const uint32_t votes = barrier.votes, all = barrier.expected;
  ++machine.barriers;
  for (uint32_t thread : barrier.waiting) {
    Thread &waiting = machine.threads[thread];
    const int what = waiting.at->model->parameter & kReduction;
    const bool truth = what == kAnd ? votes == all : votes != 0;
    if (what == kPopulation)
      memcpy(waiting.result, &votes, sizeof votes);
    else if (what)
      memcpy(waiting.result, &truth, sizeof truth);
    waiting.at = nullptr;
    if (machine.mode.checked)
      barrier.order.take(thread, true);
    if (thread != self)
      wake(thread);
  }
  empty(barrier);
}

/// `count`: 0 for all threads of the block.
void arrive(const Site &site, uint32_t id, uint32_t count, bool waits, bool vote, void *result) {
  Thread &thread = *machine.current;
  if (id >= kBarriers)
    fail("wrong barrier", nameOf(thread) + " names barrier " + std::to_string(id) + " of 16 at " + placeOf(site));
  if (count % kWarp != 0 || count > (machine.threads.size() + kWarp - 1) / kWarp * kWarp)
    fail("wrong barrier", nameOf(thread) + " waits for " + std::to_string(count) +
                              " threads, which is no multiple of 32 or more " + "than the block has, at " + placeOf(site));
  const uint32_t expected = count ? count : machine.threads.size();
  Barrier &barrier = barriers[id];
  if (barrier.arrived && barrier.expected != expected)
    fail("wrong barrier", nameOf(thread) + " comes to barrier " + std::to_string(id) + " for " + std::to_string(expected) +
                              " threads, others for " + std::to_string(barrier.expected) + ", at " + placeOf(site));
  barrier.expected = expected;
  ++barrier.arrived;
  barrier.votes += vote;
  if (machine.mode.checked)
    barrier.order.add(thread.index);
  if (waits) {
    thread.at = &site;
    thread.result = result;
    barrier.waiting.push_back(thread.index);
  }
  if (barrier.arrived == expected) {
    release(barrier, site, thread.index);
    yieldFiber();
  } else if (waits) {
    park();
  }
}

} // namespace

void exitBarriers() {
  for (size_t id = 0; id < kBarriers; ++id)
    if (barriers[id].arrived)
      report("wrong barrier", "a block ends while barrier " + std::to_string(id) + " has " +
                                  std::to_string(barriers[id].arrived) + " of " + std::to_string(barriers[id].expected) +
                                  " threads");
}

void resetBarriers() {
  for (Barrier &barrier : barriers)
    if (barrier.arrived)
      empty(barrier);
}

void opBarrier(const Site &site, const uint64_t *arguments, void *result) {
  const int form = site.model->parameter;
  const bool counted = form & kCounted;
  const uint32_t count = counted ? uint32_t(arguments[1]) : 0;
  if (counted && count == 0)
    fail("wrong barrier", nameOf(*machine.current) + " waits for 0 threads at " + placeOf(site));
  const bool vote = (form & kReduction) && (arguments[1 + counted] & 1);
  arrive(site, uint32_t(arguments[0]), count, !(form & kArrives), vote, result);
}

} // namespace tenon::emu
