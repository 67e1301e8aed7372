// What the lanes of a warp do together: shuffles, votes, reductions.
#include "Fiber.h"
#include "Models.h"
#include "Shadow.h"
#include <algorithm>

namespace tenon::emu {
namespace {

template <typename Visit> void eachLane(uint32_t warp, uint32_t mask, Visit visit) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    visit(threadOf(warp, __builtin_ctz(rest)));
}

/// The lane that `lane` reads from, and whether that lies in its segment, by PTX's definition of shfl: `c` holds the clamp in
/// bits 0 to 4 and the mask of segments in bits 8 to 12.
std::pair<int, bool> sourceLane(int form, int lane, int b, uint32_t c) {
  const int clamp = c & 31, segment = c >> 8 & 31;
  b &= 31;
  const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  int from = lane;
  bool inside = false;
  switch (form & kShuffle) {
  case kUp:
    from = lane - b;
    inside = from >= most;
    break;
  case kDown:
    from = lane + b;
    inside = from <= most;
    break;
  case kButterfly:
    from = lane ^ b;
    inside = from <= most;
    break;
  case kIndex:
    from = least | (b & ~segment);
    inside = from <= most;
    break;
  }
  return {inside ? from : lane, inside};
}

void shuffle(const Site &site, uint32_t warp, uint32_t mask) {
  const int form = site.model->parameter;
  eachLane(warp, mask, [&](Thread &thread) {
    const auto [from, inside] =
        sourceLane(form, thread.lane, argument<int32_t>(thread.arguments, 2), argument<uint32_t>(thread.arguments, 3));
    uint32_t result[2] = {~0u, inside};
    if (mask >> from & 1)
      result[0] = argument<uint32_t>(threadOf(warp, from).arguments, 1);
    else
      report("undefined shuffle",
             nameOf(thread) + " reads lane " + std::to_string(from) + ", which takes no part, at " + placeOf(site));
    memcpy(thread.result, result, form & kWithPredicate ? 5 : 4);
  });
}

void vote(const Site &site, uint32_t warp, uint32_t mask) {
  uint32_t ballot = 0;
  eachLane(warp, mask, [&](Thread &thread) { ballot |= uint32_t(thread.arguments[1] & 1) << thread.lane; });
  const bool truths[] = {ballot == mask, ballot != 0, ballot == mask || ballot == 0};
  eachLane(warp, mask, [&](Thread &thread) {
    if (site.model->parameter == kVoteBallot)
      give(thread.result, ballot);
    else
      give(thread.result, truths[site.model->parameter]);
  });
}

struct Elected {
  uint32_t lane;
  bool self;
};

void elect(const Site &, uint32_t warp, uint32_t mask) {
  uint32_t chosen = __builtin_ctz(mask);
  if (machine.mode.order == Order::Random)
    do
      chosen = machine.draw() % kWarp;
    while (!(mask >> chosen & 1));
  eachLane(warp, mask, [&](Thread &thread) { give(thread.result, Elected{chosen, thread.lane == chosen}); });
}

uint32_t reduced(int form, uint32_t a, uint32_t b) {
  switch (form) {
  case kReduxMinU:
    return std::min(a, b);
  case kReduxMaxU:
    return std::max(a, b);
  case kReduxMinS:
    return std::min(int32_t(a), int32_t(b));
  case kReduxMaxS:
    return std::max(int32_t(a), int32_t(b));
  case kReduxAnd:
    return a & b;
  case kReduxOr:
    return a | b;
  case kReduxXor:
    return a ^ b;
  }
  return a + b;
}

void redux(const Site &site, uint32_t warp, uint32_t mask) {
  uint32_t sum = argument<uint32_t>(threadOf(warp, __builtin_ctz(mask)).arguments, 0);
  eachLane(warp, mask & (mask - 1),
           [&](Thread &thread) { sum = reduced(site.model->parameter, sum, argument<uint32_t>(thread.arguments, 0)); });
  eachLane(warp, mask, [&](Thread &thread) { give(thread.result, sum); });
}

void matchAny(const Site &site, uint32_t warp, uint32_t mask) {
  const size_t bytes = site.model->parameter;
  eachLane(warp, mask, [&](Thread &thread) {
    uint32_t same = 0;
    eachLane(warp, mask, [&](Thread &other) {
      same |= uint32_t(memcmp(thread.arguments + 1, other.arguments + 1, bytes) == 0) << other.lane;
    });
    give(thread.result, same);
  });
}

void warpSync(const Site &, uint32_t warp, uint32_t mask) {
  if (!machine.mode.checked)
    return;
  Sync order;
  eachLane(warp, mask, [&](Thread &thread) { order.add(thread.index); });
  eachLane(warp, mask, [&](Thread &thread) { order.take(thread.index, true); });
  order.clear();
}

} // namespace

void opShuffle(const Site &site, const uint64_t *arguments, void *result) {
  meet(site, argument<uint32_t>(arguments, 0), arguments, result, shuffle);
}

void opVote(const Site &site, const uint64_t *arguments, void *result) {
  meet(site, argument<uint32_t>(arguments, 0), arguments, result, vote);
}

void opElect(const Site &site, const uint64_t *arguments, void *result) {
  meet(site, argument<uint32_t>(arguments, 0), arguments, result, elect);
}

void opRedux(const Site &site, const uint64_t *arguments, void *result) {
  meet(site, argument<uint32_t>(arguments, 1), arguments, result, redux);
}

void opMatchAny(const Site &site, const uint64_t *arguments, void *result) {
  meet(site, argument<uint32_t>(arguments, 0), arguments, result, matchAny);
}

void opWarpSync(const Site &site, const uint64_t *arguments, void *result) {
  meet(site, argument<uint32_t>(arguments, 0), arguments, result, warpSync);
}

// The lanes that have not ended: more than hardware promises, and less than what any program may rely on.
void opActiveMask(const Site &, const uint64_t *, void *result) {
  const Warp &warp = machine.warps[machine.current->warp];
  give(result, warp.lanes & ~warp.exited);
}

void opNanosleep(const Site &, const uint64_t *, void *) { yieldFiber(); }

} // namespace tenon::emu
