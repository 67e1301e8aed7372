// Elements of one type as elements of another, where no value changes its meaning.
#pragma once
#include "runtime/base/DataType.h"
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>

namespace tenon::runtime {

/// A real of 16 bits, and a truth value, as they lie in memory.
template <DataType of16Bits, float (*decode)(uint16_t), uint16_t (*encode)(float)> struct Short {
  static constexpr DataType type = of16Bits;
  uint16_t bits;
  operator float() const { return decode(bits); }
  static Short of(float value) { return {encode(value)}; }
};
using Half = Short<DataType::F16, floatFromHalf, halfFromFloat>;
using BFloat16 = Short<DataType::BF16, floatFromBFloat16, bfloat16FromFloat>;
template <typename T> constexpr bool isShort = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
struct Truth {
  unsigned char byte;
};

/// Whether `types` are those of the table of which `holds` is true, in its order: code that tells them apart by hand asks this,
/// so that a new row of the table does not become one of them unseen.
constexpr bool areAllThat(bool (*holds)(DataType), std::initializer_list<DataType> types) {
  const DataType *next = types.begin();
  for (const DataTypeRow &row : kDataTypes)
    if (holds(row.type) && (next == types.end() || *next++ != row.type))
      return false;
  return next == types.end();
}
static_assert(areAllThat(isInCode, {DataType::F64, DataType::F32, DataType::F16, DataType::BF16, DataType::I64, DataType::I32,
                                    DataType::Bool}),
              "withCodeElement says the C++ type of each");
static_assert(areAllThat([](DataType type) { return !isInCode(type); },
                         {DataType::I16, DataType::I8, DataType::U64, DataType::U32, DataType::U16, DataType::U8}),
              "withElement says the C++ type of each");
static_assert(areAllThat(isComputedReal, {DataType::F64, DataType::F32}), "withReal says the C++ type of each");
static_assert(areAllThat(isStoredReal, {DataType::F16, DataType::BF16}), "withShort says the C++ type of each");

/// Calls with a value of the C++ type that elements of `type` are, of what isInCode.
template <typename Call> decltype(auto) withCodeElement(DataType type, Call call) {
  switch (type) {
  case DataType::F64:
    return call(double());
  case DataType::F32:
    return call(float());
  case DataType::F16:
    return call(Half());
  case DataType::BF16:
    return call(BFloat16());
  case DataType::I64:
    return call(int64_t());
  case DataType::I32:
    return call(int32_t());
  default:
    return call(Truth());
  }
}
/// The same for every type.
template <typename Call> decltype(auto) withElement(DataType type, Call call) {
  switch (type) {
  case DataType::I16:
    return call(int16_t());
  case DataType::I8:
    return call(int8_t());
  case DataType::U64:
    return call(uint64_t());
  case DataType::U32:
    return call(uint32_t());
  case DataType::U16:
    return call(uint16_t());
  case DataType::U8:
    return call(uint8_t());
  default:
    return withCodeElement(type, call);
  }
}
/// The same for what isComputedReal.
template <typename Call> decltype(auto) withReal(DataType type, Call call) {
  return type == DataType::F64 ? call(double()) : call(float());
}
/// The same for what isStoredReal.
template <typename Call> decltype(auto) withShort(DataType type, Call call) {
  return type == DataType::F16 ? call(Half()) : call(BFloat16());
}
/// Calls with an unsigned number of 2, 4 or 8 bytes, for elements that are moved as they are.
template <typename Call> void withBits(uint64_t bytes, Call call) {
  bytes == 2 ? call(uint16_t()) : bytes == 4 ? call(uint32_t()) : call(uint64_t());
}

/// Element `index` (unaligned) as a number; a truth value is 0 or 1.
inline double numberAt(DataType type, const void *values, uint64_t index) {
  return withElement(type, [&]<typename T>(T value) -> double {
    std::memcpy(&value, static_cast<const char *>(values) + index * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, Truth>)
      return value.byte;
    else
      return static_cast<double>(value);
  });
}
/// `value` as `count` elements from `values` on, of a type that isInCode.
void fillNumbers(DataType type, void *values, uint64_t count, double value);
/// `count` reals from `source` (unaligned), of any type, to `target`. Finite ones may become infinite.
void convertReals(DataType from, const void *source, uint64_t count, DataType to, void *target);
/// Whether a finite number becomes infinite in a real type.
bool isBeyond(double value, DataType type);

/// The first element that has no counterpart: "is 5000000000, outside of 32 bits".
struct ConversionError {
  uint64_t index;
  std::string what;
};

/// Whether there is a conversion at all. To i32 and i64: from whole numbers and truth values. To reals: from numbers. To bool:
/// from whole numbers and truth values.
bool convertible(DataType from, DataType to);

/// `count` elements from `source` (unaligned) to `target`. Whole numbers must fit, as reals exactly; truth values are 0 or 1; a
/// finite real must stay finite and may be rounded.
std::optional<ConversionError> convertElements(DataType from, const void *source, uint64_t count, DataType to, void *target);

} // namespace tenon::runtime
