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
/// The thread that bulk copies are.
uint32_t copyEngine();

} // namespace tenon::emu
