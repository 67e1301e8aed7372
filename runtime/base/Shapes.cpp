#include "runtime/base/Shapes.h"
#include "runtime/base/Checked.h"
#include "runtime/base/Status.h"
#include <algorithm>
#include <iterator>

namespace tenon::runtime {

Shape withoutOnes(const Shape &shape) {
  Shape result;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(result), [](uint64_t size) { return size != 1; });
  return result;
}

bool mergesTo(const Shape &fine, const Shape &coarse) {
  // Where in `fine` the axes of `coarse` so far can end: sizes 1 and 0 leave a choice.
  std::vector<bool> ends(fine.size() + 1, false);
  ends[0] = true;
  for (uint64_t size : coarse) {
    std::vector<bool> next(ends.size(), false);
    for (size_t at = 0; at < ends.size(); ++at) {
      std::optional<uint64_t> product = 1;
      for (size_t end = at; ends[at] && product; ++end) {
        if (*product == size)
          next[end] = true;
        product = end < fine.size() ? checkedMultiply(*product, fine[end]) : std::nullopt;
      }
    }
    ends = std::move(next);
  }
  for (size_t rest = fine.size(); !ends[rest]; --rest)
    if (rest == 0 || fine[rest - 1] != 1)
      return false;
  return true;
}

std::string shapeText(std::span<const uint64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += concat(i ? ", " : "", shape[i]);
  return text + "]";
}

std::string placeText(uint64_t i, std::span<const uint64_t> shape) {
  std::string text;
  for (size_t k = shape.size(); k-- > 0; i /= shape[k])
    text = concat(i % shape[k], text.empty() ? "" : ", ", text);
  return concat('[', text, ']');
}

} // namespace tenon::runtime
