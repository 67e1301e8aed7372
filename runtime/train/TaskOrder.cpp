#include "runtime/train/TaskOrder.h"
#include "runtime/data/Random.h"
#include <numeric>

namespace tenon::train {

TaskOrder::TaskOrder(Mix mix, std::vector<double> shares, std::vector<uint64_t> epochs, uint64_t seed)
    : mix(mix), shares(std::move(shares)), epochs(std::move(epochs)), seed(seed) {
  length = std::accumulate(this->epochs.begin(), this->epochs.end(), uint64_t{0});
}

size_t TaskOrder::drawn(uint64_t step) const {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  double left = data::RandomStream(seed, data::Purpose::Tasks, step).uniform() * sum;
  size_t task = 0;
  while (task + 1 < shares.size() && left >= shares[task])
    left -= shares[task++];
  return task;
}

void TaskOrder::shuffle(uint64_t epoch) {
  order.clear();
  for (size_t task = 0; task < epochs.size(); ++task)
    order.insert(order.end(), epochs[task], static_cast<uint32_t>(task));
  data::RandomStream(seed, data::Purpose::Tasks, epoch).shuffle(order);
  std::vector<uint64_t> seen(epochs.size());
  positions.clear();
  for (uint32_t task : order)
    positions.push_back(seen[task]++);
  shuffled = epoch;
}

TaskOrder::Turn TaskOrder::at(uint64_t step) {
  if (shares.size() == 1)
    return {0, step};
  if (mix == Mix::Turns)
    return {static_cast<size_t>(step % shares.size()), step / shares.size()};
  if (mix == Mix::Shuffled) {
    const uint64_t epoch = step / length, place = step % length;
    if (epoch != shuffled)
      shuffle(epoch);
    return {order[place], epoch * epochs[order[place]] + positions[place]};
  }
  if (step < next || counts.empty()) {
    counts.assign(shares.size(), 0);
    next = 0;
  }
  for (; next < step; ++next)
    ++counts[drawn(next)];
  const size_t task = drawn(step);
  return {task, counts[task]};
}

} // namespace tenon::train
