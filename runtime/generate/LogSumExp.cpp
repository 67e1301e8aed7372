#include "runtime/generate/LogSumExp.h"
#include "runtime/device/Cpu.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numbers>

namespace tenon::generate {
namespace {

// The compiler cuts them into the vectors that a function may use; lanes do not meet before the end.
constexpr size_t kLanes = 8;
using Reals [[gnu::vector_size(kLanes * sizeof(double))]] = double;
using Bits [[gnu::vector_size(kLanes * sizeof(int64_t))]] = int64_t;

/// Lanes behind the last value are `rest`.
[[gnu::always_inline]] inline void load(Reals &lanes, const double *values, size_t count, double rest) {
  if (count < kLanes)
    lanes = Reals{} + rest;
  std::memcpy(&lanes, values, (count < kLanes ? count : kLanes) * sizeof(double));
}

/// e^x for x <= 0: 2^n e^r with |r| <= ln 2 / 2, e^r by Taylor's polynomial, whose first term left out is below 1e-17. Below
/// -700, where the result no longer counts beside 1, it is that of -700.
[[gnu::always_inline]] inline void exponential(Reals &x) {
  constexpr double kRound = 6755399441055744.0; // 1.5 2^52: added and taken away, what is left is an integer
  constexpr double kHighLn2 = 0x1.62e42fefa3800p-1, kLowLn2 = 0x1.ef35793c76730p-45;
  constexpr double kTerms[] = {1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040,
                               1. / 720,        1. / 120,       1. / 24,       1. / 6,       1. / 2,      1.,         1.};
  x = x < -700.0 ? Reals{} - 700.0 : x;
  const Reals shifted = x * std::numbers::log2e + kRound;
  const Reals whole = shifted - kRound;
  const Reals rest = (x - whole * kHighLn2) - whole * kLowLn2;
  Reals sum = Reals{} + kTerms[0];
  for (size_t i = 1; i < std::size(kTerms); ++i)
    sum = sum * rest + kTerms[i];
  // The low bits of `shifted` are n in two's complement: 2^n has n + 1023 as its exponent.
  Bits bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 1023) << 52;
  Reals power;
  std::memcpy(&power, &bits, sizeof power);
  x = sum * power;
}

/// Compiled once for each width of vectors. Nothing is contracted, so all have the same bits.
[[gnu::always_inline]] inline double sumOf(const double *values, size_t count) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  Reals highest = Reals{} + kLowest, lanes;
  for (size_t i = 0; i < count; i += kLanes) {
    load(lanes, values + i, count - i, kLowest);
    highest = lanes > highest ? lanes : highest;
  }
  double most = kLowest;
  for (size_t i = 0; i < kLanes; ++i)
    most = highest[i] > most ? highest[i] : most;
  if (!std::isfinite(most))
    return std::numeric_limits<double>::quiet_NaN();
  Reals sums{};
  for (size_t i = 0; i < count; i += kLanes) {
    load(lanes, values + i, count - i, kLowest);
    const Reals weighed = lanes;
    lanes = weighed - most;
    exponential(lanes);
    // What is infinitely far below counts nothing, not e^-700; a NaN stays one.
    sums += weighed == kLowest ? Reals{} : lanes;
  }
  double sum = 0;
  for (size_t i = 0; i < kLanes; ++i)
    sum += sums[i];
  return most + std::log(sum);
}

TENON_CODE_OF_AVX512 double sumByWideVectors(const double *values, size_t count) { return sumOf(values, count); }

} // namespace

double logSumExpByNarrowVectors(const double *values, size_t count) { return sumOf(values, count); }

double logSumExp(const double *values, size_t count) {
  static const bool isWide = runtime::missingFeature(runtime::Tier::Avx512).empty();
  return isWide ? sumByWideVectors(values, count) : logSumExpByNarrowVectors(values, count);
}

} // namespace tenon::generate
