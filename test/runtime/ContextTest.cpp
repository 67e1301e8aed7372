// Contexts: sizes, states, steps and their halves.
#include "test/runtime/Support.h"
#include <cstring>
#include <xmmintrin.h>

namespace tenon::runtime::test {

TEST(Context, RunsTheSameForAnyNumberOfThreads) {
  auto parameters = fakeParameters();
  ASSERT_TRUE(parameters->initialize(5).ok());
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 3, 8}) {
    auto context = Context::create(parameters, "infer", {{"B", 137}}, makePool(threads));
    ASSERT_TRUE(context.ok()) << context.status().message();
    auto *ids = static_cast<int32_t *>((*context)->input(0));
    for (int i = 0; i < 137; ++i)
      ids[i] = i * 7 % 5;
    ASSERT_TRUE((*context)->run().ok());
    const float *y = static_cast<const float *>(*(*context)->output(0));
    results.emplace_back(y, y + 137 * 20);
  }
  for (size_t i = 1; i < results.size(); ++i)
    EXPECT_EQ(0, std::memcmp(results[0].data(), results[i].data(), results[0].size() * 4));
  // The value itself, computed from the published tensors.
  std::vector<float> weight(60), table(15), other(60);
  ASSERT_TRUE(parameters->get("blocks.0.weight", weight.data(), 240).ok());
  ASSERT_TRUE(parameters->get("blocks.1.weight", other.data(), 240).ok());
  ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
  for (int o = 0; o < 20; ++o) {
    double sum = 0.75; // biases of 0.25 and 0.5
    for (int i = 0; i < 3; ++i)
      sum += (double(weight[o * 3 + i]) + other[o * 3 + i]) * table[2 * 3 + i]; // row 1 has id 7 % 5 = 2
    EXPECT_NEAR(results[0][20 + o], sum, 1e-6);
  }
}

TEST(Context, ChecksDimsAndIndices) {
  auto parameters = fakeParameters();
  auto pool = makePool(1);
  using Dims = std::map<std::string, int64_t>;
  expectError(Context::create(parameters, "infer", Dims{}, pool).status(), ErrorKind::Usage, "needs a value for the dim B");
  expectError(Context::create(parameters, "infer", Dims{{"B", 2}, {"T", 3}}, pool).status(), ErrorKind::Usage, "has no dim T");
  expectError(Context::create(parameters, "infer", Dims{{"B", 0}}, pool).status(), ErrorKind::Input, "at least 1");
  expectError(Context::create(parameters, "infer", Dims{{"B", 1001}}, pool).status(), ErrorKind::Input, "at most 1000");
  expectError(Context::create(parameters, "encode", Dims{{"B", 2}}, pool).status(), ErrorKind::Usage,
              "no entry 'encode', only infer, train");
  auto context = Context::create(parameters, "infer", Dims{{"B", 4}}, pool);
  ASSERT_TRUE(context.ok());
  int32_t *ids = static_cast<int32_t *>((*context)->input(0));
  for (int32_t bad : {5, -1, INT32_MIN, INT32_MAX}) {
    ids[2] = bad;
    expectError((*context)->run(), ErrorKind::Input, concat("input 'ids' holds ", bad, " at [2], expected 0 .. 4"));
  }
  ids[2] = 4;
  EXPECT_TRUE((*context)->run().ok());
}

TEST(Context, OtherSizesInOneWorkspace) {
  auto parameters = fakeParameters();
  ASSERT_TRUE(parameters->initialize(5).ok());
  auto pool = makePool(2);
  auto first = Context::create(parameters, "train", {{"B", 3}}, pool),
       alone = Context::create(parameters, "train", {{"B", 900}}, pool);
  ASSERT_TRUE(first.ok() && alone.ok());
  EXPECT_LT((*first)->workspaceBytes(), (*alone)->workspaceBytes());
  const int64_t larger[] = {900}, smaller[] = {2}, none[] = {0};
  expectError((*first)->withSizes(none).status(), ErrorKind::Input, "at least 1");
  auto second = (*first)->withSizes(larger), third = (*first)->withSizes(smaller);
  ASSERT_TRUE(second.ok() && third.ok());
  for (Context *context : {first->get(), second->get(), third->get()})
    EXPECT_EQ(context->workspaceBytes(), (*alone)->workspaceBytes()); // the largest that one of them needs
  EXPECT_EQ((*second)->inputs()[0].shape[0], 900);
  EXPECT_EQ((*third)->inputs()[0].shape[0], 2);
  // One set of parameters, and one running mean: each step doubles it.
  for (Context *context : {first->get(), second->get(), third->get(), first->get()})
    ASSERT_TRUE(context->run().ok());
  std::vector<float> table(15), before(15);
  ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
  auto fresh = fakeParameters();
  ASSERT_TRUE(fresh->initialize(5).ok());
  ASSERT_TRUE(fresh->get("table", before.data(), 60).ok());
  EXPECT_NEAR(table[7], before[7] - 4 * 0.5, 1e-6);
  EXPECT_EQ(reinterpret_cast<const float *>((*first)->state(0).hostView())[5], 16);

  auto keeps = Context::create(parameters, "infer", {{"B", 3}}, pool);
  ASSERT_TRUE(keeps.ok());
  expectError((*keeps)->withSizes(larger).status(), ErrorKind::Usage, "keeps the state 'count' from run to run");
}

TEST(Context, SwapsStatesAfterSuccessOnly) {
  auto parameters = fakeParameters();
  auto pool = makePool(2);
  auto context = Context::create(parameters, "infer", {{"B", 3}}, pool);
  ASSERT_TRUE(context.ok());
  auto count = [&](Context &c) { return reinterpret_cast<const float *>(c.state(0).hostView())[2]; };
  EXPECT_EQ(count(**context), 7);
  ASSERT_TRUE((*context)->run().ok());
  ASSERT_TRUE((*context)->run().ok());
  EXPECT_EQ(count(**context), 9);
  auto copy = Context::create(parameters, "infer", {{"B", 3}}, pool);
  ASSERT_TRUE((*copy)->copyStatesFrom(**context).ok());
  EXPECT_EQ(count(**copy), 9);
  auto other = Context::create(parameters, "infer", {{"B", 4}}, pool);
  expectError((*other)->copyStatesFrom(**context), ErrorKind::Usage, "differs in shape");
  (*context)->resetStates();
  EXPECT_EQ(count(**context), 7);
  // B = 999 makes the fake entry fail after it has written its states.
  auto failing = Context::create(parameters, "infer", {{"B", 999}}, pool);
  expectError((*failing)->run(), ErrorKind::Input, "run-time check number 3");
  EXPECT_EQ(count(**failing), 7);
}

TEST(Context, SharesStatesOfTheModel) {
  auto parameters = fakeParameters();
  auto pool = makePool(1);
  auto train = Context::create(parameters, "train", {{"B", 2}}, pool);
  auto infer = Context::create(parameters, "infer", {{"B", 2}}, pool);
  ASSERT_TRUE(train.ok() && infer.ok());
  ASSERT_TRUE((*train)->run().ok());
  ASSERT_TRUE((*train)->run().ok());
  ASSERT_TRUE((*infer)->run().ok());
  EXPECT_EQ(reinterpret_cast<const float *>((*infer)->state(1).hostView())[5], 4); // doubled twice
  (*infer)->resetStates();
  EXPECT_EQ(reinterpret_cast<const float *>((*infer)->state(1).hostView())[5], 4); // not the context's to reset
  // Set in one context before it has ever run, it is set in all, and the next step goes on from there.
  auto setting = Context::create(parameters, "infer", {{"B", 2}}, pool);
  ASSERT_TRUE((*setting)
                  ->setState(1,
                             [](char *values) {
                               reinterpret_cast<float *>(values)[5] = 10;
                               return Status();
                             })
                  .ok());
  ASSERT_TRUE((*infer)->loadModelStates().ok());
  EXPECT_EQ(reinterpret_cast<const float *>((*infer)->state(1).hostView())[5], 10);
  ASSERT_TRUE((*train)->run().ok());
  auto later = Context::create(parameters, "infer", {{"B", 2}}, pool);
  ASSERT_TRUE((*later)->loadModelStates().ok());
  EXPECT_EQ(reinterpret_cast<const float *>((*later)->state(1).hostView())[5], 20);
}

TEST(Context, TrainsOrGivesGradientsOnly) {
  auto parameters = fakeParameters();
  auto train = Context::create(parameters, "train", {{"B", 2}}, makePool(1));
  ASSERT_TRUE(train.ok());
  (*train)->setFlags(1);
  ASSERT_TRUE((*train)->run().ok());
  std::vector<float> table(15), gradient(15);
  ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
  ASSERT_TRUE(parameters->get("table", gradient.data(), 60, ParameterArena::Gradients).ok());
  EXPECT_EQ(table[14], 0);
  EXPECT_EQ(gradient[14], 1);
  (*train)->setFlags(0);
  ASSERT_TRUE((*train)->run().ok());
  ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
  EXPECT_EQ(table[14], -0.5f);
  expectError(parameters->get("table", table.data(), 60, ParameterArena::Moment1), ErrorKind::Usage, "not allocated");
}

// A state that starts from draws has values once somebody brought them: all of it, by a context, or every one.
TEST(Context, AsksForStatesThatAreDrawn) {
  auto parameters = fakeParameters("fake-drawn");
  for (const std::string &name : parameters->names()) {
    const auto place = parameters->find(name);
    std::vector<float> values(static_cast<size_t>(place->info->elements), 1);
    ASSERT_TRUE(parameters->set(name, values.data(), values.size() * 4).ok());
  }
  expectError(parameters->checkGiven(), ErrorKind::Usage, "the state 'norm.*.mean' of the model 'FAKE' has no values yet");
  auto context = Context::create(parameters, "infer", {{"B", 2}}, makePool(1));
  ASSERT_TRUE(context.ok());
  ASSERT_TRUE((*context)
                  ->setState(1,
                             [](char *values) {
                               std::memset(values, 0, 24);
                               return Status();
                             })
                  .ok());
  EXPECT_TRUE(parameters->checkGiven().ok());
  auto drawn = fakeParameters("fake-drawn"), again = fakeParameters("fake-drawn");
  ASSERT_TRUE(drawn->initialize(5).ok() && again->initialize(6).ok());
  EXPECT_TRUE(drawn->checkGiven().ok());
  auto valuesOf = [](Parameters &of) {
    std::vector<float> values(6);
    EXPECT_TRUE(of.modelStates().at("norm.*.mean").memory.view().read(values.data()).ok());
    return values;
  };
  const std::vector<float> values = valuesOf(*drawn);
  EXPECT_NE(values, valuesOf(*again));
  EXPECT_NE(values[0], values[3]); // an element of the stack has draws of its own
}

// One half leaves what the other one reads, and nothing else is touched by it.
TEST(Context, RunsAStepInHalves) {
  auto parameters = fakeParameters();
  auto train = Context::create(parameters, "train", {{"B", 2}}, makePool(1));
  auto infer = Context::create(parameters, "infer", {{"B", 2}}, makePool(1));
  ASSERT_TRUE(train.ok() && infer.ok());
  auto valueOf = [&](ParameterArena arena) {
    std::vector<float> table(15);
    EXPECT_TRUE(parameters->get("table", table.data(), 60, arena).ok());
    return table[14];
  };
  ASSERT_TRUE((*train)->runGradients().ok());
  EXPECT_EQ(valueOf(ParameterArena::Values), 0);
  EXPECT_EQ(valueOf(ParameterArena::Gradients), 1);
  std::vector<float> doubled(15, 2);
  ASSERT_TRUE(parameters->set("table", doubled.data(), 60, ParameterArena::Gradients).ok());
  const uint64_t states = (*train)->state(0).address();
  ASSERT_TRUE((*train)->runUpdate().ok());
  EXPECT_EQ(valueOf(ParameterArena::Values), -1);
  EXPECT_EQ((*train)->state(0).address(), states);
  EXPECT_EQ(reinterpret_cast<const float *>((*train)->state(0).hostView())[5], 2); // doubled once
  expectError((*infer)->runUpdate(), ErrorKind::Usage, "entry 'infer' has no update half: it does not train");
  expectError((*infer)->runGradients(), ErrorKind::Usage, "entry 'infer' has no gradient half: it does not train");
  (*train)->setFlags(3);
  expectError((*train)->run(), ErrorKind::Usage, "runs one half alone, or both without a flag");
}

TEST(Context, TellsWhenGradientsAreReady) {
  auto parameters = fakeParameters();
  auto train = Context::create(parameters, "train", {{"B", 2}}, makePool(1));
  auto infer = Context::create(parameters, "infer", {{"B", 2}}, makePool(1));
  ASSERT_TRUE(train.ok() && infer.ok());
  EXPECT_TRUE((*infer)->groups().empty());
  std::vector<std::vector<std::string>> groups;
  for (const std::vector<int> &group : (*train)->groups()) {
    groups.emplace_back();
    for (int number : group)
      groups.back().push_back(parameters->names()[static_cast<size_t>(number)]);
  }
  EXPECT_EQ(groups, (std::vector<std::vector<std::string>>{{"table"}, {"blocks.1.bias"}, {"blocks.0.bias"}}));
  struct Told {
    std::vector<int> groups;
    unsigned mode = 0;
  } told;
  const unsigned before = _mm_getcsr();
  (*train)->onGroup(
      [](void *user, int group) {
        static_cast<Told *>(user)->groups.push_back(group);
        static_cast<Told *>(user)->mode = _mm_getcsr();
      },
      &told);
  ASSERT_TRUE((*train)->runGradients().ok());
  EXPECT_EQ(told.groups, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(told.mode & 0xffc0u, before & 0xffc0u); // numbers that are not normal are the caller's again
  ASSERT_TRUE((*train)->runUpdate().ok());
  EXPECT_EQ(told.groups.size(), 3u);
  (*train)->onGroup(nullptr, nullptr);
  ASSERT_TRUE((*train)->run().ok());
  EXPECT_EQ(told.groups.size(), 3u);
}

TEST(Context, LendsBuffers) {
  auto parameters = fakeParameters();
  ASSERT_TRUE(parameters->initialize(1).ok());
  auto context = Context::create(parameters, "infer", {{"B", 16}}, makePool(2));
  ASSERT_TRUE(context.ok());
  alignas(64) int32_t ids[32] = {3};
  alignas(64) float y[320] = {};
  ASSERT_TRUE((*context)->borrowInput(0, ids).ok());
  ASSERT_TRUE((*context)->borrowOutput(0, y).ok());
  expectError((*context)->borrowInput(0, ids + 1), ErrorKind::Usage, "64-byte aligned");
  expectError((*context)->borrowInput(1, ids), ErrorKind::Usage, "no input number 1");
  ASSERT_TRUE((*context)->run().ok());
  EXPECT_NE(y[0], y[20]); // ids 3 and 0
  ASSERT_TRUE((*context)->borrowInput(0, nullptr).ok());
  EXPECT_NE((*context)->input(0), static_cast<void *>(ids));
}

TEST(Context, RestoresTheCallersFloatingPointMode) {
  auto parameters = fakeParameters();
  auto context = Context::create(parameters, "infer", {{"B", 16}}, makePool(2));
  ASSERT_TRUE(context.ok());
  unsigned odd = 0x1f80u | _MM_ROUND_DOWN;
  unsigned before = _mm_getcsr();
  _mm_setcsr(odd);
  Status status = (*context)->run();
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(after & 0xffc0u, odd & 0xffc0u);
}

} // namespace tenon::runtime::test
