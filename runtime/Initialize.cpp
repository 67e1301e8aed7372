#include "runtime/Initialize.h"
#include "runtime/Philox.h"
#define XXH_INLINE_ALL
#include <cmath>
#include <numbers>
#include <xxhash.h>

namespace tenon::runtime {

namespace {

/// The random numbers of one tensor.
class Draws {
public:
  Draws(const std::string &name, uint64_t seed) : seed(seed), place(XXH3_64bits(name.data(), name.size())) {}

  double uniform(int64_t index) const { // (0, 1)
    PhiloxBlock bits = block(index, 0);
    return openUniform(bits[0], bits[1]);
  }
  /// Box-Muller. `attempt` gives further independent draws for the same element.
  double normal(int64_t index, uint32_t attempt = 0) const {
    PhiloxBlock bits = block(index, attempt);
    double radius = std::sqrt(-2 * std::log(openUniform(bits[0], bits[1])));
    return radius * std::cos(2 * std::numbers::pi * openUniform(bits[2], bits[3]));
  }

private:
  // Elements are below 2^48 (manifest limit); the 16 bits above count attempts.
  PhiloxBlock block(int64_t index, uint32_t attempt) const {
    uint64_t position = static_cast<uint64_t>(index) | static_cast<uint64_t>(attempt) << 48;
    return philox({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), static_cast<uint32_t>(place),
                   static_cast<uint32_t>(place >> 32)},
                  seed);
  }
  uint64_t seed, place;
};

/// Beyond two deviations a value is drawn again, as TensorFlow's truncated_normal does (BERT, XLNet).
double truncatedNormal(const Draws &draws, int64_t index) {
  for (uint32_t attempt = 0; attempt < 65535; ++attempt) // each fails with probability 0.046
    if (double value = draws.normal(index, attempt); std::abs(value) <= 2)
      return value;
  return 0;
}

/// Rows of the smaller side made orthonormal by Gram-Schmidt, twice for accuracy (Giraud et al. 2005: "twice is enough").
void orthogonal(const Draws &draws, int64_t rows, int64_t columns, double gain, double *values) {
  bool flip = rows > columns; // then the columns become orthonormal
  int64_t count = flip ? columns : rows, length = flip ? rows : columns;
  auto at = [&](int64_t vector, int64_t i) -> double & {
    return values[flip ? i * columns + vector : vector * columns + i];
  };
  for (int64_t i = 0; i < rows * columns; ++i)
    values[i] = draws.normal(i);
  for (int64_t v = 0; v < count; ++v) {
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t w = 0; w < v; ++w) {
        double product = 0;
        for (int64_t i = 0; i < length; ++i)
          product += at(v, i) * at(w, i);
        for (int64_t i = 0; i < length; ++i)
          at(v, i) -= product * at(w, i);
      }
    double square = 0;
    for (int64_t i = 0; i < length; ++i)
      square += at(v, i) * at(v, i);
    double scale = 1 / std::sqrt(square);
    for (int64_t i = 0; i < length; ++i)
      at(v, i) *= scale;
  }
  for (int64_t i = 0; i < rows * columns; ++i)
    values[i] *= gain;
}

} // namespace

void initialValues(const ParameterInfo &info, int64_t stackIndex, uint64_t seed, int64_t first, int64_t count, double *values) {
  using Kind = InitializerInfo::Kind;
  Draws draws(info.elementName(stackIndex), seed);
  double a = info.init.of(stackIndex);
  if (info.init.kind == Kind::Orthogonal) {
    int64_t rows = info.shape.empty() ? 1 : info.shape[0];
    if (count > 0)
      orthogonal(draws, rows, count / rows, a, values);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    switch (info.init.kind) {
    case Kind::Uniform:
    case Kind::XavierUniform:
      values[i] = a * (2 * draws.uniform(first + i) - 1);
      break;
    case Kind::TruncatedNormal:
      values[i] = a * truncatedNormal(draws, first + i);
      break;
    case Kind::Normal:
    case Kind::KaimingNormal:
      values[i] = a * draws.normal(first + i);
      break;
    default:
      values[i] = a;
    }
}

} // namespace tenon::runtime
