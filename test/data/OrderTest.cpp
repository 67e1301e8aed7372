// reorder and distances: texts of a document in another order, and how far apart two sentences are.
#include "test/data/Batch.h"
#include <algorithm>
#include <map>
#include <set>

namespace tenon::data::test {

namespace {

constexpr int32_t kCls = 258, kSep = 259;

Batch inputs(int64_t rows, int64_t places, const std::string &label, int64_t classes, int64_t segments) {
  return Batch()
      .add("ids", DataType::I32, {rows, places}, 264)
      .add("seg", DataType::I32, {rows, places}, segments)
      .add("len", DataType::I32, {rows}, places + 1)
      .add(label, DataType::I32, {rows}, classes);
}

TaskSettings settings(const std::string &name, int64_t most = 4) {
  TaskSettings result;
  result.name = name;
  result.most = most;
  result.seed = 8;
  return result;
}

std::vector<std::string> textsOf(const Batch &batch, int64_t b, int64_t places) {
  std::vector<std::string> texts(1);
  EXPECT_EQ(batch.integer("ids", b * places), kCls);
  for (int64_t t = 1; t < batch.integer("len", b); ++t) {
    EXPECT_EQ(batch.integer("seg", b * places + t), static_cast<int32_t>(texts.size()) - 1);
    if (const int32_t id = batch.integer("ids", b * places + t); id == kSep)
      texts.emplace_back();
    else
      texts.back() += static_cast<char>(id);
  }
  texts.pop_back();
  return texts;
}

} // namespace

/// Three sentences in one document; the classes by hand: 0 for one text, 1 and 2 for two, 3 to 8 for three.
TEST(Reorder, ClassesAreOrdersByTheNumberOfTexts) {
  auto task = makeOrFail(settings("reorder", 3), "a\nb\nc\n", Vocabulary::bytes(true));
  const std::map<std::string, std::set<int32_t>> wanted = {
      {"a|b|c", {3}}, {"a|c|b", {4}}, {"b|a|c", {5}}, {"b|c|a", {6}}, {"c|a|b", {7}},
      {"c|b|a", {8}}, {"a|bc", {1}},  {"ab|c", {1}},  {"bc|a", {2}},  {"c|ab", {2}},
      {"abc", {0}},   {"bc", {0}},    {"b|c", {1}},   {"c|b", {2}},   {"c", {0}}}; // from the second and the third sentence on
  Batch batch = inputs(4, 16, "order", 9, 3);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  std::set<std::string> seen;
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < 4; ++b) {
      std::string joined;
      for (const std::string &text : textsOf(batch, b, 16))
        joined += (joined.empty() ? "" : "|") + text;
      ASSERT_TRUE(wanted.count(joined)) << joined;
      EXPECT_EQ(*wanted.at(joined).begin(), batch.integer("order", b)) << joined;
      seen.insert(joined);
    }
  }
  EXPECT_EQ(seen.size(), wanted.size());
}

TEST(Reorder, FourTextsHaveThirtyThreeClasses) {
  auto task = makeOrFail(settings("reorder"), proseOf(300, 10), Vocabulary::bytes(true));
  Batch batch = inputs(8, 120, "order", 33, 4);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  std::set<int32_t> classes;
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < 8; ++b) {
      classes.insert(batch.integer("order", b));
      EXPECT_LE(batch.integer("len", b), 120);
    }
  }
  EXPECT_EQ(classes.size(), 33u);
  EXPECT_EQ(*classes.rbegin(), 32);
  EXPECT_NE(task->bind(inputs(8, 120, "order", 32, 4).tensors).message().find("reorder gives 33"), std::string::npos);
  EXPECT_NE(task->bind(inputs(8, 120, "order", 33, 2).tensors).message().find("reorder gives 4"), std::string::npos);
  EXPECT_NE(task->bind(inputs(8, 8, "order", 33, 4).tensors).message().find("at least 9 tokens"), std::string::npos);
}

TEST(Distances, NeighboursOneDocumentAndTwo) {
  auto task = makeOrFail(settings("distances"), "a\nb\nc\nd\n\ne\nf\n\ng\n", Vocabulary::bytes(true));
  Batch batch = inputs(4, 8, "distance", 3, 2);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  const std::string documents[] = {"abcd", "ef", "g"};
  std::map<int32_t, std::set<std::string>> pairs;
  for (uint64_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < 4; ++b) {
      const std::vector<std::string> texts = textsOf(batch, b, 8);
      ASSERT_EQ(texts.size(), 2u);
      int32_t wanted = 2;
      for (const std::string &document : documents)
        if (document.find(texts[0]) != std::string::npos && document.find(texts[1]) != std::string::npos) {
          const auto apart = static_cast<int>(document.find(texts[1])) - static_cast<int>(document.find(texts[0]));
          wanted = apart == 1 ? 0 : 1;
          EXPECT_NE(apart, 0);
          EXPECT_NE(apart, -1) << "neighbours stand in their order";
        }
      EXPECT_EQ(batch.integer("distance", b), wanted) << texts[0] << texts[1];
      pairs[wanted].insert(texts[0] + texts[1]);
    }
  }
  EXPECT_EQ(pairs[0], (std::set<std::string>{"ab", "bc", "cd", "ef"}));
  EXPECT_EQ(pairs[1], (std::set<std::string>{"ac", "ad", "bd", "ca", "da", "db"}));
  EXPECT_EQ(pairs[2].size(), 28u); // 7 * 6 ordered pairs without the 12 + 2 of one document
}

TEST(Distances, EachDistanceIsAThird) {
  auto task = makeOrFail(settings("distances"), proseOf(600, 12), Vocabulary::bytes(true));
  Batch batch = inputs(8, 60, "distance", 3, 2);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  std::map<int32_t, double> rows;
  for (uint64_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < 8; ++b)
      ++rows[batch.integer("distance", b)];
  }
  for (int32_t each = 0; each < 3; ++each)
    EXPECT_NEAR(rows[each] / 2400, 1. / 3, 0.05);
}

TEST(Distances, WhatIsRefused) {
  std::unique_ptr<DataTask> task;
  EXPECT_NE(makeTaskFromText(settings("distances"), "a\nb\n", Vocabulary::bytes(true), task).message().find("two documents"),
            std::string::npos);
}

TEST(Distances, PositionIsAllThereIs) {
  expectRestartable(settings("distances"), proseOf(300, 12), Vocabulary::bytes(true), inputs(4, 60, "distance", 3, 2));
  expectRestartable(settings("reorder"), proseOf(300, 12), Vocabulary::bytes(true), inputs(4, 100, "order", 33, 4));
}

} // namespace tenon::data::test
