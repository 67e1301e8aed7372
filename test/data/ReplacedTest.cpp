// ELECTRA's data: layout, shares of the masks, places drawn with replacement, segments.
#include "Batch.h"
#include <cmath>
#include <set>

using namespace tenon::data;
using namespace tenon::data::test;

namespace {

constexpr int64_t B = 8, T = 96, K = 14;
constexpr int32_t kPad = 256, kCls = 258, kSep = 259, kMask = 260;

Batch inputs() {
  return Batch()
      .add("ids", DataType::I32, {B, T}, 264)
      .add("masked", DataType::I32, {B, T}, 264)
      .add("seg", DataType::I32, {B, T}, 2)
      .add("len", DataType::I32, {B}, T + 1)
      .add("at", DataType::I32, {B, K}, T)
      .add("weight", DataType::F32, {B, K});
}
TaskSettings settings() {
  TaskSettings result;
  result.name = "rtd";
  result.seed = 11;
  return result;
}

struct Row {
  std::vector<int32_t> ids, masked;
  std::vector<int64_t> drawn; // with the places that came twice
  int64_t length = 0, separators = 0;
};
Row rowOf(const Batch &batch, int64_t b) {
  Row row;
  row.length = batch.integer("len", b);
  for (int64_t t = 0; t < T; ++t) {
    row.ids.push_back(batch.integer("ids", b * T + t));
    row.masked.push_back(batch.integer("masked", b * T + t));
    row.separators += row.ids.back() == kSep;
  }
  for (int64_t k = 0; k < K; ++k)
    if (batch.real("weight", b * K + k) == 1)
      row.drawn.push_back(batch.integer("at", b * K + k));
    else
      EXPECT_EQ(batch.integer("at", b * K + k), 0);
  return row;
}

/// `look` at each row of some batches.
template <typename Look> void forRows(DataTask &task, uint64_t batches, Look look) {
  Batch batch = inputs();
  ASSERT_TRUE(task.bind(batch.tensors).ok());
  for (uint64_t i = 0; i < batches; ++i) {
    ASSERT_TRUE(task.fill(i, batch.tensors).ok());
    for (int64_t b = 0; b < B; ++b)
      look(batch, b, rowOf(batch, b));
  }
}

} // namespace

TEST(ReplacedData, LayoutAndPadding) {
  auto task = makeOrFail(settings(), proseOf(600, 12), Vocabulary::bytes(true));
  forRows(*task, 60, [](const Batch &batch, int64_t b, const Row &row) {
    ASSERT_GE(row.length, 3);
    ASSERT_LE(row.length, T);
    EXPECT_EQ(row.ids[0], kCls);
    EXPECT_EQ(row.ids[static_cast<size_t>(row.length - 1)], kSep);
    EXPECT_TRUE(row.separators == 1 || row.separators == 2);
    int marks = 0;
    const std::set<int64_t> drawn(row.drawn.begin(), row.drawn.end());
    for (int64_t t = 0; t < T; ++t) {
      const size_t place = static_cast<size_t>(t);
      EXPECT_EQ(batch.integer("seg", b * T + t), t < row.length && marks > 0 ? 1 : 0);
      marks += row.ids[place] == kSep;
      EXPECT_EQ(row.ids[place] == kPad, t >= row.length);
      if (!drawn.count(t))
        EXPECT_EQ(row.masked[place], row.ids[place]);
      else
        EXPECT_TRUE(row.masked[place] == row.ids[place] || row.masked[place] == kMask);
    }
    for (int64_t t : row.drawn) {
      ASSERT_LT(t, row.length);
      EXPECT_NE(row.ids[static_cast<size_t>(t)], kCls);
      EXPECT_NE(row.ids[static_cast<size_t>(t)], kSep);
    }
    const int64_t expected = std::min<int64_t>(K, std::max<int64_t>(1, std::lrint(0.15 * static_cast<double>(row.length))));
    EXPECT_EQ(static_cast<int64_t>(row.drawn.size()), expected);
  });
}

TEST(ReplacedData, SharesOfMasksAndSegments) {
  for (double keep : {0.15, 0.6}) {
    TaskSettings own = settings();
    own.keepRate = keep;
    auto task = makeOrFail(own, proseOf(2000, 12), Vocabulary::bytes(true));
    double total = 0, kept = 0, twice = 0, rows = 0, single = 0;
    forRows(*task, 250, [&](const Batch &, int64_t, const Row &row) {
      std::multiset<int64_t> drawn(row.drawn.begin(), row.drawn.end());
      for (int64_t t : row.drawn)
        if (drawn.count(t) == 1) {
          ++total;
          kept += row.masked[static_cast<size_t>(t)] == row.ids[static_cast<size_t>(t)];
        } else {
          ++twice;
        }
      ++rows;
      single += row.separators == 1;
    });
    EXPECT_NEAR(kept / total, keep, 5 * std::sqrt(keep * (1 - keep) / total));
    EXPECT_GT(twice, 100) << "places are drawn with replacement";
    EXPECT_GT(single / rows, 0.1 - 5 * std::sqrt(0.09 / rows)) << "one sample in ten has one segment, and short documents";
    EXPECT_LT(single / rows, 0.3);
  }
}

TEST(ReplacedData, PlacesAreUniform) {
  auto task = makeOrFail(settings(), std::string(2, 'a') + std::string(200, 'b') + "\n" + std::string(300, 'c') + "\n",
                         Vocabulary::bytes(true));
  std::vector<double> seen(T);
  double rows = 0;
  forRows(*task, 400, [&](const Batch &, int64_t, const Row &row) {
    if (row.length != T || row.separators != 1)
      return;
    ++rows;
    for (int64_t t : row.drawn)
      ++seen[static_cast<size_t>(t)];
  });
  ASSERT_GT(rows, 1000);
  const double wanted = rows * 14 / (T - 2);
  double chi = 0;
  for (int64_t t = 1; t < T - 1; ++t)
    chi += std::pow(seen[static_cast<size_t>(t)] - wanted, 2) / wanted;
  EXPECT_LT(chi, T - 3 + 6 * std::sqrt(2.0 * (T - 3)));
  EXPECT_EQ(seen[0] + seen[T - 1], 0);
}

TEST(ReplacedData, PositionIsAllThereIs) { expectRestartable(settings(), proseOf(300, 12), Vocabulary::bytes(true), inputs()); }

TEST(ReplacedData, MistakesAreNamed) {
  std::unique_ptr<DataTask> task;
  EXPECT_NE(makeTaskFromText(settings(), "a line\nanother\n", Vocabulary::bytes(false), task).message().find("rtd needs [CLS]"),
            std::string::npos);
  EXPECT_NE(makeTaskFromText(settings(), "a line\n", Vocabulary::bytes(true), task).message().find("at least two lines"),
            std::string::npos);
}
