// The standard parallel_for: tiles are fixed by the compiler, claimed one by one by the pool's threads and the caller.
#pragma once
#include "runtime/base/Status.h"
#include "tenon/artifact.h"
#include <memory>

namespace tenon::runtime {

/// Flush-to-zero, denormals-are-zero and round-to-nearest for the lifetime; the caller's mode comes back afterwards.
class FloatingPointScope {
public:
  FloatingPointScope();
  ~FloatingPointScope();
  FloatingPointScope(const FloatingPointScope &) = delete;
  FloatingPointScope &operator=(const FloatingPointScope &) = delete;

private:
  friend class CallersFloatingPoint;
  uint64_t saved;
};
/// The caller's mode within a FloatingPointScope, for code of the caller's.
class CallersFloatingPoint {
public:
  explicit CallersFloatingPoint(const FloatingPointScope &scope);
  ~CallersFloatingPoint();
  CallersFloatingPoint(const CallersFloatingPoint &) = delete;
  CallersFloatingPoint &operator=(const CallersFloatingPoint &) = delete;
};

constexpr int kMostThreads = 1024;

/// Thread-safe: calls from several threads are served one after the other. Allocates only in create().
class ThreadPool {
public:
  /// `threads` counts the caller; 0 = the CPUs this process may run on.
  static Expected<std::shared_ptr<ThreadPool>> create(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Calling thread included; also the number of scratch strips a context needs.
  int workers() const;
  /// Runs tile(context, i, worker) for 0 <= i < tiles and returns when all are done. Called from inside a tile it runs inline on
  /// that worker.
  void run(const TnContext *context, TnTile tile, int64_t tiles);
  /// The hook for TnContext::parallel_for; the pool is context->pool.
  static void parallelFor(const TnContext *context, TnTile tile, int64_t tiles);

private:
  struct Shared;
  explicit ThreadPool(std::unique_ptr<Shared> shared);
  std::unique_ptr<Shared> shared;
};

/// CPUs in the affinity mask of this process.
int availableCpus();

} // namespace tenon::runtime
