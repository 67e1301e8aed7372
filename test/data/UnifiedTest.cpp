// unilm and seq2seq: rows of four masks, and of a source with its target.
#include "test/data/Batch.h"
#include <cmath>
#include <fstream>
#include <map>

namespace tenon::data::test {

namespace {

constexpr int64_t B = 8, T = 48, K = 12;
constexpr int32_t kPad = 256, kCls = 258, kSep = 259, kMask = 260;

Batch inputs(int64_t rows = B, int64_t places = T, int64_t slots = K) {
  return Batch()
      .add("ids", DataType::I32, {rows, places}, 264)
      .add("seg", DataType::I32, {rows, places}, 6)
      .add("place", DataType::I32, {rows, places}, places)
      .add("len", DataType::I32, {rows}, places + 1)
      .add("task", DataType::I32, {rows}, 4)
      .add("prefix", DataType::I32, {rows}, places + 1)
      .add("at", DataType::I32, {rows, slots}, places)
      .add("word", DataType::I32, {rows, slots}, 264)
      .add("weight", DataType::F32, {rows, slots});
}
Batch withPairs() {
  Batch batch = inputs();
  return batch.add("follows", DataType::I32, {B}, 2).add("paired", DataType::F32, {B});
}

TaskSettings settings(std::vector<double> shares = {2, 1, 1, 2}) {
  TaskSettings result;
  result.name = "unilm";
  result.shares = std::move(shares);
  result.seed = 3;
  return result;
}

struct Row {
  std::vector<int32_t> ids, original, segments;
  std::vector<int64_t> predicted; // places, ascending
  int64_t length, prefix;
  int32_t task;
};
Row rowOf(const Batch &batch, int64_t b, int64_t places = T, int64_t slots = K) {
  Row row;
  for (int64_t t = 0; t < places; ++t) {
    row.ids.push_back(batch.integer("ids", b * places + t));
    row.segments.push_back(batch.integer("seg", b * places + t));
    EXPECT_EQ(batch.integer("place", b * places + t), t);
  }
  row.original = row.ids;
  for (int64_t k = 0; k < slots; ++k)
    if (batch.real("weight", b * slots + k) == 1) {
      row.predicted.push_back(batch.integer("at", b * slots + k));
      row.original[static_cast<size_t>(row.predicted.back())] = batch.integer("word", b * slots + k);
    }
  row.length = batch.integer("len", b);
  row.prefix = batch.integer("prefix", b);
  row.task = batch.integer("task", b);
  return row;
}

std::vector<int32_t> symbolsOf(const std::string &text) {
  std::vector<int32_t> ids; // ^ and $ are marks, _ is padding
  for (char c : text)
    ids.push_back(c == '^' ? kCls : c == '$' ? kSep : c == '_' ? kPad : c);
  return ids;
}

std::string written(const std::string &name, const std::string &text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

} // namespace

/// Two lines of one document leave one way to cut a pair of all of it, which follows where a target is asked for.
TEST(Unified, RowsOfEachMask) {
  const std::string text = "abc\ndefg\n";
  struct {
    std::vector<double> shares;
    int32_t task;
    std::string ids[2]; // that start at the first line and at the second
    std::vector<int32_t> segments[2];
    int64_t prefix[2];
  } cases[] = {{{0, 1, 0, 0},
                1,
                {"^abcdefg$___", "^defg$______"},
                {{2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0}, {2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0}},
                {9, 6}},
               {{0, 0, 1, 0},
                2,
                {"^abcdefg$___", "^defg$______"},
                {{3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0}, {3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0}},
                {9, 6}},
               {{0, 0, 0, 1}, 3, {"^abc$defg$__", ""}, {{4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 0, 0}, {}}, {5, 0}}};
  for (auto &each : cases) {
    TaskSettings one = settings(each.shares);
    one.shortRate = 0;
    auto task = makeOrFail(one, text, Vocabulary::bytes(true));
    Batch batch = inputs(2, 12, 3);
    ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
    ASSERT_TRUE(task->fill(0, batch.tensors).ok());
    for (int64_t b = 0; b < 2; ++b) {
      const Row row = rowOf(batch, b, 12, 3);
      const size_t which = row.original[1] == 'd';
      EXPECT_EQ(row.task, each.task);
      EXPECT_EQ(row.predicted.size(), 1u); // 15 % of so few symbols
      if (each.ids[which].empty())
        continue; // a line that is cut inside: below
      EXPECT_EQ(row.original, symbolsOf(each.ids[which]));
      EXPECT_EQ(row.segments, each.segments[which]);
      EXPECT_EQ(row.prefix, each.prefix[which]);
      EXPECT_EQ(row.length, static_cast<int64_t>(each.ids[which].find_last_of('$')) + 1);
    }
  }
}

TEST(Unified, SharesAndWhatIsPaired) {
  auto task = makeOrFail(settings(), proseOf(600, 12), Vocabulary::bytes(true));
  Batch batch = withPairs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  std::map<int32_t, int> rows;
  int elsewhere = 0;
  const int batches = 300;
  for (uint64_t i = 0; i < batches; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      const Row row = rowOf(batch, b);
      ++rows[row.task];
      EXPECT_EQ(batch.real("paired", b), row.task == 0 ? 1 : 0);
      EXPECT_TRUE(row.task == 0 || batch.integer("follows", b) == 0);
      elsewhere += batch.integer("follows", b);
      const std::pair<int32_t, int32_t> wanted[] = {{0, 1}, {2, 2}, {3, 3}, {4, 5}};
      for (int64_t t = 0; t < T; ++t) {
        const auto [first, second] = wanted[row.task];
        EXPECT_EQ(row.segments[static_cast<size_t>(t)], t >= row.length ? 0 : t < row.prefix ? first : second);
      }
      EXPECT_EQ(row.original[static_cast<size_t>(row.prefix - 1)], kSep);
      EXPECT_EQ(row.original[static_cast<size_t>(row.length - 1)], kSep);
      EXPECT_EQ(row.prefix == row.length, row.task == 1 || row.task == 2);
    }
  }
  const double all = batches * B, wanted[] = {1. / 3, 1. / 6, 1. / 6, 1. / 3};
  for (int32_t each = 0; each < 4; ++each) // five binomial deviations
    EXPECT_NEAR(rows[each] / all, wanted[each], 5 * std::sqrt(wanted[each] * (1 - wanted[each]) / all)) << each;
  EXPECT_GT(elsewhere / (all / 3), 0.5) << "half of the second texts, and those of single sentences, are random";
  EXPECT_LT(elsewhere / (all / 3), 0.7);
}

TEST(Unified, MasksAreRunsUpToThreeAndTheEndOfATarget) {
  for (double ngram : {0.0, 1.0}) {
    TaskSettings one = settings({1, 1, 1, 1});
    one.ngram = ngram;
    auto task = makeOrFail(one, proseOf(600, 12), Vocabulary::bytes(true));
    Batch batch = inputs();
    ASSERT_TRUE(task->bind(batch.tensors).ok());
    int ends = 0, rows = 0, alone = 0, places = 0;
    for (uint64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(task->fill(i, batch.tensors).ok());
      for (int64_t b = 0; b < B; ++b) {
        const Row row = rowOf(batch, b);
        const int64_t texts = row.length - (row.task == 0 || row.task == 3 ? 3 : 2);
        EXPECT_EQ(static_cast<int64_t>(row.predicted.size()),
                  std::min<int64_t>(K, std::max<int64_t>(1, std::lrint(0.15 * static_cast<double>(texts)))));
        for (size_t k = 0; k < row.predicted.size(); ++k) {
          const int64_t at = row.predicted[k];
          const bool isEnd = row.original[static_cast<size_t>(at)] == kSep;
          EXPECT_NE(row.original[static_cast<size_t>(at)], kCls);
          EXPECT_TRUE(!isEnd || (row.task == 3 && at == row.length - 1));
          ends += isEnd;
          const bool near =
              (k > 0 && row.predicted[k - 1] == at - 1) || (k + 1 < row.predicted.size() && row.predicted[k + 1] == at + 1);
          alone += !near;
          ++places;
        }
        rows += row.task == 3;
      }
    }
    EXPECT_GT(ends, rows / 40) << "the end of a target is masked as its symbols are";
    if (ngram == 0)
      EXPECT_GT(alone, places / 2);
    else
      EXPECT_LT(alone, places / 4);
  }
}

TEST(Unified, EightyTenTen) {
  auto task = makeOrFail(settings(), proseOf(2000, 12), Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  double total = 0, masked = 0, kept = 0;
  for (uint64_t i = 0; i < 250; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      const Row row = rowOf(batch, b);
      for (int64_t at : row.predicted) {
        ++total;
        masked += row.ids[static_cast<size_t>(at)] == kMask;
        kept += row.ids[static_cast<size_t>(at)] == row.original[static_cast<size_t>(at)];
      }
    }
  }
  const double deviation = 5 / std::sqrt(total);
  EXPECT_NEAR(masked / total, 0.8 + 0.1 / 264, 0.4 * deviation);
  EXPECT_NEAR(kept / total, 0.1 + 0.1 / 264, 0.3 * deviation);
}

TEST(Unified, PositionIsAllThereIs) { expectRestartable(settings(), proseOf(300, 12), Vocabulary::bytes(true), withPairs()); }

TEST(Unified, WhatIsRefused) {
  std::unique_ptr<DataTask> task;
  for (const std::vector<double> &shares : {std::vector<double>{1, 1, 1}, {0, 0, 0, 0}, {1, -1, 1, 1}})
    EXPECT_NE(makeTaskFromText(settings(shares), proseOf(50, 5), Vocabulary::bytes(true), task).message().find("four numbers"),
              std::string::npos);
  EXPECT_NE(makeTaskFromText(settings(), proseOf(50, 5), Vocabulary::bytes(false), task).message().find("needs [CLS]"),
            std::string::npos);
  auto good = makeOrFail(settings(), proseOf(50, 5), Vocabulary::bytes(true));
  Batch narrow = Batch().add("ids", DataType::I32, {2, 8}, 264).add("seg", DataType::I32, {2, 8}, 2);
  EXPECT_NE(good->bind(narrow.tensors).message().find("'seg' holds values below 2, but unilm gives 6"), std::string::npos);
}

TEST(Seq2Seq, ARowHasBothTextsAndMasksOfTheTarget) {
  TaskSettings one;
  one.name = "seq2seq";
  one.sourceText = written("unified-source.txt", "ab\nabcdefgh\n");
  one.targetText = written("unified-target.txt", "xyz\nstuvw\n");
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(one, Part::HeldOut, nullptr, task).ok());
  Batch batch = inputs(2, 10, 4);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  const Row first = rowOf(batch, 0, 10, 4), second = rowOf(batch, 1, 10, 4);
  EXPECT_EQ(first.original, symbolsOf("^ab$xyz$__"));
  EXPECT_EQ(first.segments, (std::vector<int32_t>{4, 4, 4, 4, 5, 5, 5, 5, 0, 0}));
  EXPECT_EQ(second.original, symbolsOf("^abcd$stu$")); // the longer text loses its end, of equals the target
  EXPECT_EQ(first.prefix, 4);
  EXPECT_EQ(first.length, 8);
  EXPECT_EQ(first.task, 3);
  EXPECT_EQ(first.predicted.size(), 2u); // round(0.7 * 3)
  EXPECT_EQ(second.predicted.size(), 2u);
  for (const Row *row : {&first, &second})
    for (int64_t at : row->predicted)
      EXPECT_GE(at, row->prefix);
  ASSERT_EQ(task->notes().size(), 1u);
  EXPECT_NE(task->notes()[0].find("1 row of"), std::string::npos);
  Batch again = inputs(2, 10, 4);
  std::unique_ptr<DataTask> other;
  ASSERT_TRUE(makeTask(one, Part::HeldOut, nullptr, other).ok());
  ASSERT_TRUE(other->bind(again.tensors).ok());
  ASSERT_TRUE(other->fillEvaluation(0, again.tensors).ok());
  EXPECT_EQ(batch.bytes(), again.bytes());
  one.vocabulary = written("unified-words.txt", "[PAD]\n[CLS]\n[SEP]\na\n");
  EXPECT_NE(makeTask(one, Part::HeldOut, nullptr, other).message().find("it has no <mask>"), std::string::npos);
}

} // namespace tenon::data::test
