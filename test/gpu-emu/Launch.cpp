#include "Launch.h"
#include "Async.h"
#include "Banks.h"
#include "Barriers.h"
#include "Fiber.h"
#include "Memory.h"
#include "Registers.h"
#include "Shadow.h"
#include <csignal>
#include <cstring>
#include <map>
#include <ucontext.h>
#include <xmmintrin.h>

namespace tenon::emu {
namespace {

struct Running {
  const Kernel *kernel;
  const uint64_t *arguments;
} now;

uintptr_t faultAddress = 0;
int faultSignal = 0;

/// Runs on the stack of the fiber that faulted, which is given up.
extern "C" void tenonEmuFaultLanding() {
  const std::string who = machine.current ? nameOf(*machine.current) : "a thread";
  if (faultSignal == SIGFPE)
    fail("division by zero", who + " divides an integer by zero, or the least one by -1");
  if (inStackGuard(faultAddress))
    fail("local memory", who + " needs more local memory than the 64 KiB that the emulator has for a thread");
  char address[32];
  snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(faultAddress));
  fail("illegal address", who + " reads or writes " + (faultAddress ? address : "a misaligned or impossible address"));
}

void onFault(int signal, siginfo_t *info, void *context) {
  if (!machine.current) { // not a kernel's: as if there were no handler
    std::signal(signal, SIG_DFL);
    return;
  }
  faultSignal = signal;
  faultAddress = reinterpret_cast<uintptr_t>(info->si_addr);
  auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  registers[REG_RIP] = reinterpret_cast<greg_t>(&tenonEmuFaultLanding);
  registers[REG_RSP] = reinterpret_cast<greg_t>(topOfRunningStack()) - 8; // as behind a call
}

/// Faults of kernels come to us while one lives, the program has those that the mode names, and arithmetic is IEEE's: the host's
/// threads may flush denormals.
class Guard {
public:
  Guard() : control(_mm_getcsr()) {
    setFaults(machine.mode.faultsTrap ? kTraps : kMade);
    stack_t own = {};
    own.ss_sp = alternate;
    own.ss_size = sizeof alternate;
    sigaltstack(&own, &stackBefore);
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int i = 0; i < 3; ++i)
      sigaction(kSignals[i], &action, &before[i]);
    _mm_setcsr(0x1f80);
  }
  ~Guard() {
    setFaults(kNotMade);
    _mm_setcsr(control);
    for (int i = 0; i < 3; ++i)
      sigaction(kSignals[i], &before[i], nullptr);
    sigaltstack(&stackBefore, nullptr);
  }

private:
  static void setFaults(FaultState state) {
    for (unsigned number : machine.mode.faults)
      machine.faults[number] = state;
  }
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE};
  static char alternate[64 << 10];
  struct sigaction before[3];
  stack_t stackBefore = {};
  unsigned control;
};
char Guard::alternate[64 << 10];

void makeThreads(Dim3 block) {
  const unsigned count = block.count();
  machine.threads.assign(count, Thread());
  machine.warps.assign((count + kWarp - 1) / kWarp, Warp());
  for (unsigned i = 0; i < count; ++i) {
    Thread &thread = machine.threads[i];
    thread.tid[0] = i % block.x;
    thread.tid[1] = i / block.x % block.y;
    thread.tid[2] = i / block.x / block.y;
    thread.index = i;
    thread.lane = i % kWarp;
    thread.warp = i / kWarp;
    machine.warps[thread.warp].lanes |= 1u << thread.lane;
  }
}

void startBlock(Dim3 grid, uint64_t number) {
  machine.blockNumber = number;
  machine.block.ctaid[0] = number % grid.x;
  machine.block.ctaid[1] = number / grid.x % grid.y;
  machine.block.ctaid[2] = number / grid.x / grid.y;
  for (Warp &warp : machine.warps) {
    warp.gathers.clear();
    warp.exited = 0;
  }
  const uint32_t end = now.kernel->sharedEnd + machine.block.dynamicShared;
  if (end)
    memset(reinterpret_cast<void *>(sharedArena()), 0xff, end < kArena ? end : kArena);
  resetBarriers();
  resetAsync();
  resetRegisters(*now.kernel);
  if (machine.mode.checked)
    shadowStartBlock();
}

void runThread() { now.kernel->entry(now.arguments); }

/// All threads of a block, one after the other: nothing in them waits.
void runBlockInOneFiber() {
  const unsigned count = machine.threads.size();
  Order order = machine.mode.order;
  const unsigned first = order == Order::Random ? machine.draw() % count : order == Order::Reverse ? count - 1 : 0;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned thread = order == Order::Reverse ? first - i : (first + i) % count;
    machine.current = &machine.threads[thread];
    now.kernel->entry(now.arguments);
  }
}

/// What nobody can go on from: who waits where.
void reportDeadlock() {
  std::map<std::string, std::pair<unsigned, const Thread *>> waiting;
  unsigned exited = 0;
  for (const Thread &thread : machine.threads)
    if (hasExited(thread.index)) {
      ++exited;
    } else {
      auto &entry = waiting[thread.at ? placeOf(*thread.at) : "an unknown place"];
      if (entry.first++ == 0)
        entry.second = &thread;
    }
  std::string text = "in block (" + std::to_string(machine.block.ctaid[0]) + "," + std::to_string(machine.block.ctaid[1]) + "," +
                     std::to_string(machine.block.ctaid[2]) + ") nobody can go on";
  for (const auto &[place, entry] : waiting)
    text += "; " + std::to_string(entry.first) + " threads, first (" + std::to_string(entry.second->tid[0]) + "," +
            std::to_string(entry.second->tid[1]) + "," + std::to_string(entry.second->tid[2]) + "), wait at " + place;
  if (exited)
    text += "; " + std::to_string(exited) + " have ended";
  report("deadlock", text);
}

/// False: the launch ends here.
bool runBlock() {
  const bool meets = now.kernel->meets;
  startFibers(meets ? machine.threads.size() : 1, meets ? runThread : runBlockInOneFiber);
  for (;;)
    switch (runFibers()) {
    case Ended::AllDone:
      checkEndOfBlock();
      checkRegisters(*now.kernel);
      exitBarriers();
      return true;
    case Ended::Stopped:
      return false;
    case Ended::NobodyCanRun:
      if (!deliverCopies()) {
        reportDeadlock();
        return false;
      }
    }
}

} // namespace

void onExit(unsigned thread) {
  if (!now.kernel->meets)
    return;
  Thread &self = machine.threads[thread];
  self.at = nullptr;
  machine.warps[self.warp].exited |= 1u << self.lane;
  exitAsync(self);
}

Outcome launch(const Kernel &kernel, Dim3 grid, Dim3 block, uint32_t dynamicShared, const uint64_t *arguments) {
  static uint32_t number = 0;
  now = {&kernel, arguments};
  machine.kernel = kernel.name;
  machine.reports.clear();
  machine.random = machine.mode.seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  machine.block = {{}, {block.x, block.y, block.z}, {grid.x, grid.y, grid.z}, dynamicShared, ++number, kWarp};
  makeThreads(block);
  if (machine.mode.checked)
    shadowStartLaunch(kernel, dynamicShared);
  constexpr uint64_t kMostChecked = 0xfffff0; // what the records of global memory have room for
  if (machine.mode.checked && grid.count() > kMostChecked) {
    report("too long", "the grid has " + std::to_string(grid.count()) + " blocks, more than checked mode can tell apart");
  } else if (startRegisters(kernel)) {
    Guard guard;
    for (uint64_t i = 0; i < grid.count(); ++i) {
      const uint64_t blockNumber = machine.mode.order == Order::Reverse ? grid.count() - 1 - i : i;
      startBlock(grid, blockNumber);
      const bool goesOn = runBlock();
      endBanks();
      if (!goesOn)
        break;
    }
  }
  machine.current = nullptr;
  Outcome outcome = {std::move(machine.reports), false};
  machine.reports.clear();
  for (const Report &report : outcome.reports)
    outcome.illegalAddress |= report.kind == "illegal address" || report.kind == "out of bounds";
  return outcome;
}

std::string describe(const std::string &kernel, const Outcome &outcome) {
  std::string text;
  for (const Report &report : outcome.reports)
    text += "gpu-emu: " + kernel + ": " + report.kind + ": " + report.text +
            (report.count > 1 ? " (" + std::to_string(report.count) + " times)" : "") + "\n";
  return text;
}

} // namespace tenon::emu
