// Recursion over definitions whose number the text decides: a chain of a thousand `let`s is a thousand calls deep. Where little
// is left of the stack the work goes on on another one, as clang does for deep templates, so no program of any length overflows
// it.
#pragma once
#include <type_traits>

namespace tenon {

/// Whether little is left of this thread's stack.
bool stackIsLow();

/// Runs `work(argument)` on a new stack and waits for it. False, without running it, where so many stacks stand on each other
/// that their memory is a burden (64 of 4 MiB each), or where the system gives none.
bool runOnNewStack(void (*work)(void *), void *argument);

template <class Work> bool runOnNewStack(Work &&work) {
  return runOnNewStack([](void *argument) { (*static_cast<std::remove_reference_t<Work> *>(argument))(); }, &work);
}

} // namespace tenon
