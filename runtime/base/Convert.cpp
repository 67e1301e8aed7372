#include "runtime/base/Convert.h"
#include "runtime/base/Status.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tenon::runtime {

namespace {

enum class Kind { Real, Whole, Truth };

Kind kindOf(DataType type) {
  switch (type) {
  case DataType::F64:
  case DataType::F32:
  case DataType::F16:
  case DataType::BF16:
    return Kind::Real;
  case DataType::Bool:
    return Kind::Truth;
  default:
    return Kind::Whole;
  }
}

/// A two-byte real as it lies in memory.
template <float (*decode)(uint16_t)> struct Small {
  uint16_t bits;
  operator float() const { return decode(bits); }
};
struct Truth {
  unsigned char byte;
};

template <typename To, typename Whole> std::optional<std::string> convertWhole(Whole value, To &target) {
  constexpr unsigned char bits = sizeof(To) * 8;
  if constexpr (std::is_same_v<To, Truth>) {
    if (value != 0 && value != 1)
      return concat("is ", value, ", and a truth value is 0 or 1");
    target.byte = static_cast<unsigned char>(value);
  } else if constexpr (std::is_integral_v<To>) {
    if (!std::in_range<To>(value))
      return concat("is ", value, ", outside of ", static_cast<int>(bits), " bits");
    target = static_cast<To>(value);
  } else {
    // Beyond the digits of a real two whole numbers become one.
    constexpr int64_t most = int64_t{1} << std::numeric_limits<To>::digits;
    if (std::cmp_greater(value, most) || std::cmp_less(value, -most))
      return concat("is ", value, ", more than real numbers of ", static_cast<int>(bits), " bits tell apart");
    target = static_cast<To>(value);
  }
  return std::nullopt;
}

template <typename To, typename From> std::optional<std::string> convertOne(From value, To &target) {
  if constexpr (std::is_same_v<From, Truth>) {
    if (value.byte > 1)
      return "is a truth value that is neither 0 nor 1";
    return convertWhole(value.byte, target);
  } else if constexpr (std::is_integral_v<From>) {
    return convertWhole(value, target);
  } else if constexpr (std::is_floating_point_v<To>) {
    using Real = std::conditional_t<std::is_floating_point_v<From>, From, float>;
    const Real number = value;
    target = static_cast<To>(number);
    if (std::isfinite(number) && !std::isfinite(target))
      return concat("is ", static_cast<double>(number),
                    ", more than 32-bit numbers hold (3.4e38); scale the values, or use --f64");
  }
  return std::nullopt;
}

template <typename From, typename To>
std::optional<ConversionError> convertAll(const void *source, uint64_t count, void *target) {
  for (uint64_t i = 0; i < count; ++i) {
    From from;
    To to{};
    std::memcpy(&from, static_cast<const char *>(source) + i * sizeof(From), sizeof(From));
    if (auto wrong = convertOne(from, to))
      return ConversionError{i, *wrong};
    std::memcpy(static_cast<char *>(target) + i * sizeof(To), &to, sizeof(To));
  }
  return std::nullopt;
}

template <typename To> std::optional<ConversionError> convertTo(DataType from, const void *source, uint64_t count, void *target) {
  switch (from) {
  case DataType::F64:
    return convertAll<double, To>(source, count, target);
  case DataType::F32:
    return convertAll<float, To>(source, count, target);
  case DataType::F16:
    return convertAll<Small<floatFromHalf>, To>(source, count, target);
  case DataType::BF16:
    return convertAll<Small<floatFromBFloat16>, To>(source, count, target);
  case DataType::I64:
    return convertAll<int64_t, To>(source, count, target);
  case DataType::I32:
    return convertAll<int32_t, To>(source, count, target);
  case DataType::I16:
    return convertAll<int16_t, To>(source, count, target);
  case DataType::I8:
    return convertAll<int8_t, To>(source, count, target);
  case DataType::U64:
    return convertAll<uint64_t, To>(source, count, target);
  case DataType::U32:
    return convertAll<uint32_t, To>(source, count, target);
  case DataType::U16:
    return convertAll<uint16_t, To>(source, count, target);
  case DataType::U8:
    return convertAll<uint8_t, To>(source, count, target);
  case DataType::Bool:
    return convertAll<Truth, To>(source, count, target);
  }
  return std::nullopt;
}

} // namespace

bool convertible(DataType from, DataType to) {
  switch (to) {
  case DataType::I32:
  case DataType::I64:
  case DataType::Bool:
    return kindOf(from) != Kind::Real;
  case DataType::F32:
  case DataType::F64:
    return kindOf(from) != Kind::Truth;
  default:
    return from == to;
  }
}

std::optional<ConversionError> convertElements(DataType from, const void *source, uint64_t count, DataType to, void *target) {
  switch (to) {
  case DataType::I32:
    return convertTo<int32_t>(from, source, count, target);
  case DataType::I64:
    return convertTo<int64_t>(from, source, count, target);
  case DataType::Bool:
    return convertTo<Truth>(from, source, count, target);
  case DataType::F32:
    return convertTo<float>(from, source, count, target);
  case DataType::F64:
    return convertTo<double>(from, source, count, target);
  default:
    std::memcpy(target, source, count * byteSize(to));
    return std::nullopt;
  }
}

} // namespace tenon::runtime
