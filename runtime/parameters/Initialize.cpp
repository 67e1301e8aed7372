#include "runtime/parameters/Initialize.h"
#include "runtime/base/Convert.h"
#include "runtime/device/Threads.h"
#include "runtime/parameters/NormalQuantile.h"
#include "runtime/parameters/Philox.h"
#define XXH_INLINE_ALL
#include <atomic>
#include <cmath>
#include <numeric>
#include <system_error>
#include <thread>
#include <xxhash.h>

namespace tenon::runtime {

namespace {

/// The random numbers of one tensor: a block of Philox gives those of two neighbours.
class Draws {
public:
  Draws(const std::string &name, uint64_t seed) : seed(seed), place(XXH3_64bits(name.data(), name.size())) {}

  double uniform(int64_t index) { // (0, 1)
    uint64_t pair = static_cast<uint64_t>(index) / 2;
    if (pair != heldPair) {
      held = philox({static_cast<uint32_t>(pair), static_cast<uint32_t>(pair >> 32), static_cast<uint32_t>(place),
                     static_cast<uint32_t>(place >> 32)},
                    seed);
      heldPair = pair;
    }
    return index % 2 ? openUniform(held[2], held[3]) : openUniform(held[0], held[1]);
  }
  double normal(int64_t index) { return normalQuantile(uniform(index)); }
  /// Cut at two deviations, as TensorFlow's truncated_normal is (BERT, XLNet).
  double truncatedNormal(int64_t index) {
    constexpr double below = 0.022750131948179195; // P(N < -2)
    return normalQuantile(below + uniform(index) * (1 - 2 * below));
  }

private:
  uint64_t seed, place;
  uint64_t heldPair = ~uint64_t(0);
  PhiloxBlock held = {};
};

/// Rows of the smaller side made orthonormal by Gram-Schmidt, twice for accuracy (Giraud et al. 2005: "twice is enough").
void orthogonal(Draws &draws, int64_t rows, int64_t columns, double gain, double *values) {
  bool flip = rows > columns; // then the columns become orthonormal
  int64_t count = flip ? columns : rows, length = flip ? rows : columns;
  auto at = [&](int64_t vector, int64_t i) -> double & { return values[flip ? i * columns + vector : vector * columns + i]; };
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

double stepped(double value, const std::vector<InitializerInfo::Step> &steps) {
  using Kind = InitializerInfo::Step::Kind;
  for (const InitializerInfo::Step &step : steps)
    value = step.kind == Kind::Add     ? value + step.number
            : step.kind == Kind::Times ? value * step.number
            : step.kind == Kind::Exp   ? std::exp(value)
                                       : std::log(value);
  return value;
}

} // namespace

int64_t InitialTensor::elements() const { return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()); }

static void drawnValues(const InitialTensor &tensor, uint64_t seed, int64_t first, int64_t count, double *values) {
  using Kind = InitializerInfo::Kind;
  const InitializerInfo &init = tensor.init;
  Draws draws(tensor.name, seed);
  const double a = init.of(tensor.stackIndex);
  if (init.kind == Kind::Orthogonal) {
    int64_t rows = tensor.shape.empty() ? 1 : tensor.shape[0];
    if (count > 0)
      orthogonal(draws, rows, count / rows, a, values);
    return;
  }
  auto inTable = [&](int64_t element) { // its place in the table
    int64_t place = 0;
    for (size_t axis = tensor.shape.size(); axis-- > 0; element /= tensor.shape[axis])
      place += element % tensor.shape[axis] * init.strides[axis];
    return static_cast<size_t>(place);
  };
  for (int64_t i = 0; i < count; ++i)
    switch (init.kind) {
    case Kind::Table:
      values[i] = init.table[inTable(first + i)];
      break;
    case Kind::Uniform:
    case Kind::XavierUniform:
      values[i] = a * (2 * draws.uniform(first + i) - 1);
      break;
    case Kind::TruncatedNormal:
      values[i] = a * draws.truncatedNormal(first + i);
      break;
    case Kind::Normal:
    case Kind::KaimingNormal:
      values[i] = a * draws.normal(first + i);
      break;
    default:
      values[i] = a;
    }
}

void initialValues(const InitialTensor &tensor, uint64_t seed, int64_t first, int64_t count, double *values) {
  drawnValues(tensor, seed, first, count, values);
  if (!tensor.init.then.empty())
    for (int64_t i = 0; i < count; ++i)
      values[i] = stepped(values[i], tensor.init.then);
}

void initializeTensor(const InitialTensor &tensor, uint64_t seed, DataType type, char *target) {
  constexpr int64_t range = 1 << 16;
  const int64_t elements = tensor.elements();
  const bool whole = tensor.init.kind == InitializerInfo::Kind::Orthogonal;
  const int64_t step = whole ? std::max<int64_t>(elements, 1) : range;
  std::atomic<int64_t> next{0};
  auto work = [&] {
    std::vector<double> values(static_cast<size_t>(std::min(step, elements)));
    for (int64_t first; (first = next.fetch_add(step)) < elements;) {
      int64_t count = std::min(step, elements - first);
      initialValues(tensor, seed, first, count, values.data());
      convertReals(DataType::F64, values.data(), static_cast<uint64_t>(count), type,
                   target + static_cast<uint64_t>(first) * byteSize(type));
    }
  };
  std::vector<std::thread> threads;
  try {
    while (elements > 4 * range && !whole && threads.size() + 1 < static_cast<size_t>(availableCpus()))
      threads.emplace_back(work);
  } catch (const std::system_error &) {
    // Fewer threads than wanted only take longer.
  }
  work();
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace tenon::runtime
