// Batches of rows of about one length, and translation(.., tokens = n) that makes them.
#include "runtime/data/LengthBatches.h"
#include "test/data/Batch.h"
#include <fstream>
#include <map>
#include <set>

namespace tenon::data::test {

namespace {

using Groups = std::vector<LengthBatches::Group>;

/// Lengths 1 to `greatest`, short ones more often.
std::vector<int64_t> lengthsOf(size_t rows, int64_t greatest) {
  std::vector<int64_t> lengths;
  uint64_t state = 7;
  for (size_t i = 0; i < rows; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto drawn = static_cast<int64_t>(state >> 33) % (greatest * greatest);
    int64_t root = 1;
    while ((root + 1) * (root + 1) <= drawn)
      ++root;
    lengths.push_back(1 + greatest - std::min(greatest, root + 1));
  }
  return lengths;
}

/// The rows of an epoch by batches; checks that no row is in two, and that none is longer than its batch.
std::vector<std::vector<uint64_t>> epochOf(const LengthBatches &batches, const std::vector<int64_t> &lengths, uint64_t seed,
                                           uint64_t epoch, std::map<int64_t, uint64_t> *counts = nullptr) {
  std::vector<std::vector<uint64_t>> all;
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < batches.batches(); ++i) {
    const uint64_t index = epoch * batches.batches() + i;
    const LengthBatches::Group &group = batches.groups()[batches.groupOf(seed, index)];
    if (counts)
      ++(*counts)[group.length];
    all.emplace_back();
    for (int64_t b = 0; b < group.rows; ++b) {
      const uint64_t row = batches.row(seed, index, static_cast<uint64_t>(b));
      EXPECT_LT(row, lengths.size());
      EXPECT_TRUE(seen.insert(row).second) << "row " << row << " is in two batches of epoch " << epoch;
      EXPECT_LE(lengths[row], group.length);
      all.back().push_back(row);
    }
  }
  return all;
}

uint64_t rowsIn(const std::vector<std::vector<uint64_t>> &epoch) {
  uint64_t rows = 0;
  for (const auto &batch : epoch)
    rows += batch.size();
  return rows;
}

} // namespace

TEST(LengthBatches, LengthsGrowUpToTheGreatest) {
  EXPECT_EQ(batchLengths(5), (std::vector<int64_t>{5}));
  EXPECT_EQ(batchLengths(8), (std::vector<int64_t>{8}));
  EXPECT_EQ(batchLengths(13), (std::vector<int64_t>{8, 10, 12, 13}));
  for (int64_t greatest : {64, 100, 128, 256, 1000}) {
    const std::vector<int64_t> lengths = batchLengths(greatest);
    EXPECT_EQ(lengths.back(), greatest);
    EXPECT_LE(lengths.size(), greatest <= 256 ? 16u : 24u);
    for (size_t i = 1; i < lengths.size(); ++i) {
      EXPECT_GT(lengths[i], lengths[i - 1]);
      EXPECT_LE(4 * (lengths[i] - 7), 5 * lengths[i - 1]); // a quarter, and up to the next eight
      EXPECT_TRUE(lengths[i] <= 32 || lengths[i] % 8 == 0 || i + 1 == lengths.size());
    }
  }
}

TEST(LengthBatches, RowsByTokens) {
  EXPECT_EQ(rowsFor(25000, 128, 1), 195);
  EXPECT_EQ(rowsFor(25000, 128, 4), 192); // whole slices
  EXPECT_EQ(rowsFor(100, 128, 1), 1);     // a row is never cut for it
  EXPECT_EQ(rowsFor(100, 128, 4), 4);
}

TEST(LengthBatches, EachRowOnceInAnEpochButForLessThanABatch) {
  const std::vector<int64_t> lengths = lengthsOf(3000, 60);
  LengthBatches batches;
  ASSERT_TRUE(batches.make(lengths, 60, 600, 1).ok());
  EXPECT_GT(batches.groups().size(), 6u);
  std::map<int64_t, uint64_t> first, second;
  const auto one = epochOf(batches, lengths, 3, 0, &first), two = epochOf(batches, lengths, 3, 1, &second);
  EXPECT_GT(rowsIn(one), 3000 - static_cast<uint64_t>(batches.groups().back().rows));
  EXPECT_EQ(rowsIn(two), rowsIn(one));
  EXPECT_EQ(first, second); // an epoch has as many batches of each length as another
  EXPECT_NE(one, two);      // in another order, of other rows
  EXPECT_NE(one, epochOf(batches, lengths, 4, 0));
  EXPECT_EQ(one, epochOf(batches, lengths, 3, 0)); // a function of seed and number
  bool mixed = false;
  for (size_t i = 1; i < one.size(); ++i)
    mixed |= one[i].size() > one[i - 1].size(); // short batches behind long ones: not sorted by length
  EXPECT_TRUE(mixed);
  uint64_t filling = 0, symbols = 0; // half of what batches of one size would have
  for (const auto &batch : one)
    for (uint64_t row : batch) {
      const LengthBatches::Group *group = nullptr;
      for (const LengthBatches::Group &each : batches.groups())
        group = static_cast<size_t>(each.rows) == batch.size() ? &each : group;
      filling += static_cast<uint64_t>(group->length - lengths[row]);
      symbols += static_cast<uint64_t>(group->length);
    }
  EXPECT_LT(3 * filling, symbols);
}

TEST(LengthBatches, WhatIsLeftOverGoesToTheNextLength) {
  // 7 rows of 8 make 3 batches of 2 and leave 1, which completes the batch of the 3 rows of 10 (2 to a batch).
  std::vector<int64_t> lengths = {8, 8, 8, 8, 8, 8, 8, 10, 10, 10};
  LengthBatches batches;
  ASSERT_TRUE(batches.make(lengths, 10, 20, 1).ok());
  ASSERT_EQ(batches.groups().size(), 2u);
  EXPECT_EQ(batches.groups()[0].batches, 3u);
  EXPECT_EQ(batches.groups()[1].batches, 2u);
  std::set<uint64_t> carried; // which row that is differs from epoch to epoch
  for (uint64_t epoch = 0; epoch < 20; ++epoch) {
    const auto all = epochOf(batches, lengths, 1, epoch);
    EXPECT_EQ(rowsIn(all), 10u);
    for (size_t i = 0; i < all.size(); ++i)
      if (batches.groupOf(1, epoch * batches.batches() + i) == 1)
        for (uint64_t row : all[i])
          if (row < 7)
            carried.insert(row);
  }
  EXPECT_GT(carried.size(), 3u);
}

TEST(LengthBatches, FewLongRowsHaveTheirBatch) {
  std::vector<int64_t> lengths(100, 8);
  lengths.insert(lengths.end(), {60, 61, 62});
  LengthBatches batches;
  ASSERT_TRUE(batches.make(lengths, 64, 640, 1).ok()); // 10 rows of 64 to a batch, 80 of 8
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<uint64_t> seen;
    for (const auto &batch : epochOf(batches, lengths, 1, epoch))
      seen.insert(batch.begin(), batch.end());
    for (uint64_t row : {100, 101, 102})
      EXPECT_TRUE(seen.count(row)) << row;
  }
  // Where nothing is left over for them, a whole batch is shared out: the long rows are never those left out.
  lengths.assign(80, 8);
  lengths.insert(lengths.end(), {60, 61, 62});
  ASSERT_TRUE(batches.make(lengths, 64, 640, 1).ok());
  EXPECT_EQ(batches.groups().size(), 1u);
  EXPECT_EQ(batches.batches(), 8u);
  EXPECT_EQ(rowsIn(epochOf(batches, lengths, 1, 0)), 80u);
}

TEST(LengthBatches, TooFewRows) {
  LengthBatches batches;
  const std::string message = batches.make({8, 8, 60}, 64, 640, 1).message();
  EXPECT_NE(message.find("there are 3 rows, fewer than the 10 of one batch with 64 of tokens = 640"), std::string::npos)
      << message;
}

namespace {

std::string written(const std::string &name, const std::string &text) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

/// Line i has i % 20 letters, and its translation one more.
TaskSettings settingsOf(int lines) {
  std::string source, target;
  for (int i = 0; i < lines; ++i) {
    source += std::string(static_cast<size_t>(i % 20), static_cast<char>('a' + i % 26)) + "\n";
    target += std::string(static_cast<size_t>(i % 20 + 1), static_cast<char>('A' + i % 26)) + "\n";
  }
  TaskSettings settings;
  settings.name = "translation";
  settings.sourceText = written("lengths-source.txt", source);
  settings.targetText = written("lengths-target.txt", target);
  settings.tokens = 64;
  settings.sourcePlaces = 12;
  settings.targetPlaces = 16;
  return settings;
}

Batch batchOf(const BatchSize &size) {
  Batch batch = Batch().add("src", DataType::I32, {size.rows, size.source}, 256);
  return batch.add("src_len", DataType::I32, {size.rows}, size.source + 1)
      .add("label", DataType::I32, {size.rows, size.target}, 256);
}

} // namespace

TEST(TranslationByLength, SizesAndRows) {
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settingsOf(200), Part::Training, nullptr, task).ok());
  const std::vector<BatchSize> sizes = task->sizes();
  ASSERT_EQ(sizes.size(), 5u); // 8, 10, 12, 15, 16
  EXPECT_EQ(sizes[0].rows, 8);
  EXPECT_EQ(sizes[0].source, 8);
  EXPECT_EQ(sizes[0].target, 8);
  EXPECT_EQ(sizes[4].rows, 4);
  EXPECT_EQ(sizes[4].source, 12); // its own greatest length
  EXPECT_EQ(sizes[4].target, 16);
  EXPECT_EQ(task->tokensPerBatch(), 64);
  std::vector<Batch> batches;
  for (const BatchSize &size : sizes) {
    batches.push_back(batchOf(size));
    ASSERT_TRUE(task->bind(batches.back().tensors).ok()) << task->bind(batches.back().tensors).message();
  }
  ASSERT_EQ(task->notes().size(), 2u); // longer lines than there is ever room for
  EXPECT_NE(task->notes()[0].find("S = 12"), std::string::npos);
  ASSERT_EQ(task->summary().size(), 1u);
  EXPECT_NE(task->summary()[0].find(" of 8 x 8, "), std::string::npos) << task->summary()[0];
  int64_t rows = 0;
  for (uint64_t i = 0; i < task->batchesPerEpoch(); ++i) {
    Batch &batch = batches[task->sizeOf(i)];
    const BatchSize &size = sizes[task->sizeOf(i)];
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
    EXPECT_EQ(task->tokensIn(i), size.rows * size.target);
    rows += size.rows;
    for (int64_t b = 0; b < size.rows; ++b) {
      const int32_t length = batch.integer("src_len", b);
      EXPECT_EQ(batch.integer("src", b * size.source + length - 1), 1); // the end of the text stands in its row
      const int32_t first = batch.integer("src", b * size.source), label = batch.integer("label", b * size.target);
      if (length > 1)
        EXPECT_EQ(label, first - 'a' + 'A'); // lines stay together
    }
  }
  EXPECT_GT(rows, 200 - 4);
}

TEST(TranslationByLength, AnEvaluationHasOneSize) {
  TaskSettings settings = settingsOf(200);
  settings.sourcePlaces = settings.targetPlaces = 100;
  std::unique_ptr<DataTask> task;
  ASSERT_TRUE(makeTask(settings, Part::HeldOut, nullptr, task).ok());
  ASSERT_EQ(task->sizes().size(), 1u); // of the longest line, 20 letters and an end
  EXPECT_EQ(task->sizes()[0].rows, 2);
  EXPECT_EQ(task->sizes()[0].target, 22);
  Batch batch = batchOf(task->sizes()[0]);
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  EXPECT_EQ(task->evaluationBatches(), 100u);
  ASSERT_TRUE(task->fillEvaluation(9, batch.tensors).ok());
  EXPECT_EQ(batch.integer("src_len", 1), 20); // line 19
}

} // namespace tenon::data::test
