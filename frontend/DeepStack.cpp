#include "frontend/DeepStack.h"
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace tenon {
namespace {

constexpr size_t kStackBytes = 4 << 20;
constexpr size_t kReserve = 1 << 20;      // for what is called without asking: sorting, proofs, memory
constexpr size_t kTrustedBytes = 1 << 20; // of a stack that somebody else made
constexpr unsigned kMostStacks = 64;

thread_local uintptr_t lowest = 0; // address below which this thread's stack is low; 0: nobody has asked yet
thread_local unsigned stacks = 0;  // that stand on each other, this one included

struct Job {
  void (*work)(void *);
  void *argument;
  unsigned stacks;
};

void *runJob(void *argument) {
  auto *job = static_cast<Job *>(argument);
  lowest = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - (kStackBytes - kReserve);
  stacks = job->stacks;
  job->work(job->argument);
  return nullptr;
}

} // namespace

bool stackIsLow() {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (lowest == 0)
    lowest = here - kTrustedBytes;
  return here < lowest;
}

bool runOnNewStack(void (*work)(void *), void *argument) {
  Job job{work, argument, stacks + 1};
  pthread_attr_t attributes;
  if (job.stacks > kMostStacks || pthread_attr_init(&attributes) != 0)
    return false;
  pthread_t thread;
  const bool made =
      pthread_attr_setstacksize(&attributes, kStackBytes) == 0 && pthread_create(&thread, &attributes, runJob, &job) == 0;
  pthread_attr_destroy(&attributes);
  if (made)
    pthread_join(thread, nullptr);
  return made;
}

} // namespace tenon
