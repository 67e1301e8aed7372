// From logits to the next symbol.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <vector>

namespace tenon::generate {

struct Method {
  bool greedy = false;    // the most probable symbol; of equal ones the first
  double temperature = 1; // logits are divided by it
  int64_t topK = 0;       // only the k most probable symbols; 0: all
  double topP = 1;        // then only the smallest set of the most probable symbols whose probability reaches p
};
/// Usage error for values outside their range: temperature > 0, topK >= 0, 0 < topP <= 1.
runtime::Status checkMethod(const Method &method);

/// Draws by Philox: symbol `index` of a generation is a function of (seed, index, logits).
class Sampler {
public:
  Sampler(const Method &method, uint64_t seed) : method(method), seed(seed) {}
  /// The next symbol, or -1 if no logit is a number greater than minus infinity.
  int32_t draw(const std::vector<double> &logits, uint64_t index);

private:
  Method method;
  uint64_t seed;
  std::vector<int32_t> order;
  std::vector<double> weights;
};

} // namespace tenon::generate
