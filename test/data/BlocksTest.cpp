// mlm_blocks: RoBERTa's rows of whole sentences, and masks that are new in every epoch or not.
#include "test/data/Batch.h"
#include <cmath>
#include <set>

namespace tenon::data::test {

namespace {

constexpr int32_t kPad = 256, kCls = 258, kSep = 259, kMask = 260;

Batch inputs(int64_t rows, int64_t places, int64_t slots) {
  return Batch()
      .add("ids", DataType::I32, {rows, places}, 264)
      .add("seg", DataType::I32, {rows, places}, 2)
      .add("len", DataType::I32, {rows}, places + 1)
      .add("at", DataType::I32, {rows, slots}, places)
      .add("word", DataType::I32, {rows, slots}, 264)
      .add("weight", DataType::F32, {rows, slots});
}

TaskSettings settings(double rate = 0.15) {
  TaskSettings result;
  result.name = "mlm_blocks";
  result.rate = rate;
  result.seed = 5;
  return result;
}

std::string spelled(const Batch &batch, int64_t b, int64_t places, int64_t slots) {
  std::vector<int32_t> ids;
  for (int64_t t = 0; t < places; ++t)
    ids.push_back(batch.integer("ids", b * places + t));
  for (int64_t k = 0; k < slots; ++k)
    if (batch.real("weight", b * slots + k) == 1)
      ids[static_cast<size_t>(batch.integer("at", b * slots + k))] = batch.integer("word", b * slots + k);
  std::string text;
  for (int32_t id : ids)
    text += id == kCls ? '^' : id == kSep ? '$' : id == kPad ? '_' : static_cast<char>(id);
  return text;
}

} // namespace

TEST(Blocks, WholeSentencesAndAMarkBetweenDocuments) {
  // The second document begins in the first row, the third would need one place more; a long sentence is cut.
  auto task = makeOrFail(settings(0), "ab\nc\n\nde\n\nfghi\njklmnopqrstuvw\n", Vocabulary::bytes(true));
  Batch batch = inputs(5, 12, 2);
  ASSERT_TRUE(task->bind(batch.tensors).ok()) << task->bind(batch.tensors).message();
  EXPECT_EQ(task->evaluationBatches(), 1u);
  EXPECT_EQ(task->extent().all, 4);
  EXPECT_EQ(task->validRows(0), 4);
  ASSERT_TRUE(task->fillEvaluation(0, batch.tensors).ok());
  std::set<std::string> rows;
  for (int64_t b = 0; b < 4; ++b)
    rows.insert(spelled(batch, b, 12, 2));
  EXPECT_EQ(rows, (std::set<std::string>{"^ab$c$$de$__", "^fghi$______", "^jklmnopqrs$", "^tuvw$______"}));
}

TEST(Blocks, AShareOfAllPlacesIsPredicted) {
  constexpr int64_t rows = 8, places = 40, slots = 20;
  auto task = makeOrFail(settings(), proseOf(600, 12), Vocabulary::bytes(true));
  Batch batch = inputs(rows, places, slots);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  double all = 0, predicted = 0, masked = 0, kept = 0, marks = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < rows; ++b) {
      const int64_t length = batch.integer("len", b);
      double count = 0;
      for (int64_t k = 0; k < slots; ++k)
        if (batch.real("weight", b * slots + k) == 1) {
          const int32_t word = batch.integer("word", b * slots + k),
                        seen = batch.integer("ids", b * places + batch.integer("at", b * slots + k));
          ++count;
          masked += seen == kMask;
          kept += seen == word;
          marks += word == kCls || word == kSep;
          EXPECT_TRUE(seen == word || seen == kMask || seen < 256) << "random symbols are no marks";
        }
      EXPECT_TRUE(count == std::floor(0.15 * static_cast<double>(length)) ||
                  count == std::ceil(0.15 * static_cast<double>(length)));
      all += static_cast<double>(length);
      predicted += count;
    }
  }
  EXPECT_NEAR(predicted / all, 0.15, 0.003) << "a draw decides about the rest of the share";
  EXPECT_NEAR(masked / predicted, 0.8, 2 / std::sqrt(predicted));
  EXPECT_NEAR(kept / predicted, 0.1, 1.5 / std::sqrt(predicted));
  EXPECT_GT(marks, 0) << "fairseq may mask the marks, too";
}

TEST(Blocks, MasksAreNewInEveryEpochUnlessTheyAreStatic) {
  const std::string text = proseOf(12, 6);
  for (bool fixed : {true, false}) {
    TaskSettings one = settings();
    one.staticMasks = fixed;
    auto task = makeOrFail(one, text, Vocabulary::bytes(true));
    Batch batch = inputs(1, 64, 12);
    ASSERT_TRUE(task->bind(batch.tensors).ok());
    std::set<std::vector<std::vector<uint32_t>>> rows[2];
    for (uint64_t epoch = 0; epoch < 2; ++epoch)
      for (uint64_t i = 0; i < task->batchesPerEpoch(); ++i) {
        ASSERT_TRUE(task->fill(epoch * task->batchesPerEpoch() + i, batch.tensors).ok());
        rows[epoch].insert(batch.bytes());
      }
    EXPECT_GT(rows[0].size(), 3u);
    EXPECT_EQ(rows[0] == rows[1], fixed);
  }
}

TEST(Blocks, WholeWords) {
  auto letter = [](int32_t id) { return id >= 'a' && id <= 'z'; };
  TaskSettings one = settings();
  one.words = WordChoice::Whole;
  auto task = makeOrFail(one, proseOf(200, 12), Vocabulary::bytes(true));
  Batch batch = inputs(4, 60, 30);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  int torn = 0, words = 0;
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < 4; ++b) {
      const std::string text = spelled(batch, b, 60, 30);
      std::vector<bool> predicted(60);
      for (int64_t k = 0; k < 30; ++k)
        if (batch.real("weight", b * 30 + k) == 1)
          predicted[static_cast<size_t>(batch.integer("at", b * 30 + k))] = true;
      for (size_t t = 1; t < 60; ++t)
        if (letter(text[t]) && letter(text[t - 1])) {
          torn += predicted[t] != predicted[t - 1];
          ++words;
        }
    }
  }
  EXPECT_GT(words, 1000);
  EXPECT_EQ(torn, 0);
}

TEST(Blocks, PositionIsAllThereIs) { expectRestartable(settings(), proseOf(300, 12), Vocabulary::bytes(true), inputs(4, 40, 8)); }

} // namespace tenon::data::test
