#include "Fiber.h"
#include "llvm/Support/ErrorHandling.h"
#include <bit>
#include <sys/mman.h>
#include <tuple>

#if defined(__SANITIZE_ADDRESS__)
#define TENON_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TENON_ASAN 1
#endif
#endif
#ifdef TENON_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

// Saves what the ABI says a call preserves, in the stack that is left, and takes it from the other one. Rounding modes are not
// saved: nothing in a kernel changes them.
asm(R"(
.text
.p2align 4
.type tenon_emu_switch, @function
tenon_emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tenon_emu_switch, .-tenon_emu_switch
)");
extern "C" void tenon_emu_switch(void **save, void *to) __attribute__((visibility("hidden")));

namespace tenon::emu {
namespace {

constexpr size_t kStack = 64 << 10, kGuard = 4096, kPitch = kStack + kGuard;

struct Fiber {
  void *stackPointer = nullptr;
  void *shadowStack = nullptr; // the sanitizer's
};

char *stacks = nullptr; // of kMostThreads fibers, each above a page without access
Fiber fibers[kMostThreads], host;
uint64_t runnable[kMostThreads / 64]; // a bit per fiber
bool exited[kMostThreads];
unsigned count = 0, living = 0, running = 0;
bool stopped = false;
void (*fiberBody)() = nullptr;
#ifdef TENON_ASAN
const void *hostStack = nullptr; // where the host's own stack lies, as the sanitizer said at the first switch away from it
size_t hostStackSize = 0;
bool fromHost = false;
#endif

void makeStacks() {
  if (stacks)
    return;
  void *place = mmap(nullptr, kMostThreads * kPitch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    llvm::report_fatal_error("gpu-emu: no memory for the stacks of threads");
  stacks = static_cast<char *>(place);
  for (unsigned i = 0; i < kMostThreads; ++i)
    mprotect(stacks + i * kPitch, kGuard, PROT_NONE);
}

/// The fiber at or behind `from`, in a circle.
unsigned nextFrom(unsigned from) {
  const unsigned words = (count + 63) / 64;
  unsigned word = from / 64;
  uint64_t bits = runnable[word] & (~uint64_t(0) << from % 64);
  for (unsigned i = 0; i <= words; ++i) {
    if (bits)
      return word * 64 + std::countr_zero(bits);
    word = word + 1 == words ? 0 : word + 1;
    bits = runnable[word];
  }
  return count;
}

unsigned lastOne() {
  for (unsigned word = (count + 63) / 64; word-- > 0;)
    if (runnable[word])
      return word * 64 + 63 - std::countl_zero(runnable[word]);
  return count;
}

/// The fiber that runs next; `count` if none can.
unsigned choose() {
  switch (machine.mode.order) {
  case Order::InOrder:
    return nextFrom(0);
  case Order::Reverse:
    return lastOne();
  case Order::Random:
    return nextFrom(machine.draw() % count);
  }
  return count;
}

void switchTo(Fiber &from, Fiber &to, bool leavesForever = false) {
#ifdef TENON_ASAN
  const bool toHost = &to == &host;
  const void *bottom = toHost ? hostStack : stacks + (&to - fibers) * kPitch + kGuard;
  __sanitizer_start_switch_fiber(leavesForever ? nullptr : &from.shadowStack, bottom, toHost ? hostStackSize : kStack);
#endif
  tenon_emu_switch(&from.stackPointer, to.stackPointer);
#ifdef TENON_ASAN
  const void *oldBottom = nullptr;
  size_t oldSize = 0;
  __sanitizer_finish_switch_fiber(from.shadowStack, &oldBottom, &oldSize);
#endif
}

/// From the fiber that runs, or from the host's stack (null).
void runNext(Fiber &from, bool leavesForever = false) {
  const unsigned next = choose();
  Fiber &to = next == count ? host : fibers[next];
  running = next;
  machine.current = next == count ? nullptr : &machine.threads[next];
  if (&to != &from)
    switchTo(from, to, leavesForever);
}

extern "C" void tenonEmuFiberMain() {
#ifdef TENON_ASAN
  const void *bottom = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
  if (fromHost)
    std::tie(hostStack, hostStackSize) = std::pair(bottom, size);
  fromHost = false;
#endif
  fiberBody();
  const unsigned self = running;
  exited[self] = true;
  runnable[self / 64] &= ~(uint64_t(1) << self % 64);
  --living;
  onExit(self);
  runNext(fibers[self], true);
  llvm_unreachable("a fiber that has ended runs");
}

/// Of frames that were given up; the sanitizer still watches their borders.
void forgetFrames(unsigned i) {
#ifdef TENON_ASAN
  __asan_unpoison_memory_region(stacks + i * kPitch + kGuard, kStack);
#endif
}

void prepare(unsigned i) {
  forgetFrames(i);
  // As tenon_emu_switch leaves a stack: six registers, the return address; and a word above, as if there had been a call.
  auto *top = reinterpret_cast<uint64_t *>(stacks + (i + 1) * kPitch);
  *--top = 0;
  *--top = reinterpret_cast<uint64_t>(&tenonEmuFiberMain);
  for (int saved = 0; saved < 6; ++saved)
    *--top = 0;
  fibers[i].stackPointer = top;
  fibers[i].shadowStack = nullptr;
}

} // namespace

void startFibers(unsigned number, void (*body)()) {
  makeStacks();
  count = living = number;
  stopped = false;
  fiberBody = body;
  for (unsigned word = 0; word < kMostThreads / 64; ++word)
    runnable[word] = 0;
  for (unsigned i = 0; i < number; ++i) {
    exited[i] = false;
    runnable[i / 64] |= uint64_t(1) << i % 64;
    prepare(i);
  }
}

Ended runFibers() {
#ifdef TENON_ASAN
  fromHost = true;
  __lsan_disable(); // frames that are given up own texts
#endif
  runNext(host);
#ifdef TENON_ASAN
  __lsan_enable();
#endif
  machine.current = nullptr;
  if (stopped)
    return Ended::Stopped;
  return living == 0 ? Ended::AllDone : Ended::NobodyCanRun;
}

void stopFibers() {
  stopped = true;
  switchTo(fibers[running], host, true);
  llvm_unreachable("a fiber runs behind its launch");
}

void *topOfRunningStack() {
  forgetFrames(running);
  return stacks + (running + 1) * kPitch;
}

void park() {
  const unsigned self = running;
  runnable[self / 64] &= ~(uint64_t(1) << self % 64);
  runNext(fibers[self]);
}

void wake(unsigned thread) { runnable[thread / 64] |= uint64_t(1) << thread % 64; }

void yieldFiber() { runNext(fibers[running]); }

bool hasExited(unsigned thread) { return exited[thread]; }

bool inStacks(uintptr_t address) {
  const auto begin = reinterpret_cast<uintptr_t>(stacks);
  return stacks && address >= begin && address < begin + kMostThreads * kPitch;
}

bool inStackGuard(uintptr_t address) {
  return inStacks(address) && (address - reinterpret_cast<uintptr_t>(stacks)) % kPitch < kGuard;
}

} // namespace tenon::emu
