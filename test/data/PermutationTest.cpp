// XLNet's data: ranks against the mask rules of data_utils._local_perm, spans, segments, reuse.
#include "Batch.h"
#include <cmath>
#include <ctime>
#include <functional>
#include <set>

using namespace tenon::data;
using namespace tenon::data::test;

namespace {

constexpr int64_t B = 4, T = 64, K = 11, kReuse = 32;
constexpr int32_t kCls = 258, kSep = 259;

Batch inputs() {
  return Batch()
      .add("ids", DataType::I32, {B, T}, 264)
      .add("seg", DataType::I32, {B, T}, 5)
      .add("rank", DataType::I32, {B, T})
      .add("back", DataType::Bool, {B})
      .add("at", DataType::I32, {B, K}, T)
      .add("word", DataType::I32, {B, K}, 264)
      .add("weight", DataType::F32, {B, K})
      .add("label", DataType::I32, {B}, 2);
}
TaskSettings settings(bool bothWays = false) {
  TaskSettings result;
  result.name = "permutation_lm";
  result.reuse = kReuse;
  result.bothWays = bothWays;
  result.seed = 3;
  return result;
}

/// What one row means: perm_mask of _local_perm for each half, put together as its caller does (the first half sees nothing of
/// the second, the second sees all of the first), from which tokens are predicted or functional and from the order in which they
/// come.
struct Row {
  std::vector<int> ids, ranks;
  std::vector<bool> target, functional;
};
Row rowOf(const Batch &batch, int64_t b) {
  Row row;
  for (int64_t t = 0; t < T; ++t) {
    row.ids.push_back(batch.integer("ids", b * T + t));
    row.ranks.push_back(batch.integer("rank", b * T + t));
    row.functional.push_back(row.ids.back() == kSep || row.ids.back() == kCls);
  }
  row.target.assign(T, false);
  for (int64_t k = 0; k < K; ++k)
    if (batch.real("weight", b * K + k) == 1)
      row.target[static_cast<size_t>(batch.integer("at", b * K + k))] = true;
  return row;
}

/// Sees of the two streams by the published rule; index = place of a token in the order of its half.
bool masksAgree(const Row &row) {
  std::vector<int> index(T, -1);
  for (size_t t = 0; t < T; ++t)
    if (row.target[t] || row.functional[t])
      index[t] = row.ranks[t] - (t < kReuse ? 0 : static_cast<int>(kReuse) + 1);
  for (size_t i = 0; i < T; ++i) {
    int self = row.target[i] ? index[i] : index[i] + 1; // self_rev_index
    for (size_t j = 0; j < T; ++j) {
      bool hidden = self <= index[j] && (row.target[j] || row.functional[j]);
      if (i < kReuse && j >= kReuse)
        hidden = true;
      if (i >= kReuse && j < kReuse)
        hidden = false;
      bool content = !hidden || i == j, query = !hidden;
      if (content != (row.ranks[j] <= row.ranks[i]))
        return false;
      if (row.target[i] && query != (row.ranks[j] < row.ranks[i]))
        return false;
    }
  }
  return true;
}

} // namespace

TEST(PermutationData, RanksSayTheMasksOfBothStreams) {
  auto task = makeOrFail(settings(), proseOf(500, 20), Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  for (uint64_t i = 0; i < 40; ++i) {
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      Row row = rowOf(batch, b);
      EXPECT_TRUE(masksAgree(row)) << "batch " << i << " row " << b;
      // Negative control: a target that comes before the functional tokens and others of its half.
      size_t t = static_cast<size_t>(batch.integer("at", b * K));
      int kept = row.ranks[t];
      row.ranks[t] = t < kReuse ? static_cast<int>(kReuse) : static_cast<int>(T) + 5;
      EXPECT_FALSE(masksAgree(row));
      row.ranks[t] = kept;
    }
  }
}

TEST(PermutationData, RanksOfAHalfArePermuted) {
  auto task = makeOrFail(settings(), proseOf(500, 20), Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  EXPECT_TRUE(task->fill(5, batch.tensors).ok());
  for (int64_t b = 0; b < B; ++b) {
    Row row = rowOf(batch, b);
    for (size_t half = 0; half < 2; ++half) {
      std::set<int> seen;
      int base = half ? static_cast<int>(kReuse) : -1;
      for (size_t t = half * kReuse; t < (half ? T : kReuse); ++t) {
        bool moved = row.target[t] || row.functional[t];
        EXPECT_EQ(row.ranks[t] > base, moved);
        EXPECT_TRUE(!moved || seen.insert(row.ranks[t]).second) << "a rank came twice";
        EXPECT_LE(row.ranks[t], static_cast<int>(T));
      }
    }
  }
}

TEST(PermutationData, LayoutSegmentsAndReuse) {
  auto task = makeOrFail(settings(), proseOf(500, 20), Vocabulary::bytes(true));
  Batch batch = inputs(), next = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok() && task->bind(next.tensors).ok());
  int follows = 0, rows = 0;
  for (uint64_t i = 0; i + 1 < task->batchesPerEpoch(); ++i) {
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    EXPECT_TRUE(task->fill(i + 1, next.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      Row row = rowOf(batch, b);
      EXPECT_EQ(row.ids[T - 1], kCls);
      EXPECT_EQ(row.ids[T - 2], kSep);
      int64_t middle = kReuse;
      while (row.ids[static_cast<size_t>(middle)] != kSep)
        ++middle;
      for (int64_t t = 0; t < T; ++t)
        EXPECT_EQ(batch.integer("seg", b * T + t), t == T - 1 ? 2 : t > middle ? 1 : 0);
      // A goes on where the reused part ended: it is the reused part of the next window.
      for (int64_t t = kReuse; t < std::min(middle, 2 * kReuse); ++t)
        EXPECT_EQ(row.ids[static_cast<size_t>(t)], next.integer("ids", b * T + t - kReuse));
      follows += batch.integer("label", b);
      ++rows;
    }
  }
  // Half of the windows that have an end of sentence to cut at; lines here are about 25 bytes and the pair is 29 long.
  EXPECT_GT(follows, rows / 8);
  EXPECT_LT(follows, rows * 6 / 10);
}

TEST(PermutationData, TargetsAreTheTokensThemselves) {
  auto task = makeOrFail(settings(), proseOf(500, 20), Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  int64_t used = 0, singles = 0;
  for (uint64_t i = 0; i < task->batchesPerEpoch(); ++i) {
    EXPECT_TRUE(task->fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b) {
      int64_t last = -1, firstHalf = 0;
      for (int64_t k = 0; k < K; ++k) {
        if (batch.real("weight", b * K + k) == 0) {
          EXPECT_EQ(batch.integer("at", b * K + k), 0);
          continue;
        }
        int64_t at = batch.integer("at", b * K + k);
        EXPECT_GT(at, last) << "slots are in the order of the text";
        singles += at != last + 1;
        last = at;
        firstHalf += at < kReuse;
        ++used;
        EXPECT_EQ(batch.integer("word", b * K + k), batch.integer("ids", b * T + at));
        EXPECT_LT(batch.integer("word", b * K + k), 256) << "marks are not predicted";
      }
      EXPECT_EQ(firstHalf, K - K / 2) << "the goal of the first part";
    }
  }
  EXPECT_GT(used, static_cast<int64_t>(task->batchesPerEpoch()) * B * (K - 2));
  EXPECT_LT(singles, used) << "spans, not only single tokens";
}

TEST(PermutationData, BackwardRowsReadTheSameStreamsBackwards) {
  std::string text = proseOf(500, 20);
  auto task = makeOrFail(settings(true), text, Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  EXPECT_TRUE(task->fill(0, batch.tensors).ok());
  std::string kept; // without the empty lines between documents
  for (size_t i = 0; i < text.size(); ++i)
    if (!(text[i] == '\n' && i > 0 && text[i - 1] == '\n'))
      kept += text[i];
  size_t row = kept.size() / 2;
  for (int64_t b = 0; b < B; ++b) {
    EXPECT_EQ(batch.truth("back", b), b >= 2);
    for (size_t t = 0; t < kReuse; ++t) {
      size_t begin = static_cast<size_t>(b % 2) * row, place = b >= 2 ? begin + row - 1 - t : begin + t;
      EXPECT_EQ(batch.integer("ids", b * T + static_cast<int64_t>(t)), static_cast<unsigned char>(kept[place]));
    }
    EXPECT_TRUE(masksAgree(rowOf(batch, b)));
  }
}

TEST(PermutationData, PositionIsAllThereIs) {
  expectRestartable(settings(), proseOf(400, 20), Vocabulary::bytes(true), inputs());
  expectRestartable(settings(true), proseOf(400, 20), Vocabulary::bytes(true), inputs());
}

TEST(PermutationData, MistakesAreNamed) {
  std::unique_ptr<DataTask> task;
  EXPECT_EQ(makeTaskFromText(settings(), proseOf(50, 5), Vocabulary::bytes(false), task).message(),
            "permutation_lm needs <sep> and <cls> in the vocabulary");
  TaskSettings wide = settings();
  wide.reuse = T - 2;
  auto made = makeOrFail(wide, proseOf(50, 5), Vocabulary::bytes(true));
  EXPECT_NE(made->bind(inputs().tensors).message().find("leaves no room"), std::string::npos);
  made = makeOrFail(settings(), proseOf(3, 5), Vocabulary::bytes(true));
  EXPECT_NE(made->bind(inputs().tensors).message().find("too few for 4 streams"), std::string::npos);
}

/// An evaluation ends with a window that ends where the text does, and forgets before it, since that window may lie over the one
/// before.
TEST(Permutation, EvaluationsCoverTheTail) {
  for (bool bothWays : {false, true}) {
    const int64_t streams = bothWays ? B / 2 : B;
    for (int64_t more : {0, 1, 17, 31}) {
      const int64_t row = 3 * kReuse + T + more; // of each stream
      const std::string text = proseOf(300, 10).substr(0, static_cast<size_t>(streams * row));
      auto task = makeOrFail(settings(bothWays), text, Vocabulary::bytes(true));
      Batch batch = inputs();
      ASSERT_TRUE(task->bind(batch.tensors).ok());
      const uint64_t batches = task->evaluationBatches();
      ASSERT_LE(batches, task->batchesPerEpoch() + 1);
      int64_t covered = 0;
      for (uint64_t i = 0; i < batches; ++i) {
        covered += task->covers(i);
        EXPECT_EQ(task->resetsInEvaluation(i), i == 0 || i == task->batchesPerEpoch());
        ASSERT_TRUE(task->fillEvaluation(i, batch.tensors).ok());
      }
      const DataTask::Extent extent = task->extent();
      EXPECT_EQ(covered, extent.covered);
      EXPECT_LE(extent.covered, extent.all);
      EXPECT_GE(extent.covered, extent.all - 2 * streams * 2)
          << more; // of each stream all but its last symbols, which stand behind the last pair
      if (batches == task->batchesPerEpoch())
        continue;
      Batch before = inputs(); // the last batch of an epoch is another one
      ASSERT_TRUE(task->fill(batches - 2, before.tensors).ok());
      EXPECT_NE(before.bytes(), batch.bytes());
    }
  }
}

/// Ends of sentences are found, not walked to: a text of one line has none, and each row would walk through all of it (70 s).
TEST(Permutation, LongLinesCostNoMore) {
  std::string text(4 << 20, 'a');
  for (size_t i = 0; i < text.size(); i += 5)
    text[i] = ' ';
  auto task = makeOrFail(settings(true), text, Vocabulary::bytes(true));
  Batch batch = inputs();
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  const std::clock_t begin = std::clock();
  for (uint64_t i = 0; i < 250; ++i)
    ASSERT_TRUE(task->fill(i, batch.tensors).ok());
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 10);
}
