// What metrics.jsonl tells of a run: for lists and plots. Reads only; a run that is being trained may be looked at.
#pragma once
#include "runtime/base/Status.h"
#include <map>
#include <string>
#include <vector>

namespace tenon::train {

/// Values over steps, in order of the steps; NaN where a step had none that is finite.
struct Series {
  std::vector<double> steps, values;
  bool empty() const { return steps.empty(); }
};

struct History {
  std::map<std::string, Series> series; // by key of metrics.jsonl: loss, lr, tokens_per_second, valid_NAME, ...
  uint64_t lines = 0, damaged = 0;      // whole lines; those that are no JSON object with a step
  const Series &of(const std::string &key) const;
  /// The last value, NaN where there is none.
  double last(const std::string &key) const;
  /// Names behind `valid_`: losses, metrics and what is computed from them, without what an evaluation took.
  std::vector<std::string> heldOut() const;
};

/// Reads the file line by line in bounded memory per line; a last line without its end is left out. Input error if the file
/// cannot be read.
runtime::Expected<History> readHistory(const std::string &path);

} // namespace tenon::train
