#include "runtime/base/DataType.h"
#include <bit>

namespace tenon::runtime {

std::optional<DataType> dataTypeFromName(std::string_view name) {
  for (const DataTypeRow &row : kDataTypes)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

std::optional<DataType> dataTypeFromSafetensors(std::string_view name) {
  for (const DataTypeRow &row : kDataTypes)
    if (row.safetensors == name)
      return row.type;
  return std::nullopt;
}

float floatFromBFloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t bfloat16FromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40); // NaN, quiet
  if (magnitude < 0x00800000)
    return static_cast<uint16_t>(bits >> 16 & 0x8000);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t halfFromFloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), magnitude = bits & 0x7fffffff;
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff)); // NaN, quiet
  if (magnitude >= 0x477ff000)                                               // 65520, half way to what would be 65536
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x00800000)
    return sign;
  if (magnitude >= 0x38800000) // 2^-14, the least normal half
    return static_cast<uint16_t>(sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
  const uint32_t exponent = magnitude >> 23, shift = 126 - exponent; // the last place is 2^-24
  if (shift > 24)
    return sign;
  const uint32_t fraction = (magnitude & 0x7fffff) | 0x800000, kept = fraction >> shift;
  const uint32_t rest = fraction & ((1u << shift) - 1), half = 1u << (shift - 1);
  return static_cast<uint16_t>(sign | (kept + (rest > half || (rest == half && (kept & 1)))));
}

FloatHalves halvesOfFloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    bits = (bits & 0xffff0000) | 0x00400000;
  return {static_cast<uint16_t>((bits + 0x8000) >> 16), static_cast<uint16_t>(bits)};
}

float floatFromHalves(FloatHalves halves) {
  const uint32_t places = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(halves.remainder)));
  return std::bit_cast<float>((static_cast<uint32_t>(halves.upper) << 16) + places);
}

float floatFromHalf(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 31, fraction = bits & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    // Subnormal halves are fraction * 2^-24, exact in float whatever the processor's denormal mode is.
    float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

} // namespace tenon::runtime
