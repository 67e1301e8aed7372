// Threads of a block as fibers: each has a stack, and they take turns in an order that the mode chooses. A fiber goes on until it
// waits; nothing interrupts it.
#pragma once
#include "Machine.h"

namespace tenon::emu {

enum class Ended { AllDone, NobodyCanRun, Stopped };

/// Makes `count` fibers that each run `body` once, fiber i with machine.current = thread i.
void startFibers(unsigned count, void (*body)());
/// Runs them until none can go on; may be called again after NobodyCanRun, when somebody was woken.
Ended runFibers();
/// Ends runFibers from inside of a fiber. The fibers are left as they are, and the next start forgets them.
[[noreturn]] void stopFibers();
/// The stack of the fiber that runs, from its end: for a signal handler that gives it up.
void *topOfRunningStack();

/// The current fiber waits until somebody wakes it.
void park();
void wake(unsigned thread);
/// Lets others go first.
void yieldFiber();
/// Whether the thread has returned from its kernel.
bool hasExited(unsigned thread);
/// Called in a fiber that has returned, before others run; Launch.cpp has it.
void onExit(unsigned thread);

/// Whether the address lies in a fiber's stack, or in the guard page below one.
bool inStacks(uintptr_t address);
bool inStackGuard(uintptr_t address);

} // namespace tenon::emu
