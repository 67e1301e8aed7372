// Element types of buffers, files and compiled code: the one table of what is known of them, of the words of specifications
// (frontend/ElementTypes.h), of recipes, options and the compiler (dialect/ElementModel.h), too: they include this header, and
// link nothing. Convert.h ties each to the C++ type that its elements are.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

enum class DataType : uint8_t { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool };
enum class NumberKind : uint8_t { Real, Whole, Truth };

struct DataTypeRow {
  DataType type;
  uint64_t bytes;
  std::string_view name, safetensors, npy; // npy: empty where NumPy has none
  NumberKind kind;
  bool isInCode;                // whether inputs, outputs and states of compiled code have it
  DataType computed;            // that it is computed in: f32 for reals of 16 bits, else itself
  double largest;               // of reals: the largest finite number
  std::string_view largestText; // the same for messages
};
inline constexpr DataTypeRow kDataTypes[] = {
    {DataType::F64, 8, "f64", "F64", "<f8", NumberKind::Real, true, DataType::F64, 0x1.fffffffffffffp1023, "1.8e308"},
    {DataType::F32, 4, "f32", "F32", "<f4", NumberKind::Real, true, DataType::F32, 0x1.fffffep127, "3.4e38"},
    {DataType::F16, 2, "f16", "F16", "<f2", NumberKind::Real, true, DataType::F32, 65504, "65504"},
    {DataType::BF16, 2, "bf16", "BF16", "", NumberKind::Real, true, DataType::F32, 0x1.fep127, "3.4e38"},
    {DataType::I64, 8, "i64", "I64", "<i8", NumberKind::Whole, true, DataType::I64, 0, ""},
    {DataType::I32, 4, "i32", "I32", "<i4", NumberKind::Whole, true, DataType::I32, 0, ""},
    {DataType::I16, 2, "i16", "I16", "<i2", NumberKind::Whole, false, DataType::I16, 0, ""},
    {DataType::I8, 1, "i8", "I8", "|i1", NumberKind::Whole, false, DataType::I8, 0, ""},
    {DataType::U64, 8, "u64", "U64", "<u8", NumberKind::Whole, false, DataType::U64, 0, ""},
    {DataType::U32, 4, "u32", "U32", "<u4", NumberKind::Whole, false, DataType::U32, 0, ""},
    {DataType::U16, 2, "u16", "U16", "<u2", NumberKind::Whole, false, DataType::U16, 0, ""},
    {DataType::U8, 1, "u8", "U8", "|u1", NumberKind::Whole, false, DataType::U8, 0, ""},
    {DataType::Bool, 1, "bool", "BOOL", "|b1", NumberKind::Truth, true, DataType::Bool, 0, ""},
};
constexpr const DataTypeRow &rowOf(DataType type) { return kDataTypes[static_cast<int>(type)]; }

/// Bytes of one element.
constexpr uint64_t byteSize(DataType type) { return rowOf(type).bytes; }
/// Name in manifests and messages: f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool.
constexpr std::string_view nameOf(DataType type) { return rowOf(type).name; }
constexpr bool isReal(DataType type) { return rowOf(type).kind == NumberKind::Real; }
constexpr bool isWhole(DataType type) { return rowOf(type).kind == NumberKind::Whole; }
constexpr bool isInCode(DataType type) { return rowOf(type).isInCode; }
/// Of what has one type for every real tensor, models: f32 and f64.
constexpr bool isComputedReal(DataType type) { return isReal(type) && rowOf(type).computed == type; }
/// Reals that are stored only, and computed in a wider type: f16 and bf16.
constexpr bool isStoredReal(DataType type) { return isReal(type) && rowOf(type).computed != type; }
/// What is computed in f32: f32, f16 and bf16.
constexpr bool isComputedInF32(DataType type) { return isReal(type) && rowOf(type).computed == DataType::F32; }
/// What is computed in more digits than f32: f64.
constexpr bool isWideReal(DataType type) { return isComputedReal(type) && byteSize(type) > byteSize(DataType::F32); }
/// Stored reals that end where those end that they are computed in, and so have their exponents: they are the upper half of an
/// f32 (FloatHalves).
constexpr bool isUpperHalf(DataType type) {
  return isStoredReal(type) && rowOf(type).largest > rowOf(rowOf(type).computed).largest / 2;
}
/// Stored reals that end before: gradients in them are scaled.
constexpr bool needsScale(DataType type) { return isStoredReal(type) && !isUpperHalf(type); }
/// The names of the types of which `holds` is true, in the order of the table.
inline std::vector<std::string_view> namesThat(bool (*holds)(DataType)) {
  std::vector<std::string_view> names;
  for (const DataTypeRow &row : kDataTypes)
    if (holds(row.type))
      names.push_back(row.name);
  return names;
}
/// The same for messages: "f32, f16 or bf16".
inline std::string listThat(bool (*holds)(DataType), std::string_view last = " or ") {
  const std::vector<std::string_view> names = namesThat(holds);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == names.size() ? last : ", ").append(names[i]);
  return text;
}
std::optional<DataType> dataTypeFromName(std::string_view name);
/// Name in safetensors headers: F64 F32 F16 BF16 I64 ... BOOL.
constexpr std::string_view safetensorsNameOf(DataType type) { return rowOf(type).safetensors; }
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

} // namespace tenon::runtime
