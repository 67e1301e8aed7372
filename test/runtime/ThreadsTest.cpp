// The thread pool: every tile once, nesting, modes, many short jobs. Run under ThreadSanitizer, too.
#include "test/runtime/Support.h"
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <xmmintrin.h>

namespace tenon::runtime::test {

namespace {
struct Job {
  TnContext context = {};
  std::vector<std::atomic<int>> visits;
  std::vector<int64_t> worker;
  std::vector<float> denormal;
  ThreadPool *pool;
  Job(ThreadPool &pool, int64_t tiles) : visits(tiles), worker(tiles, -1), denormal(tiles, 1), pool(&pool) {
    context.pool = &pool;
    context.parallel_for = &ThreadPool::parallelFor;
    context.inputs = reinterpret_cast<void *const *>(this);
  }
  static Job &of(const TnContext *context) { return *reinterpret_cast<Job *>(const_cast<void **>(context->inputs)); }
};

void visit(const TnContext *context, int64_t tile, int64_t worker) {
  Job &job = Job::of(context);
  job.visits[tile].fetch_add(1);
  job.worker[tile] = worker;
  volatile float tiny = 1e-39f, one = 1; // a denormal is zero in the compute mode; volatile, or the product is folded
  job.denormal[tile] = tiny * one;
}

void visitNested(const TnContext *context, int64_t tile, int64_t) {
  Job &job = Job::of(context);
  job.visits[tile].fetch_add(1);
  if (tile % 3 == 0)
    context->parallel_for(context, [](const TnContext *c, int64_t t, int64_t) { Job::of(c).visits[1000 + t].fetch_add(1); }, 10);
}
} // namespace

TEST(Threads, EveryTileOnceForAnyCounts) {
  for (int threads : {1, 2, 3, 8}) {
    auto pool = makePool(threads);
    EXPECT_EQ(pool->workers(), threads);
    for (int64_t tiles : {0, 1, 2, 3, 7, 64, 1000}) {
      Job job(*pool, tiles);
      pool->run(&job.context, visit, tiles);
      for (int64_t i = 0; i < tiles; ++i) {
        ASSERT_EQ(job.visits[i], 1) << i << " of " << tiles;
        ASSERT_TRUE(job.worker[i] >= 0 && job.worker[i] < threads);
        ASSERT_EQ(job.denormal[i], 0.0f);
      }
    }
  }
}

TEST(Threads, ManyShortJobs) {
  auto pool = makePool(4);
  Job job(*pool, 5);
  for (int i = 0; i < 20000; ++i)
    pool->run(&job.context, visit, 1 + i % 5);
  EXPECT_EQ(job.visits[0], 20000);
  EXPECT_EQ(job.visits[4], 4000);
}

TEST(Threads, JobsAfterAPause) {
  auto pool = makePool(3); // parked threads must wake up
  Job job(*pool, 50);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pool->run(&job.context, visit, 50);
  }
  for (auto &count : job.visits)
    EXPECT_EQ(count, 20);
}

TEST(Threads, NestedCallsRunInline) {
  auto pool = makePool(3);
  Job job(*pool, 1010);
  pool->run(&job.context, visitNested, 30);
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(job.visits[i], 1);
  for (int i = 1000; i < 1010; ++i)
    EXPECT_EQ(job.visits[i], 10);
}

TEST(Threads, CallersFromSeveralThreads) {
  auto pool = makePool(2);
  std::vector<std::thread> callers;
  std::vector<std::unique_ptr<Job>> jobs;
  for (int i = 0; i < 4; ++i)
    jobs.push_back(std::make_unique<Job>(*pool, 40));
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&, i] {
      for (int k = 0; k < 500; ++k)
        pool->run(&jobs[i]->context, visit, 40);
    });
  for (std::thread &caller : callers)
    caller.join();
  for (auto &job : jobs)
    for (auto &count : job->visits)
      ASSERT_EQ(count, 500);
}

TEST(Threads, RefusesOddCounts) {
  expectError(ThreadPool::create(-1).status(), ErrorKind::Usage, "0 to 1024");
  expectError(ThreadPool::create(5000).status(), ErrorKind::Usage, "0 to 1024");
  EXPECT_GE(makePool(0)->workers(), 1);
}

} // namespace tenon::runtime::test
