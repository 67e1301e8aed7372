// Element types of buffers, files and compiled code: the one table of their bytes and names, of the compiler
// (dialect/ElementModel.h) too.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::runtime {

enum class DataType : uint8_t { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool };

struct DataTypeRow {
  DataType type;
  uint64_t bytes;
  std::string_view name, safetensors;
};
inline constexpr DataTypeRow kDataTypes[] = {
    {DataType::F64, 8, "f64", "F64"},    {DataType::F32, 4, "f32", "F32"}, {DataType::F16, 2, "f16", "F16"},
    {DataType::BF16, 2, "bf16", "BF16"}, {DataType::I64, 8, "i64", "I64"}, {DataType::I32, 4, "i32", "I32"},
    {DataType::I16, 2, "i16", "I16"},    {DataType::I8, 1, "i8", "I8"},    {DataType::U64, 8, "u64", "U64"},
    {DataType::U32, 4, "u32", "U32"},    {DataType::U16, 2, "u16", "U16"}, {DataType::U8, 1, "u8", "U8"},
    {DataType::Bool, 1, "bool", "BOOL"},
};

/// Bytes of one element.
constexpr uint64_t byteSize(DataType type) { return kDataTypes[static_cast<int>(type)].bytes; }
/// Name in manifests and messages: f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool.
constexpr std::string_view nameOf(DataType type) { return kDataTypes[static_cast<int>(type)].name; }
std::optional<DataType> dataTypeFromName(std::string_view name);
/// Name in safetensors headers: F64 F32 F16 BF16 I64 ... BOOL.
constexpr std::string_view safetensorsNameOf(DataType type) { return kDataTypes[static_cast<int>(type)].safetensors; }
std::optional<DataType> dataTypeFromSafetensors(std::string_view name);

float floatFromBFloat16(uint16_t bits);
float floatFromHalf(uint16_t bits);
/// To nearest, ties to even; what is denormal becomes a zero of its sign, as compiled code rounds (lowering/cpu/ShortReals.h).
uint16_t bfloat16FromFloat(float value);
/// To nearest, ties to even; too large numbers become infinite.
uint16_t halfFromFloat(float value);
/// An f32 in two halves of 16 bits, as compiled code splits and joins it (lowering/cpu/ShortReals.h): the bf16 nearest to it,
/// ties away from zero, and the signed number of last places that this took. Every number, zero and infinity comes back bit for
/// bit; a NaN becomes a quiet one.
struct FloatHalves {
  uint16_t upper, remainder;
};
FloatHalves halvesOfFloat(float value);
float floatFromHalves(FloatHalves halves);
/// Of f32, bf16 and f16: the largest finite number, as messages say it.
constexpr std::string_view largestOf(DataType type) { return type == DataType::F16 ? "65504" : "3.4e38"; }
/// Whether a finite number becomes infinite in f32, bf16 or f16.
bool isBeyond(double value, DataType type);

} // namespace tenon::runtime
