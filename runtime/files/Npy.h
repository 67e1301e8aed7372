// NumPy's .npy files, versions 1 and 2 (numpy.org/doc/stable/reference/generated/numpy.lib.format.html): little-endian
// numbers and truth values, C order. Anything else is refused with what was found.
#pragma once
#include "runtime/base/DataType.h"
#include "runtime/base/File.h"
#include "runtime/base/Shapes.h"
#include <span>
#include <vector>

namespace tenon::runtime {

struct NpyArray {
  DataType type = DataType::F32; // any but BF16
  std::vector<uint64_t> shape;
  std::vector<char> data;
  uint64_t elements() const { return data.size() / byteSize(type); }
};

Expected<NpyArray> readNpy(const std::string &path);
Status writeNpy(const std::string &path, DataType type, std::span<const int64_t> shape, const void *data,
                FileBatch *batch = nullptr);

struct NpyHeader {
  DataType type;
  std::vector<uint64_t> shape;
  uint64_t dataStart;
};
/// The first bytes of a file (up to 64 KiB are enough) against its size. For the reader and its fuzzer.
Expected<NpyHeader> parseNpyHeader(std::string_view bytes, uint64_t fileBytes);
/// Values for an input of type `to`, converted as Convert.h says; the shape must match.
Status npyToInput(const NpyArray &array, const std::string &name, DataType to, std::span<const int64_t> shape, void *data);

} // namespace tenon::runtime
