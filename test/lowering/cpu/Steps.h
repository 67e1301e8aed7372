// Where an element of an operand lies, by the indices of some of its axes.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace tenon::test {

class Steps {
public:
  /// Of an operand of this shape, row-major, whose axes have `labels`; the indices are those of the labels `along`.
  Steps(llvm::ArrayRef<int64_t> along, llvm::ArrayRef<int64_t> labels, llvm::ArrayRef<int64_t> shape) : steps(along.size()) {
    int64_t step = 1;
    for (size_t axis = labels.size(); axis-- > 0; step *= shape[axis])
      for (size_t i = 0; i < along.size(); ++i)
        steps[i] += along[i] == labels[axis] ? step : 0;
  }
  int64_t to(const std::vector<int64_t> &index) const {
    int64_t place = 0;
    for (size_t i = 0; i < steps.size(); ++i)
      place += steps[i] * index[i];
    return place;
  }

private:
  std::vector<int64_t> steps;
};

} // namespace tenon::test
