#include "runtime/DataType.h"
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
