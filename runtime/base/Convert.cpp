#include "runtime/base/Convert.h"
#include "runtime/base/Status.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::runtime {

namespace {

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
  if constexpr (isShort<To>) { // computed in f32, and rounded from there
    float wide = 0;
    if constexpr (std::is_integral_v<From> || std::is_same_v<From, Truth>) {
      if (auto wrong = convertOne(value, wide))
        return wrong;
    } else {
      wide = static_cast<float>(value);
    }
    target = To::of(wide);
    if constexpr (!std::is_same_v<From, Truth>)
      if (std::isfinite(static_cast<double>(value)) && !std::isfinite(static_cast<float>(target)))
        return concat("is ", static_cast<double>(value), ", more than ", nameOf(To::type), " holds (",
                      rowOf(To::type).largestText, "); scale the values, or write f32 for the type");
  } else if constexpr (std::is_same_v<From, Truth>) {
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

} // namespace

bool convertible(DataType from, DataType to) {
  if (!isInCode(to))
    return from == to;
  return isReal(to) ? rowOf(from).kind != NumberKind::Truth : !isReal(from);
}

std::optional<ConversionError> convertElements(DataType from, const void *source, uint64_t count, DataType to, void *target) {
  if (!isInCode(to)) {
    std::memcpy(target, source, count * byteSize(to));
    return std::nullopt;
  }
  return withCodeElement(to, [&]<typename To>(To) {
    return withElement(from, [&]<typename From>(From) { return convertAll<From, To>(source, count, target); });
  });
}

void fillNumbers(DataType type, void *values, uint64_t count, double value) {
  withCodeElement(type, [&]<typename T>(T element) {
    if constexpr (std::is_same_v<T, Truth>)
      element.byte = value != 0;
    else if constexpr (isShort<T>)
      element = T::of(static_cast<float>(value));
    else
      element = static_cast<T>(value);
    std::fill_n(static_cast<T *>(values), count, element);
  });
}

void convertReals(DataType from, const void *source, uint64_t count, DataType to, void *target) {
  withCodeElement(to, [&]<typename To>(To) {
    withElement(from, [&]<typename From>(From value) {
      if constexpr (std::is_convertible_v<From, float> && std::is_convertible_v<To, float>)
        for (uint64_t i = 0; i < count; ++i) {
          std::memcpy(&value, static_cast<const char *>(source) + i * sizeof(From), sizeof(From));
          if constexpr (isShort<To>)
            static_cast<To *>(target)[i] = To::of(static_cast<float>(value));
          else
            static_cast<To *>(target)[i] = static_cast<To>(value);
        }
    });
  });
}

bool isBeyond(double value, DataType type) {
  const bool fits = isStoredReal(type)
                        ? withShort(type, [&]<typename T>(T) { return std::isfinite(float(T::of(static_cast<float>(value)))); })
                        : withReal(type, [&]<typename T>(T) { return std::isfinite(static_cast<T>(value)); });
  return std::isfinite(value) && !fits;
}

} // namespace tenon::runtime
