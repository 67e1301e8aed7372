#include "Batch.h"
#include "runtime/data/Random.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace tenon::data;
using namespace tenon::data::test;

namespace {

Batch tokens(int64_t rows, int64_t length) {
  return Batch().add("ids", DataType::I32, {rows, length}, 256).add("target", DataType::I32, {rows, length}, 256);
}
TaskSettings stream(const std::string &name = "byte_stream") {
  TaskSettings settings;
  settings.name = name;
  settings.seed = 7;
  return settings;
}

} // namespace

// Salmon et al. 2011, the known answers of Random123's kat_vectors for philox4x32 with 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, PermutationTakesEveryPlaceOnce) {
  for (uint64_t size : {1u, 2u, 3u, 17u, 64u, 1000u}) {
    std::vector<uint64_t> first(size), second(size);
    for (uint64_t i = 0; i < size; ++i) {
      first[i] = Permutation(5, 0, size)(i);
      second[i] = Permutation(5, 1, size)(i);
    }
    if (size >= 17) {
      EXPECT_NE(first, second) << "epochs differ";
      EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
    }
    std::sort(first.begin(), first.end());
    for (uint64_t i = 0; i < size; ++i)
      EXPECT_EQ(first[i], i);
  }
}

TEST(Random, OrdersOfFewRowsAreUniform) {
  std::map<std::vector<uint64_t>, int> counts;
  constexpr int kEpochs = 60000;
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Permutation order(7, epoch, 5);
    ++counts[{order(0), order(1), order(2), order(3), order(4)}];
  }
  EXPECT_EQ(counts.size(), 120u);
  for (const auto &[order, count] : counts)
    EXPECT_NEAR(count, kEpochs / 120, 112); // five deviations of the binomial: 22
}

TEST(Random, BelowIsUniform) {
  RandomStream random(1, Purpose::Mask, 0);
  std::vector<int> counts(10);
  for (int i = 0; i < 100000; ++i)
    ++counts[random.below(10)];
  for (int count : counts)
    EXPECT_NEAR(count, 10000, 500); // five deviations of the binomial: 95
}

TEST(Stream, RowsAreContiguousStreamsAndTargetsComeOneLater) {
  std::string text(1003, ' ');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i * 7 % 251);
  auto task = makeOrFail(stream(), text, Vocabulary::bytes(false));
  Batch batch = tokens(4, 16);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  int64_t row = 1003 / 4;
  EXPECT_EQ(task->batchesPerEpoch(), static_cast<uint64_t>((row - 1) / 16));
  for (uint64_t i = 0; i < task->batchesPerEpoch(); ++i) {
    EXPECT_EQ(task->resetsBefore(i), i == 0);
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < 4; ++b)
      for (int64_t t = 0; t < 16; ++t) {
        size_t place = static_cast<size_t>(b * row + static_cast<int64_t>(i) * 16 + t);
        EXPECT_EQ(batch.integer("ids", b * 16 + t), static_cast<unsigned char>(text[place]));
        EXPECT_EQ(batch.integer("target", b * 16 + t), static_cast<unsigned char>(text[place + 1]));
      }
  }
  EXPECT_TRUE(task->resetsBefore(task->batchesPerEpoch()));
  EXPECT_TRUE(task->perCharacter());
}

TEST(Stream, BlocksAreEachBlockOnce) {
  std::string text(16 * 20, ' ');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i / 16);
  Batch batch = Batch().add("ids", DataType::I32, {5, 16}, 256);
  auto task = makeOrFail(stream("lm_blocks"), text, Vocabulary::bytes(false));
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_EQ(task->batchesPerEpoch(), 4u);
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::multiset<int32_t> seen;
    for (uint64_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(task->fill(4 * epoch + i, batch.tensors).ok());
      for (int64_t b = 0; b < 5; ++b)
        seen.insert(batch.integer("ids", b * 16));
    }
    EXPECT_EQ(seen.size(), 20u);
    EXPECT_EQ(std::set<int32_t>(seen.begin(), seen.end()).size(), 20u);
  }
  EXPECT_TRUE(task->resetsBefore(3));
}

// Every symbol but the first of the text is a target of an evaluation exactly once, also behind the whole batches.
TEST(Stream, EvaluationCoversTheTail) {
  std::string text(1003, ' ');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i * 7 % 251);
  for (std::string name : {"byte_stream", "lm_blocks"}) {
    auto task = makeOrFail(stream(name), text, Vocabulary::bytes(false));
    Batch batch = tokens(4, 16);
    ASSERT_TRUE(task->bind(batch.tensors).ok());
    const bool blocks = name == "lm_blocks";
    ASSERT_EQ(task->evaluationBatches(), task->batchesPerEpoch() + (blocks ? 2 : 1));
    std::multiset<std::pair<int32_t, int32_t>> seen;
    for (uint64_t i = 0; i < task->evaluationBatches(); ++i) {
      const int64_t rows = task->validRows(i), places = task->validPlaces(i);
      EXPECT_EQ(task->resetsInEvaluation(i), blocks || i == 0);
      EXPECT_TRUE(task->fillEvaluation(i, batch.tensors).ok());
      Batch small = tokens(rows, places); // the same batch without padding
      EXPECT_TRUE(task->fillEvaluation(i, small.tensors).ok());
      for (int64_t b = 0; b < 4; ++b)
        for (int64_t t = 0; t < 16; ++t) {
          const int64_t from = std::min(b, rows - 1) * places + std::min(t, places - 1);
          for (const char *input : {"ids", "target"})
            ASSERT_EQ(batch.integer(input, b * 16 + t), small.integer(input, from));
          if (b < rows && t < places && t >= task->firstPlace(i, b))
            seen.insert({batch.integer("ids", b * 16 + t), batch.integer("target", b * 16 + t)});
        }
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), task->extent().covered);
    EXPECT_EQ(task->extent().all, 1003);
    std::multiset<std::pair<int32_t, int32_t>> expected;
    for (size_t t = 0; t + 1 < text.size(); ++t)
      expected.insert({static_cast<unsigned char>(text[t]), static_cast<unsigned char>(text[t + 1])});
    EXPECT_EQ(seen, expected);
  }
}

// Texts of any length, also below one batch and below one symbol per row: each symbol but the first is predicted once, by the row
// that holds it.
TEST(Stream, EvaluationReadsShortTexts) {
  for (int64_t length = 2; length < 90; ++length)
    for (std::string name : {"byte_stream", "lm_blocks"}) {
      std::string text(static_cast<size_t>(length), ' ');
      for (size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>(i);
      TaskSettings settings = stream(name);
      settings.evaluation = true;
      auto task = makeOrFail(settings, text, Vocabulary::bytes(false));
      Batch batch = tokens(5, 8);
      ASSERT_TRUE(task->bind(batch.tensors).ok());
      std::multiset<int32_t> seen;
      for (uint64_t i = 0; i < task->evaluationBatches(); ++i) {
        ASSERT_TRUE(task->fillEvaluation(i, batch.tensors).ok());
        for (int64_t b = 0; b < task->validRows(i); ++b)
          for (int64_t t = task->firstPlace(i, b); t < task->validPlaces(i); ++t) {
            ASSERT_EQ(batch.integer("target", b * 8 + t), batch.integer("ids", b * 8 + t) + 1);
            seen.insert(batch.integer("target", b * 8 + t));
          }
      }
      std::multiset<int32_t> expected;
      for (int32_t symbol = 1; symbol < length; ++symbol)
        expected.insert(symbol);
      ASSERT_EQ(seen, expected) << name << " of " << length;
      EXPECT_EQ(task->extent().covered, length - 1);
    }
  TaskSettings settings = stream();
  settings.evaluation = true;
  Batch batch = tokens(5, 8);
  EXPECT_TRUE(makeOrFail(settings, "a", Vocabulary::bytes(false))->bind(batch.tensors).failed());
}

TEST(Stream, BlocksHaveLengthsAndAxesOfOneCountForNothing) {
  auto task = makeOrFail(stream("lm_blocks"), proseOf(20, 10), Vocabulary::bytes(false));
  Batch batch = Batch().add("ids", DataType::I32, {3, 1, 8}, 256).add("len", DataType::I32, {3, 1}, 9),
        plain = Batch().add("ids", DataType::I32, {3, 8}, 256);
  auto other = makeOrFail(stream("lm_blocks"), proseOf(20, 10), Vocabulary::bytes(false));
  ASSERT_TRUE(task->bind(batch.tensors).ok() && other->bind(plain.tensors).ok());
  EXPECT_TRUE(task->fill(1, batch.tensors).ok() && other->fill(1, plain.tensors).ok());
  for (int64_t i = 0; i < 24; ++i)
    EXPECT_EQ(batch.integer("ids", i), plain.integer("ids", i));
  EXPECT_EQ(batch.integer("len", 2), 8);
}

TEST(Stream, PositionIsAllThereIs) {
  std::string text = proseOf(200, 10);
  expectRestartable(stream(), text, Vocabulary::bytes(false), tokens(3, 20));
  expectRestartable(stream("lm_blocks"), text, Vocabulary::bytes(false), tokens(3, 20));
}

TEST(Stream, OtherSeedGivesOtherBlocks) {
  std::string text = proseOf(200, 10);
  Batch batch = tokens(3, 20);
  TaskSettings other = stream("lm_blocks");
  other.seed = 8;
  auto first = makeOrFail(stream("lm_blocks"), text, Vocabulary::bytes(false)),
       second = makeOrFail(other, text, Vocabulary::bytes(false));
  ASSERT_TRUE(first->bind(batch.tensors).ok() && second->bind(batch.tensors).ok());
  EXPECT_TRUE(first->fill(0, batch.tensors).ok());
  auto bytes = batch.bytes();
  EXPECT_TRUE(second->fill(0, batch.tensors).ok());
  EXPECT_NE(bytes, batch.bytes());
}

TEST(Stream, MistakesAreNamed) {
  auto task = makeOrFail(stream(), proseOf(20, 10), Vocabulary::bytes(false));
  auto messageOf = [&](Batch batch) { return task->bind(batch.tensors).message(); };
  EXPECT_EQ(messageOf(tokens(3, 20).add("rank", DataType::I32, {3, 20})),
            "the entry reads 'rank', which the data task byte_stream does not give; it gives ids, target");
  EXPECT_NE(messageOf(Batch().add("ids", DataType::I32, {3, 20}, 200)).find("below 200"), std::string::npos);
  EXPECT_NE(messageOf(Batch().add("ids", DataType::F32, {3, 20})).find("has the type f32"), std::string::npos);
  EXPECT_NE(messageOf(Batch().add("ids", DataType::I32, {3, 20, 2}, 256)).find("has 3 axes"), std::string::npos);
  EXPECT_NE(
      messageOf(Batch().add("ids", DataType::I32, {3, 20}, 256).add("target", DataType::I32, {3, 21}, 256)).find("has size 21"),
      std::string::npos);
  EXPECT_NE(messageOf(tokens(100, 20)).find("less than the 2100 of one batch"), std::string::npos);
  EXPECT_NE(messageOf(Batch()).find("reads neither"), std::string::npos);
  EXPECT_EQ(messageOf(tokens(3, 20)), "");
}
