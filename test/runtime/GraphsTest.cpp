// What launches of a graph wait for.
#include "runtime/cuda/Dependencies.h"
#include <gtest/gtest.h>

using namespace tenon::runtime::cuda;

namespace {

struct Touched {
  uint64_t address;
  int64_t bytes; // negative: written
};

struct Launches : LaunchList {
  void add(const std::vector<Touched> &touched, uint32_t maps = 0) {
    launches.push_back({0, 1, 32, 0, uint32_t(arguments.size()), uint32_t(touched.size()) + maps + 1, maps,
                        uint32_t(this->spans.size()), uint32_t(touched.size())});
    arguments.insert(arguments.end(), size_t(maps) * kMapWords, 1000); // like an address, and none
    for (const Touched &each : touched) {
      arguments.push_back(each.address);
      this->spans.push_back(each.bytes);
    }
    arguments.push_back(1000); // a number
  }
};

using Waits = std::vector<std::vector<uint32_t>>;

TEST(Graphs, WaitForWhatTheyReadAndForReadersOfWhatTheyWrite) {
  Launches list;
  list.add({{1000, -100}});
  list.add({{1000, 100}, {2000, -100}});
  list.add({{1000, 100}, {3000, -100}}, 2);
  list.add({{2000, 100}, {3000, 100}, {4000, -100}});
  list.add({{1000, -100}}); // for those that read it, which wait for the one that wrote it
  EXPECT_EQ(dependenciesOf(list), (Waits{{}, {0}, {0}, {2, 1}, {2, 1}}));
}

TEST(Graphs, PartsOfMemory) {
  Launches list;
  list.add({{1000, -100}});
  list.add({{1100, -100}}); // beside it
  list.add({{1099, 2}});
  list.add({{1100, 100}, {1199, 1}});
  list.add({{1199, -1}});
  list.add({{1000, 0}});
  EXPECT_EQ(dependenciesOf(list), (Waits{{}, {}, {1, 0}, {1}, {3}, {}}));
}

TEST(Graphs, WhatMayTouchAnything) {
  Launches list;
  list.add({{1000, -100}});
  list.add({{2000, -100}});
  list.add({});
  list.add({{3000, -100}});
  list.add({{2000, 100}});
  list.add({});
  EXPECT_EQ(dependenciesOf(list), (Waits{{}, {}, {1, 0}, {2}, {2}, {4, 3}}));
}

TEST(Graphs, LargeOnesOneByOne) {
  constexpr int64_t large = int64_t(64) << 20;
  Launches list;
  list.add({{1000, large / 2}, {1000 + large, -large / 2}});
  list.add({{1000 + 4 * large, large}});
  list.add({{1000 + 8 * large, large - 1}});
  list.add({{1000 + 12 * large, -large}});
  EXPECT_EQ(dependenciesOf(list), (Waits{{}, {0}, {}, {1}}));
}

TEST(Graphs, ManyLaunches) {
  constexpr uint32_t count = 2500;
  Launches list;
  for (uint32_t i = 0; i < count; ++i)
    list.add({{1000 + 8 * uint64_t(i), -8}});
  const Waits waits = dependenciesOf(list);
  for (uint32_t i = 0; i < count; ++i)
    if (i == 0 || i % 1024)
      EXPECT_EQ(waits[i], i < 1024 ? std::vector<uint32_t>() : std::vector<uint32_t>{i / 1024 * 1024}) << i;
    else
      EXPECT_EQ(waits[i].size(), i == 1024 ? 1024u : 1023u) << i; // the one before waits for what was before that
}

} // namespace
