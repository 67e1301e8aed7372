// A run allocates nothing on any thread after the first.
#include "test/runtime/Support.h"
#include <atomic>
#include <cstdlib>

// Counts what the C library hands out in the whole process; operator new ends here as well.
static std::atomic<long> allocations{0};
extern "C" void *__libc_malloc(size_t);
extern "C" void *malloc(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}

namespace tenon::runtime::test {

TEST(Allocation, RunsAllocateNothing) {
  auto parameters = fakeParameters();
  ASSERT_TRUE(parameters->initialize(3).ok());
  auto context = Context::create(parameters, "infer", {{"B", 500}}, makePool(3));
  auto train = Context::create(parameters, "train", {{"B", 5}}, makePool(2));
  ASSERT_TRUE(context.ok() && train.ok());
  bool good = (*context)->run().ok() && (*train)->run().ok();
  long before = allocations.load();
  for (int i = 0; i < 200; ++i)
    good = (*context)->run().ok() && (*train)->run().ok() && good;
  long after = allocations.load();
  EXPECT_TRUE(good);
  EXPECT_EQ(after - before, 0);
  // The counter itself works: a test that cannot fail proves nothing.
  void *volatile block = std::malloc(10);
  std::free(block);
  EXPECT_GT(allocations.load(), after);
}

} // namespace tenon::runtime::test
