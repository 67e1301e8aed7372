#include "runtime/context/InputValues.h"
#include "runtime/base/Convert.h"
#include "runtime/base/Shapes.h"
#include "runtime/context/Context.h"
#include <limits>
#include <type_traits>

namespace tenon::runtime {

namespace {

std::string placeText(uint64_t index, const std::vector<int64_t> &shape) {
  return runtime::placeText(index, Shape(shape.begin(), shape.end()));
}

template <typename T> Status checkRange(const char *kind, const BoundTensor &tensor, const void *data, int64_t bound) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr T most = std::numeric_limits<T>::max();
  const T *values = static_cast<const T *>(data);
  uint64_t count = tensor.bytes / sizeof(T);
  // A pass without branches first, in the width of the elements: it vectorizes, and the usual answer is that all is well.
  // Negative ones are large without a sign.
  const Unsigned limit = bound > most ? Unsigned(Unsigned(most) + 1) : Unsigned(bound);
  bool bad = false;
  for (uint64_t i = 0; i < count; ++i)
    bad |= static_cast<Unsigned>(values[i]) >= limit;
  if (!bad)
    return {};
  for (uint64_t i = 0; i < count; ++i)
    if (values[i] < 0 || values[i] >= bound)
      return inputError(kind, " '", tensor.name, "' holds ", static_cast<int64_t>(values[i]), " at ", placeText(i, tensor.shape),
                        ", expected 0 .. ", bound - 1);
  return {};
}

} // namespace

Status checkRange(const char *kind, const BoundTensor &tensor, const void *data, int64_t bound) {
  return withCodeElement(tensor.type, [&]<typename T>(T) -> Status {
    if constexpr (std::is_integral_v<T>)
      return checkRange<T>(kind, tensor, data, bound);
    return bugError("'", tensor.name, "' has a bound and is no index");
  });
}

Status checkTruth(const BoundTensor &tensor, const void *data) {
  const unsigned char *values = static_cast<const unsigned char *>(data);
  for (uint64_t i = 0; i < tensor.bytes; ++i)
    if (values[i] > 1)
      return inputError("input '", tensor.name, "' holds ", static_cast<int>(values[i]), " at ", placeText(i, tensor.shape),
                        ", expected 0 or 1");
  return {};
}

} // namespace tenon::runtime
