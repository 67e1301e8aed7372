// NumPy's .npy files, versions 1 and 2 (numpy.org/doc/stable/reference/generated/numpy.lib.format.html): little-endian
// f4 f8 i4 i8 and b1, C order. Anything else is refused with what was found.
#pragma once
#include "runtime/DataType.h"
#include "runtime/File.h"
#include <span>
#include <vector>

namespace tenon::runtime {

struct NpyArray {
  DataType type = DataType::F32; // F32, F64, I32, I64 or Bool
  std::vector<uint64_t> shape;
  std::vector<char> data;
  uint64_t elements() const { return data.size() / byteSize(type); }
};

Expected<NpyArray> readNpy(const std::string &path);
Status writeNpy(const std::string &path, DataType type, std::span<const int64_t> shape, const void *data, FileBatch *batch = nullptr);

/// "[1, 0, 3]" of element i in row-major order.
std::string placeText(uint64_t i, const std::vector<uint64_t> &shape);

struct NpyHeader {
  DataType type;
  std::vector<uint64_t> shape;
  uint64_t dataStart;
};
/// The first bytes of a file (up to 64 KiB are enough) against its size. For the reader and its fuzzer.
Expected<NpyHeader> parseNpyHeader(std::string_view bytes, uint64_t fileBytes);
/// Values for an input of type `to`: i64 -> i32 and f64 <-> f32 are converted (out of range is an error), the shape must match.
Status npyToInput(const NpyArray &array, const std::string &name, DataType to, std::span<const int64_t> shape, void *data);

} // namespace tenon::runtime
