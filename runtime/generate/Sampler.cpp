#include "runtime/generate/Sampler.h"
#include "runtime/data/Random.h"
#include <algorithm>
#include <cmath>

namespace tenon::generate {

runtime::Status checkMethod(const Method &method) {
  if (method.greedy) // what draws is not used
    return {};
  if (method.temperature == 0)
    return runtime::usageError(
        "the temperature must be greater than 0, not 0; greedy (--greedy) always takes the most probable symbol");
  if (!(method.temperature > 0) || !std::isfinite(method.temperature))
    return runtime::usageError("the temperature must be greater than 0, not ", method.temperature);
  if (method.topK < 0)
    return runtime::usageError("top_k must be at least 0, not ", method.topK);
  if (!(method.topP > 0 && method.topP <= 1))
    return runtime::usageError("top_p must be greater than 0 and at most 1, not ", method.topP);
  return {};
}

int32_t Sampler::draw(const std::vector<double> &logits, uint64_t index) {
  order.clear();
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > -INFINITY) // false for NaN
      order.push_back(static_cast<int32_t>(i));
  if (order.empty())
    return -1;
  auto logit = [&](int32_t id) { return logits[static_cast<size_t>(id)]; };
  // Of equal logits the smaller id comes first, so that the order is one on every machine.
  auto more = [&](int32_t a, int32_t b) { return logit(a) > logit(b) || (logit(a) == logit(b) && a < b); };
  if (method.greedy)
    return *std::min_element(order.begin(), order.end(), more);
  if (method.topK > 0 && static_cast<size_t>(method.topK) < order.size()) {
    std::partial_sort(order.begin(), order.begin() + method.topK, order.end(), more);
    order.resize(static_cast<size_t>(method.topK));
  } else if (method.topP < 1) {
    std::sort(order.begin(), order.end(), more);
  }
  double highest = logit(*std::min_element(order.begin(), order.end(), more)), sum = 0;
  if (highest == INFINITY)
    return *std::min_element(order.begin(), order.end(), more);
  weights.clear();
  for (int32_t id : order)
    sum += weights.emplace_back(std::exp((logit(id) - highest) / method.temperature));
  size_t count = order.size();
  if (method.topP < 1) {
    double reached = 0;
    for (count = 0; count < order.size() && reached < method.topP * sum; ++count)
      reached += weights[count];
    sum = reached;
  }
  double point = data::RandomStream(seed, data::Purpose::Sample, index).uniform() * sum;
  for (size_t i = 0; i + 1 < count; ++i)
    if ((point -= weights[i]) < 0)
      return order[i];
  return order[count - 1];
}

} // namespace tenon::generate
