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
void orthogonal(const Draws &draws, int64_t rows, int64_t columns, double gain, std::vector<double> &values) {
  bool flip = rows > columns; // then the columns become orthonormal
  int64_t count = flip ? columns : rows, length = flip ? rows : columns;
  auto at = [&](int64_t vector, int64_t i) -> double & {
    return values[static_cast<size_t>(flip ? i * columns + vector : vector * columns + i)];
  };
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = draws.normal(static_cast<int64_t>(i));
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
  for (double &value : values)
    value *= gain;
}

} // namespace

void initialValues(const ParameterInfo &info, const std::string &name, uint64_t seed, std::vector<double> &values) {
  using Kind = InitializerInfo::Kind;
  Draws draws(name, seed);
  size_t count = static_cast<size_t>(info.elements);
  double a = info.init.a;
  double fanOut = info.shape.empty() ? 1 : static_cast<double>(info.shape[0]);
  double fanIn = 1, field = 1;
  for (size_t i = 1; i < info.shape.size(); ++i) {
    fanIn *= static_cast<double>(info.shape[i]);
    field *= i >= 2 ? static_cast<double>(info.shape[i]) : 1;
  }
  values.assign(count, a);
  if (count == 0 || info.init.kind == Kind::Constant)
    return;
  if (info.init.kind == Kind::Orthogonal)
    return orthogonal(draws, info.shape.empty() ? 1 : info.shape[0], static_cast<int64_t>(fanIn), a, values);
  double bound = info.init.kind == Kind::XavierUniform ? a * std::sqrt(6 / (fanIn + fanOut)) : a;
  double deviation = info.init.kind == Kind::KaimingNormal ? a * std::sqrt(2 / (fanOut * field)) : a;
  for (size_t i = 0; i < count; ++i) {
    int64_t index = static_cast<int64_t>(i);
    switch (info.init.kind) {
    case Kind::Uniform:
    case Kind::XavierUniform:
      values[i] = bound * (2 * draws.uniform(index) - 1);
      break;
    case Kind::TruncatedNormal:
      values[i] = deviation * truncatedNormal(draws, index);
      break;
    default:
      values[i] = deviation * draws.normal(index);
    }
  }
}

} // namespace tenon::runtime
