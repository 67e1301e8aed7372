// Element types of buffers and files.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::runtime {

enum class DataType : uint8_t { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool };

/// Bytes of one element.
uint64_t byteSize(DataType type);
/// Name in manifests and messages: f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool.
std::string_view nameOf(DataType type);
std::optional<DataType> dataTypeFromName(std::string_view name);
/// Name in safetensors headers: F64 F32 F16 BF16 I64 ... BOOL.
std::string_view safetensorsNameOf(DataType type);
std::optional<DataType> dataTypeFromSafetensors(std::string_view name);

float floatFromBFloat16(uint16_t bits);
float floatFromHalf(uint16_t bits);

} // namespace tenon::runtime
