// `average` of a recipe.
#pragma once
#include <cstddef>

namespace tenon::train {

/// average = ema(decay) or last(count).
struct AverageSetting {
  double decay = 0;
  bool ramp = false; // ema: the decay of update n is at most (1 + n) / (10 + n)
  size_t last = 0;   // checkpoints; 0: a moving average
};

} // namespace tenon::train
