// What a beam search computes from logits, against the plainest form of the same.
#include "runtime/generate/BeamRules.h"
#include "runtime/generate/LogSumExp.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tenon::generate;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double plainLogSumExp(const std::vector<double> &values) {
  const long double highest = *std::max_element(values.begin(), values.end());
  long double sum = 0;
  for (double each : values)
    sum += std::exp(static_cast<long double>(each) - highest);
  return static_cast<double>(highest + std::log(sum));
}

std::vector<double> randomRow(size_t count, double scale, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> row(count);
  for (double &each : row)
    each = normal(random);
  return row;
}

TEST(LogSumExp, AgreesWithThePlainForm) {
  for (size_t count : {1, 2, 7, 8, 9, 63, 64, 1000, 37000})
    for (double scale : {1e-3, 1.0, 30.0, 500.0}) {
      const std::vector<double> row = randomRow(count, scale, count);
      const double expected = plainLogSumExp(row);
      EXPECT_NEAR(logSumExp(row.data(), count), expected, 1e-14 * std::max(std::abs(expected), 1.0)) << count << " " << scale;
    }
}

TEST(LogSumExp, HasTheSameBitsByVectorsOfEachWidth) {
  for (size_t count : {1, 7, 8, 9, 1000})
    for (double scale : {1e-3, 1.0, 30.0, 500.0}) {
      std::vector<double> row = randomRow(count, scale, count + 1);
      const double wide = logSumExp(row.data(), count);
      EXPECT_EQ(wide, logSumExpByNarrowVectors(row.data(), count)) << count << " " << scale;
      for (double &value : row) // another number is seen
        value += 1e-12 * std::max(std::abs(wide), 1.0);
      EXPECT_NE(wide, logSumExpByNarrowVectors(row.data(), count)) << count << " " << scale;
    }
}

TEST(LogSumExp, CountsEveryValue) {
  std::vector<double> row(19, 0.0);
  for (size_t i = 0; i < row.size(); ++i) { // a value that is left out, or read twice, is seen
    row[i] = 2.0;
    EXPECT_NEAR(logSumExp(row.data(), row.size()), std::log(18.0 + std::exp(2.0)), 1e-14);
    row[i] = -kInfinite;
    EXPECT_NEAR(logSumExp(row.data(), row.size()), std::log(18.0), 1e-14);
    row[i] = 0.0;
  }
}

TEST(LogSumExp, SaysWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (double wrong : {nan, kInfinite})
    for (size_t place : {0, 3, 8, 18}) {
      std::vector<double> row(19, 1.0);
      row[place] = wrong;
      EXPECT_FALSE(std::isfinite(logSumExp(row.data(), row.size()))) << wrong << " " << place;
    }
  const std::vector<double> none(19, -kInfinite);
  EXPECT_FALSE(std::isfinite(logSumExp(none.data(), none.size())));
}

/// The `count` best of [beams, symbols]: all of them sorted.
std::vector<std::pair<int32_t, int32_t>> plainBest(const std::vector<double> &rows, int64_t symbols, size_t count) {
  std::vector<std::pair<int32_t, int32_t>> all;
  for (size_t i = 0; i < rows.size(); ++i)
    all.push_back(
        {static_cast<int32_t>(i / static_cast<size_t>(symbols)), static_cast<int32_t>(i % static_cast<size_t>(symbols))});
  std::stable_sort(all.begin(), all.end(), [&](auto a, auto b) {
    return rows[static_cast<size_t>(a.first * symbols + a.second)] > rows[static_cast<size_t>(b.first * symbols + b.second)];
  });
  all.resize(count);
  return all;
}

/// From the second symbol on all beams of a text are different, and the best of all go on.
TEST(BeamSearch, FindsTheBestOfAllSymbols) {
  for (int64_t symbols : {5, 63, 64, 65, 1000}) {
    Beam beam;
    beam.rule = BeamRule::Hf;
    auto search = BeamSearch::create(beam, {1, symbols, 10, -1, {{0}}});
    std::vector<double> first(static_cast<size_t>(beam.size * symbols), 0.0); // equal ones: the smallest symbols
    search->advance(first);
    for (int32_t k = 0; k < beam.size; ++k)
      EXPECT_EQ(search->chosen()[static_cast<size_t>(k)], k);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      // Few values, so that many are equal; the last time rising ones, of which none may be passed over.
      std::vector<double> rows = randomRow(static_cast<size_t>(beam.size * symbols), 1, seed);
      for (size_t i = 0; i < rows.size(); ++i)
        rows[i] = seed < 3 ? std::floor(rows[i] * 4) : static_cast<double>(i);
      search = BeamSearch::create(beam, {1, symbols, 10, -1, {{0}}});
      search->advance(first);
      std::vector<double> changed = rows;
      search->advance(changed);
      const auto expected = plainBest(rows, symbols, static_cast<size_t>(beam.size));
      for (size_t k = 0; k < static_cast<size_t>(beam.size); ++k) {
        EXPECT_EQ(search->parents()[k], expected[k].first) << symbols << " " << seed;
        EXPECT_EQ(search->chosen()[k], expected[k].second) << symbols << " " << seed;
      }
    }
  }
}

} // namespace
