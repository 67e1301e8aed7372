#include "runtime/generate/Sampler.h"
#include "runtime/generate/BeamRules.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace tenon::generate;

namespace {

std::map<int32_t, double> frequencies(const Method &method, const std::vector<double> &logits, int draws) {
  Sampler sampler(method, 9);
  std::map<int32_t, double> counts;
  for (int i = 0; i < draws; ++i)
    counts[sampler.draw(logits, static_cast<uint64_t>(i))] += 1.0 / draws;
  return counts;
}

} // namespace

TEST(Sampler, GreedyTakesTheFirstOfTheLargest) {
  Method greedy;
  greedy.greedy = true;
  EXPECT_EQ(Sampler(greedy, 0).draw({0.5, 2, -1, 2}, 3), 1);
  EXPECT_EQ(Sampler(greedy, 0).draw({NAN, -INFINITY, -3}, 0), 2);
  EXPECT_EQ(Sampler(greedy, 0).draw({NAN, -INFINITY}, 0), -1);
}

TEST(Sampler, FrequenciesAreTheSoftmax) {
  std::vector<double> logits = {0, std::log(2), std::log(5), -INFINITY};
  auto found = frequencies({}, logits, 40000);
  EXPECT_NEAR(found[0], 1.0 / 8, 0.01);
  EXPECT_NEAR(found[1], 2.0 / 8, 0.012);
  EXPECT_NEAR(found[2], 5.0 / 8, 0.013);
  EXPECT_EQ(found.count(3), 0u);
  Method cold;
  cold.temperature = 0.5; // squares the odds
  found = frequencies(cold, logits, 40000);
  EXPECT_NEAR(found[0], 1.0 / 30, 0.006);
  EXPECT_NEAR(found[2], 25.0 / 30, 0.011);
}

TEST(Sampler, TopKAndTopP) {
  std::vector<double> logits = {std::log(1), std::log(4), std::log(3), std::log(2)};
  Method two;
  two.topK = 2;
  auto found = frequencies(two, logits, 20000);
  EXPECT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[1], 4.0 / 7, 0.02);
  Method most;
  most.topP = 0.65; // 0.4, then 0.7 reaches it
  found = frequencies(most, logits, 20000);
  EXPECT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[2], 3.0 / 7, 0.02);
  most.topP = 0.75;
  EXPECT_EQ(frequencies(most, logits, 20000).size(), 3u);
  most.topK = 1;
  EXPECT_EQ(frequencies(most, logits, 100).size(), 1u);
}

TEST(Sampler, DrawsAreAFunctionOfSeedAndIndex) {
  std::vector<double> logits(50, 0.0);
  Sampler first({}, 1), again({}, 1), other({}, 2);
  std::set<int32_t> seen;
  int equal = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    int32_t value = first.draw(logits, i);
    EXPECT_EQ(value, again.draw(logits, i));
    equal += value == other.draw(logits, i);
    seen.insert(value);
  }
  EXPECT_LT(equal, 15);
  EXPECT_GT(seen.size(), 30u);
}

TEST(Sampler, MistakesAreNamed) {
  Method method;
  EXPECT_TRUE(checkMethod(method).ok());
  method.temperature = 0;
  EXPECT_FALSE(checkMethod(method).ok());
  method.temperature = NAN;
  EXPECT_FALSE(checkMethod(method).ok());
  method = {};
  method.topP = 0;
  EXPECT_FALSE(checkMethod(method).ok());
  method = {};
  method.topK = -1;
  EXPECT_FALSE(checkMethod(method).ok());
  method = {true, 0, 0, 0}; // a tn_sampling of zeros that is greedy
  EXPECT_TRUE(checkMethod(method).ok());
}

TEST(Sampler, BeamsHaveLimits) {
  EXPECT_TRUE(checkBeam({}).ok());
  EXPECT_TRUE(checkBeam({kMostBeams, BeamRule::Hf, -10, 0}).ok());
  EXPECT_FALSE(checkBeam({0, BeamRule::T2t, 0.6, 0}).ok());
  EXPECT_FALSE(checkBeam({kMostBeams + 1, BeamRule::T2t, 0.6, 0}).ok());
  for (double alpha : {double(NAN), double(INFINITY), 1e308, -10.5})
    EXPECT_NE(checkBeam({4, BeamRule::T2t, alpha, 0}).message().find("alpha"), std::string::npos) << alpha;
  EXPECT_TRUE(checkLimit(0).ok() && checkLimit(kMostSymbols).ok());
  EXPECT_FALSE(checkLimit(-1).ok());
  EXPECT_FALSE(checkLimit(kMostSymbols + 1).ok());
}
