// BERT's data: rates of the masks, pairs, whole words.
#include "Batch.h"
#include <cmath>
#include <map>

using namespace tenon::data;
using namespace tenon::data::test;

namespace {

constexpr int64_t B = 8, T = 96, K = 16;
constexpr int32_t kPad = 256, kCls = 258, kSep = 259, kMask = 260;

Batch inputs() {
  return Batch()
      .add("ids", DataType::I32, {B, T}, 264)
      .add("seg", DataType::I32, {B, T}, 2)
      .add("len", DataType::I32, {B}, T + 1)
      .add("at", DataType::I32, {B, K}, T)
      .add("word", DataType::I32, {B, K}, 264)
      .add("weight", DataType::F32, {B, K})
      .add("follows", DataType::I32, {B}, 2);
}
TaskSettings settings(bool whole = false) {
  TaskSettings result;
  result.name = "mlm_nsp";
  result.words = whole ? WordChoice::Whole : WordChoice::Pieces;
  result.seed = 11;
  return result;
}

struct Row {
  std::vector<int32_t> ids, original;
  std::vector<bool> predicted;
  int64_t length = 0, count = 0;
  bool random = false;
};
Row rowOf(const Batch &batch, int64_t b) {
  Row row;
  row.length = batch.integer("len", b);
  for (int64_t t = 0; t < T; ++t)
    row.ids.push_back(batch.integer("ids", b * T + t));
  row.original = row.ids;
  row.predicted.assign(T, false);
  for (int64_t k = 0; k < K; ++k)
    if (batch.real("weight", b * K + k) == 1) {
      size_t at = static_cast<size_t>(batch.integer("at", b * K + k));
      row.original[at] = batch.integer("word", b * K + k);
      row.predicted[at] = true;
      ++row.count;
    }
  row.random = batch.integer("follows", b) == 1;
  return row;
}

/// Bytes between the marks: the two texts of a pair.
std::pair<std::string, std::string> textsOf(const Row &row) {
  std::string texts[2];
  int at = 0;
  for (int64_t t = 1; t < row.length; ++t)
    if (int32_t id = row.original[static_cast<size_t>(t)]; id == kSep)
      ++at;
    else if (at < 2)
      texts[at] += static_cast<char>(id);
  return {texts[0], texts[1]};
}

} // namespace

TEST(MaskedData, LayoutAndPadding) {
  auto task = makeOrFail(settings(), proseOf(600, 12), Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  for (uint64_t i = 0; i < 60; ++i) {
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      Row row = rowOf(batch, b);
      ASSERT_GE(row.length, 5);
      ASSERT_LE(row.length, T);
      EXPECT_EQ(row.ids[0], kCls);
      int marks = 0;
      for (int64_t t = 0; t < T; ++t) {
        size_t place = static_cast<size_t>(t);
        EXPECT_EQ(batch.integer("seg", b * T + t), t < row.length && marks > 0 ? 1 : 0);
        marks += row.original[place] == kSep;
        EXPECT_EQ(row.ids[place] == kPad && !row.predicted[place], t >= row.length);
        EXPECT_FALSE(row.predicted[place] && (t >= row.length || row.original[place] == kSep || row.original[place] == kCls));
      }
      EXPECT_EQ(marks, 2);
      EXPECT_EQ(row.original[static_cast<size_t>(row.length - 1)], kSep);
      int64_t expected = std::min<int64_t>(K, std::max<int64_t>(1, std::lrint(0.15 * static_cast<double>(row.length))));
      EXPECT_EQ(row.count, expected);
      for (int64_t k = 1; k < row.count; ++k)
        EXPECT_GT(batch.integer("at", b * K + k), batch.integer("at", b * K + k - 1));
    }
  }
}

TEST(MaskedData, EightyTenTen) {
  auto task = makeOrFail(settings(), proseOf(2000, 12), Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  double total = 0, masked = 0, kept = 0, random = 0, rows = 0;
  std::map<int32_t, int> drawn;
  for (uint64_t i = 0; i < 250; ++i) {
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      Row row = rowOf(batch, b);
      random += row.random;
      ++rows;
      for (size_t t = 0; t < T; ++t) {
        if (!row.predicted[t])
          continue;
        ++total;
        masked += row.ids[t] == kMask;
        kept += row.ids[t] == row.original[t];
        if (row.ids[t] != kMask && row.ids[t] != row.original[t])
          ++drawn[row.ids[t]];
      }
    }
  }
  // Five binomial deviations; a random symbol is the mask or the token itself once in 264 times.
  double deviation = 5 / std::sqrt(total);
  EXPECT_NEAR(masked / total, 0.8 + 0.1 / 264, 0.4 * deviation);
  EXPECT_NEAR(kept / total, 0.1 + 0.1 / 264, 0.3 * deviation);
  EXPECT_NEAR(random / rows, 0.5, 0.08) << "pairs: half are random, and single sentences always";
  EXPECT_GT(drawn.size(), 250u) << "random symbols come from the whole vocabulary";
}

TEST(MaskedData, PairsThatFollowDoFollow) {
  std::string text = proseOf(600, 12);
  auto task = makeOrFail(settings(), text, Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  std::string joined; // the encoder sees lines without their ends
  for (char c : text)
    if (c != '\n')
      joined += c;
  int following = 0, elsewhere = 0, elsewhereFollowing = 0;
  for (uint64_t i = 0; i < 60; ++i) {
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      Row row = rowOf(batch, b);
      auto [first, second] = textsOf(row);
      if (row.length == T) // trimmed at any of four ends
        continue;
      bool adjacent = joined.find(first + second) != std::string::npos;
      if (row.random) {
        ++elsewhere;
        elsewhereFollowing += adjacent;
      } else {
        ++following;
        EXPECT_TRUE(adjacent) << first << " | " << second;
      }
    }
  }
  EXPECT_GT(following, 10);
  EXPECT_GT(elsewhere, 10);
  EXPECT_LT(elsewhereFollowing, elsewhere / 10);
}

TEST(MaskedData, WholeWordsAreTakenWhole) {
  auto letter = [](int32_t id) { return id >= 'a' && id <= 'z'; };
  for (bool whole : {true, false}) {
    auto task = makeOrFail(settings(whole), proseOf(600, 12), Vocabulary::bytes(true));
    Batch batch = inputs();
    ASSERT_TRUE(task->bind(batch.tensors).ok());
    int torn = 0, words = 0;
    for (uint64_t i = 0; i < 30; ++i) {
      EXPECT_TRUE(task->fill(i, batch.tensors).ok());
      for (int64_t b = 0; b < B; ++b) {
        Row row = rowOf(batch, b);
        for (size_t t = 1; t < T; ++t)
          if (letter(row.original[t]) && letter(row.original[t - 1])) {
            torn += row.predicted[t] != row.predicted[t - 1];
            ++words;
          }
      }
    }
    EXPECT_GT(words, 1000);
    EXPECT_EQ(torn == 0, whole) << torn; // single bytes tear words: the check can fail
  }
}

TEST(MaskedData, PositionIsAllThereIs) {
  expectRestartable(settings(), proseOf(300, 12), Vocabulary::bytes(true), inputs());
  expectRestartable(settings(true), proseOf(300, 12), Vocabulary::bytes(true), inputs());
}

TEST(MaskedData, MasksAreNewInEveryEpoch) {
  auto task = makeOrFail(settings(), proseOf(300, 12), Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  EXPECT_TRUE(task->fill(0, batch.tensors).ok());
  auto first = batch.bytes();
  EXPECT_TRUE(task->fill(task->batchesPerEpoch() * 5, batch.tensors).ok());
  EXPECT_NE(first, batch.bytes());
}

TEST(MaskedData, MistakesAreNamed) {
  std::unique_ptr<DataTask> task;
  EXPECT_NE(makeTaskFromText(settings(), proseOf(50, 5), Vocabulary::bytes(false), task).message().find("needs [CLS]"),
            std::string::npos);
  EXPECT_NE(makeTaskFromText(settings(), "one line\n", Vocabulary::bytes(true), task).message().find("at least two lines"),
            std::string::npos);
}

/// An evaluation has one pair per sentence, whatever the size of its batches, and says so.
TEST(MaskedData, EvaluationsHaveEverySentenceOnce) {
  const std::string text = proseOf(21, 7);
  auto task = makeOrFail(settings(), text, Vocabulary::bytes(true)),
       single = makeOrFail(settings(), text, Vocabulary::bytes(true));
  auto rowsOf = [](int64_t rows) {
    Batch batch;
    for (const InputTensor &input : inputs().tensors) {
      std::vector<int64_t> shape = input.shape;
      shape[0] = rows;
      batch.add(input.name, input.type, shape, input.bound);
    }
    return batch;
  };
  Batch batch = inputs(), one = rowsOf(1), tail = rowsOf(5); // tail: tensors that have the valid rows alone
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_TRUE(single->bind(one.tensors).ok());
  ASSERT_EQ(task->evaluationBatches(), 3u);
  ASSERT_EQ(single->evaluationBatches(), 21u);
  EXPECT_EQ(task->validRows(1), B);
  EXPECT_EQ(task->validRows(2), 21 - 2 * B);
  EXPECT_EQ(task->extent().covered, 21);
  EXPECT_EQ(task->extent().all, 21);
  for (int64_t i = 0; i < 3 * B; ++i) {
    if (i % B == 0)
      ASSERT_TRUE(task->fillEvaluation(static_cast<uint64_t>(i / B), batch.tensors).ok());
    ASSERT_TRUE(single->fillEvaluation(static_cast<uint64_t>(std::min<int64_t>(i, 20)), one.tensors)
                    .ok()); // behind the last it comes again
    for (int64_t t = 0; t < T; ++t)
      ASSERT_EQ(batch.integer("ids", i % B * T + t), one.integer("ids", t)) << "pair " << i;
  }
  ASSERT_TRUE(task->fillEvaluation(2, tail.tensors).ok());
  for (int64_t t = 0; t < T; ++t)
    ASSERT_EQ(tail.integer("ids", 4 * T + t), one.integer("ids", t));
}
