#include "runtime/DataType.h"
#include <bit>

namespace tenon::runtime {

namespace {
struct Row {
  DataType type;
  uint64_t bytes;
  std::string_view name, safetensors;
};
constexpr Row rows[] = {
    {DataType::F64, 8, "f64", "F64"},    {DataType::F32, 4, "f32", "F32"}, {DataType::F16, 2, "f16", "F16"},
    {DataType::BF16, 2, "bf16", "BF16"}, {DataType::I64, 8, "i64", "I64"}, {DataType::I32, 4, "i32", "I32"},
    {DataType::I16, 2, "i16", "I16"},    {DataType::I8, 1, "i8", "I8"},    {DataType::U64, 8, "u64", "U64"},
    {DataType::U32, 4, "u32", "U32"},    {DataType::U16, 2, "u16", "U16"}, {DataType::U8, 1, "u8", "U8"},
    {DataType::Bool, 1, "bool", "BOOL"},
};
const Row &rowOf(DataType type) { return rows[static_cast<int>(type)]; }
} // namespace

uint64_t byteSize(DataType type) { return rowOf(type).bytes; }
std::string_view nameOf(DataType type) { return rowOf(type).name; }
std::string_view safetensorsNameOf(DataType type) { return rowOf(type).safetensors; }

std::optional<DataType> dataTypeFromName(std::string_view name) {
  for (const Row &row : rows)
    if (row.name == name)
      return row.type;
  return std::nullopt;
}

std::optional<DataType> dataTypeFromSafetensors(std::string_view name) {
  for (const Row &row : rows)
    if (row.safetensors == name)
      return row.type;
  return std::nullopt;
}

float floatFromBFloat16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

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
