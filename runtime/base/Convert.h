// Elements of one type as elements of another, where no value changes its meaning.
#pragma once
#include "runtime/base/DataType.h"
#include <optional>
#include <string>

namespace tenon::runtime {

/// The first element that has no counterpart: "is 5000000000, outside of 32 bits".
struct ConversionError {
  uint64_t index;
  std::string what;
};

/// Whether there is a conversion at all. To i32 and i64: from whole numbers and truth values. To f32 and f64: from numbers. To
/// bool: from whole numbers and truth values.
bool convertible(DataType from, DataType to);

/// `count` elements from `source` (unaligned) to `target`. Whole numbers must fit, as reals exactly; truth values are 0 or 1; a
/// finite real must stay finite and may be rounded.
std::optional<ConversionError> convertElements(DataType from, const void *source, uint64_t count, DataType to, void *target);

} // namespace tenon::runtime
