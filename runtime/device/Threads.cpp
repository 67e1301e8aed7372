#include "runtime/device/Threads.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <linux/futex.h>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tenon::runtime {

namespace {

// MXCSR: flush to zero (bit 15), denormals are zero (6), all exceptions masked (7..12), round to nearest (13..14 = 0).
constexpr unsigned computeMode = 0x8000u | 0x0040u | 0x1f80u;

// Waiting longer costs a neighbour its processor; parking and waking costs about as much as this (docs/cpu.md, "Traps").
constexpr std::chrono::microseconds longestSpin(20);

inline void pauseProcessor() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
void futexWake(std::atomic<uint32_t> &word, int count) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/// Spins until `done` or the limit; true if done.
template <typename Condition> bool spinFor(Condition done) {
  auto start = std::chrono::steady_clock::now();
  for (;;) {
    for (int i = 0; i < 32; ++i) {
      if (done())
        return true;
      pauseProcessor();
    }
    if (std::chrono::steady_clock::now() - start > longestSpin)
      return done();
  }
}

// Worker number of the tile this thread is in, -1 outside tiles: nested calls run inline with it.
thread_local int64_t currentWorker = -1;

// Jobs larger than this are cut, so that a tile number fits the low half of a ticket.
constexpr int64_t tilesPerJob = int64_t(1) << 30;
constexpr uint64_t closedTile = 0xffffffffu; // not below any job's number of tiles

} // namespace

FloatingPointScope::FloatingPointScope() {
#if defined(__x86_64__)
  saved = _mm_getcsr();
  _mm_setcsr(computeMode);
#else
  saved = 0;
#endif
}
FloatingPointScope::~FloatingPointScope() {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(saved));
#endif
}
CallersFloatingPoint::CallersFloatingPoint([[maybe_unused]] const FloatingPointScope &scope) {
#if defined(__x86_64__)
  _mm_setcsr(static_cast<unsigned>(scope.saved));
#endif
}
CallersFloatingPoint::~CallersFloatingPoint() {
#if defined(__x86_64__)
  _mm_setcsr(computeMode);
#endif
}

// A job is published by one 64-bit ticket: number of the job (high half) and next tile (low half). A thread claims a tile by
// adding one to the ticket it has seen, by compare-and-swap; since a finished job never gets its old ticket back, a thread that
// woke up late cannot claim anything of it, and nobody has to wait for threads that never took part.
struct ThreadPool::Shared {
  alignas(64) std::atomic<uint64_t> ticket{0};
  alignas(64) std::atomic<uint32_t> completed{0};
  std::atomic<uint32_t> callerParked{0};
  alignas(64) std::atomic<uint32_t> generation{0}; // the job's number again, as the word that idle threads park on
  std::atomic<uint32_t> parked{0};
  std::atomic<bool> stopping{false};
  std::atomic<uint32_t> started{
      0}; // helper threads that have reached idle(), with all that a thread's start allocates behind them
  // Of the present job. Atomic because a late thread may read them while they change; its claim then fails.
  alignas(64) std::atomic<const TnContext *> context{nullptr};
  std::atomic<TnTile> tile{nullptr};
  std::atomic<int64_t> firstTile{0};
  std::atomic<uint32_t> tiles{0};

  std::mutex callers;
  std::vector<pthread_t> threads;
  struct Start {
    Shared *shared;
    int64_t worker;
  };
  std::vector<Start> starts;

  /// Claims and runs tiles of job `number` until none is left.
  void work(uint32_t number, int64_t worker) {
    uint64_t seen = ticket.load(std::memory_order_acquire);
    for (;;) {
      if (static_cast<uint32_t>(seen >> 32) != number)
        return;
      const TnContext *jobContext = context.load(std::memory_order_acquire);
      TnTile jobTile = tile.load(std::memory_order_acquire);
      int64_t first = firstTile.load(std::memory_order_acquire);
      uint32_t count = tiles.load(std::memory_order_acquire);
      uint32_t next = static_cast<uint32_t>(seen);
      if (next >= count)
        return;
      // Success proves that the job was not over, so the fields read above belong to it.
      if (!ticket.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      jobTile(jobContext, first + next, worker);
      if (completed.fetch_add(1, std::memory_order_seq_cst) + 1 == count && callerParked.load(std::memory_order_seq_cst))
        futexWake(completed, 1);
      seen = ticket.load(std::memory_order_acquire);
    }
  }

  void runJob(const TnContext *jobContext, TnTile jobTile, int64_t first, uint32_t count) {
    uint64_t number = ((ticket.load(std::memory_order_relaxed) >> 32) + 1) & 0xffffffffu;
    // Closed while the fields change: a thread that holds the old ticket and sees a new field then fails to claim. The stores
    // are releases and the loads in work() acquires, so whoever reads a new field also finds the ticket changed.
    ticket.store(number << 32 | closedTile, std::memory_order_release);
    completed.store(0, std::memory_order_release);
    context.store(jobContext, std::memory_order_release);
    tile.store(jobTile, std::memory_order_release);
    firstTile.store(first, std::memory_order_release);
    tiles.store(count, std::memory_order_release);
    ticket.store(number << 32, std::memory_order_seq_cst);
    generation.store(static_cast<uint32_t>(number), std::memory_order_seq_cst);
    if (parked.load(std::memory_order_seq_cst) > 0)
      futexWake(generation, static_cast<int>(std::min<uint64_t>(count - 1, threads.size())));
    currentWorker = 0;
    work(static_cast<uint32_t>(number), 0);
    currentWorker = -1;
    auto done = [&] { return completed.load(std::memory_order_acquire) == count; };
    if (spinFor(done))
      return;
    callerParked.store(1, std::memory_order_seq_cst);
    for (uint32_t now; (now = completed.load(std::memory_order_seq_cst)) != count;)
      futexWait(completed, now);
    callerParked.store(0, std::memory_order_relaxed);
  }

  void idle(int64_t worker) {
    FloatingPointScope mode;
    currentWorker = worker;
    started.fetch_add(1, std::memory_order_release);
    futexWake(started, 1);
    uint32_t seen = 0;
    for (;;) {
      auto changed = [&] {
        return generation.load(std::memory_order_seq_cst) != seen || stopping.load(std::memory_order_acquire);
      };
      if (!spinFor(changed)) {
        parked.fetch_add(1, std::memory_order_seq_cst);
        while (!changed())
          futexWait(generation, seen);
        parked.fetch_sub(1, std::memory_order_seq_cst);
      }
      if (stopping.load(std::memory_order_acquire))
        return;
      seen = generation.load(std::memory_order_acquire);
      work(seen, worker);
    }
  }

  static void *threadMain(void *argument) {
    Start *start = static_cast<Start *>(argument);
    start->shared->idle(start->worker);
    return nullptr;
  }
};

ThreadPool::ThreadPool(std::unique_ptr<Shared> shared) : shared(std::move(shared)) {}

Expected<std::shared_ptr<ThreadPool>> ThreadPool::create(int threads) {
  if (threads < 0 || threads > kMostThreads)
    return usageError("expected 0 to ", kMostThreads, " threads, got ", threads);
  if (threads == 0)
    threads = availableCpus();
  auto shared = std::make_unique<Shared>();
  size_t helpers = static_cast<size_t>(threads) - 1;
  shared->starts.resize(helpers);
  shared->threads.reserve(helpers);
  std::shared_ptr<ThreadPool> pool(new ThreadPool(std::move(shared)));
  Shared &inside = *pool->shared;
  for (size_t i = 0; i < helpers; ++i) {
    inside.starts[i] = {&inside, static_cast<int64_t>(i) + 1};
    pthread_t thread;
    int error = pthread_create(&thread, nullptr, Shared::threadMain, &inside.starts[i]);
    if (error != 0) // the pool's destructor joins those that run
      return resourceError("cannot start thread ", i + 2, " of ", threads, ": ", systemMessage(error));
    inside.threads.push_back(thread);
  }
  // A helper that a busy machine starts late would allocate its thread-local storage in the middle of some step.
  for (uint32_t now; (now = inside.started.load(std::memory_order_acquire)) != helpers;)
    futexWait(inside.started, now);
  return pool;
}

ThreadPool::~ThreadPool() {
  shared->stopping.store(true, std::memory_order_seq_cst);
  // A parked thread compares the word again: change it, or a thread about to park would sleep for ever.
  shared->generation.fetch_add(1, std::memory_order_seq_cst);
  futexWake(shared->generation, INT_MAX);
  for (pthread_t thread : shared->threads)
    pthread_join(thread, nullptr);
}

int ThreadPool::workers() const { return static_cast<int>(shared->starts.size()) + 1; }

void ThreadPool::run(const TnContext *context, TnTile tile, int64_t tiles) {
  if (currentWorker >= 0) {
    for (int64_t i = 0; i < tiles; ++i)
      tile(context, i, currentWorker);
    return;
  }
  FloatingPointScope mode;
  if (tiles <= 1 || shared->threads.empty()) {
    currentWorker = 0;
    for (int64_t i = 0; i < tiles; ++i)
      tile(context, i, 0);
    currentWorker = -1;
    return;
  }
  std::lock_guard<std::mutex> lock(shared->callers);
  for (int64_t first = 0; first < tiles; first += tilesPerJob)
    shared->runJob(context, tile, first, static_cast<uint32_t>(std::min(tiles - first, tilesPerJob)));
}

void ThreadPool::parallelFor(const TnContext *context, TnTile tile, int64_t tiles) {
  static_cast<ThreadPool *>(context->pool)->run(context, tile, tiles);
}

int availableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

} // namespace tenon::runtime
