// What happened before what, for the threads of a block: vector clocks, which barriers hand on.
#pragma once
#include "Machine.h"

namespace tenon::emu {

constexpr unsigned kClockBits = 21; // an epoch is a thread and its clock
constexpr uint32_t kClockMask = (1u << kClockBits) - 1;

struct Clocks;

/// What threads hand over to others: everything that had happened before for those that add is before what follows for those
/// that take.
class Sync {
public:
  void add(uint32_t thread);
  /// `added`: the thread is among those that have added.
  void take(uint32_t thread, bool added) const;
  void clear();
  /// As if the engine of bulk copies were a thread, which adds.
  void addCopies();

private:
  Clocks *known = nullptr, *last = nullptr; // joined; what was added last
};

/// A block of so many threads begins.
void startOrder(uint32_t count);
/// Now, for a thread.
uint32_t epochOf(uint32_t thread);
/// By thread, the clock up to which a thread is behind it.
const uint32_t *knownBy(uint32_t thread);
/// What bulk copies are among the threads, and asynchronous products of a warp: both by the asynchronous proxy, which sees what
/// threads write behind a fence alone.
uint32_t copyEngine();
uint32_t productEngine(uint32_t warp);
/// A thread's fence: engines see what it wrote before, and what it knew of others.
void fenceProxy(uint32_t thread);
/// Whether what was written at an epoch is seen by an engine that `issuer` starts now, of which the write is ordered before.
bool engineSees(uint32_t epoch, uint32_t issuer);

} // namespace tenon::emu
