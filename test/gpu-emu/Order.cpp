#include "Order.h"
#include <algorithm>
#include <memory>

namespace tenon::emu {

constexpr uint32_t kMost = kMostThreads + 1 + kMostThreads / kWarp; // with the engines

/// What a thread knows of the others: for each the clock up to which it is behind it. Shared between threads, and not changed
/// once it is.
struct Clocks {
  uint32_t users = 0;
  uint32_t of[kMost]; // of those that the block has
};

namespace {

uint32_t threads = 0, ofBlock = 0; // with the engines behind them: of bulk copies, and of the products of each warp
uint32_t clocks[kMost];            // each thread's own
Clocks *known[kMost];              // by thread
uint32_t fenced[kMost];            // its clock at its last fence of proxies, 0: none
Clocks *seen[kMost];               // what it knew then
std::vector<std::unique_ptr<Clocks>> all;
std::vector<Clocks *> unused; // of those

Clocks *make() {
  Clocks *made = nullptr;
  if (unused.empty()) {
    made = all.emplace_back(std::make_unique<Clocks>()).get();
  } else {
    made = unused.back();
    unused.pop_back();
  }
  made->users = 1;
  return made;
}

void copy(Clocks &into, const Clocks &other) { std::copy(other.of, other.of + threads, into.of); }

void drop(Clocks *what) {
  if (what && --what->users == 0)
    unused.push_back(what);
}

void join(Clocks &into, const Clocks &other) {
  for (uint32_t i = 0; i < threads; ++i)
    into.of[i] = std::max(into.of[i], other.of[i]);
}

} // namespace

uint32_t epochOf(uint32_t thread) { return thread << kClockBits | clocks[thread]; }

const uint32_t *knownBy(uint32_t thread) { return known[thread]->of; }

uint32_t copyEngine() { return ofBlock; }
uint32_t productEngine(uint32_t warp) { return ofBlock + 1 + warp; }

static void advance(uint32_t thread) {
  if (++clocks[thread] > kClockMask)
    fail("too long", "a thread synchronises more than 2 million times, for which the checked mode has no clocks");
}

void fenceProxy(uint32_t thread) {
  fenced[thread] = clocks[thread];
  drop(seen[thread]);
  seen[thread] = known[thread];
  ++seen[thread]->users;
  advance(thread);
}

bool engineSees(uint32_t epoch, uint32_t issuer) {
  const uint32_t thread = epoch >> kClockBits, clock = epoch & kClockMask;
  return thread >= ofBlock || fenced[thread] >= clock || (seen[issuer] && seen[issuer]->of[thread] >= clock);
}

void startOrder(uint32_t count) {
  for (uint32_t i = 0; i < threads; ++i) {
    drop(known[i]);
    drop(std::exchange(seen[i], nullptr));
    fenced[i] = 0;
  }
  ofBlock = count;
  threads = count + 1 + (count + kWarp - 1) / kWarp;
  Clocks *nothing = make();
  std::fill(nothing->of, nothing->of + threads, 0);
  nothing->users = threads;
  std::fill(known, known + threads, nothing);
  std::fill(clocks, clocks + threads, 1);
}

void Sync::add(uint32_t thread) {
  Clocks *its = emu::known[thread];
  if (!known) {
    known = make();
    copy(*known, *its);
  } else {
    if (known->users > 1) { // somebody took it
      Clocks *own = make();
      copy(*own, *known);
      drop(known);
      known = own;
    }
    if (its != last)
      join(*known, *its);
  }
  if (its != last) {
    drop(last);
    last = its;
    ++its->users;
  }
  known->of[thread] = clocks[thread];
  advance(thread);
}

void Sync::take(uint32_t thread, bool added) const {
  Clocks *&own = emu::known[thread];
  if (!known || own == known)
    return;
  Clocks *after = known;
  if (!added) {
    after = make();
    copy(*after, *own);
    join(*after, *known);
    --after->users;
  }
  ++after->users;
  drop(own);
  own = after;
}

void Sync::addCopies() { add(copyEngine()); }

void Sync::clear() {
  drop(known);
  drop(last);
  known = last = nullptr;
}

} // namespace tenon::emu
