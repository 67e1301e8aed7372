// One array of a file, read piece by piece: a .npy file, or "weights.safetensors:name".
#pragma once
#include "runtime/base/DataType.h"
#include "runtime/base/File.h"
#include <vector>

namespace tenon::data {

/// Reads by position, not through a mapping: a file may be larger than memory and address space, and one that shrinks meanwhile
/// is an error with a name instead of a signal. Thread-safe once open.
class ArrayFile {
public:
  /// Errors: no such file or tensor, a damaged header, an order or type that cannot be read. `folder` is put before a relative
  /// path.
  static runtime::Expected<ArrayFile> open(const std::string &place, const std::string &folder = "");

  const std::string &name() const { return shown; }
  runtime::DataType type() const { return element; }
  const std::vector<uint64_t> &shape() const { return sizes; }
  /// Elements behind one index of the first axis; 1 without axes.
  uint64_t elementsPerRow() const { return perRow; }
  /// Size of the first axis; 0 without axes.
  uint64_t rows() const { return sizes.empty() ? 0 : sizes[0]; }
  uint64_t bytes() const;
  /// `count` elements from `first` on, converted to `to` as runtime/base/Convert.h says. The error names file, place and value;
  /// NaN and infinities are one.
  runtime::Status read(uint64_t first, uint64_t count, runtime::DataType to, void *target) const;
  /// "labels.npy: row 17, element [0, 3]" of an element, for messages.
  std::string placeOf(uint64_t index) const;

private:
  runtime::Status checkNumbers(uint64_t first, uint64_t count, runtime::DataType type, const void *values) const;

  runtime::File file;
  std::string shown;
  runtime::DataType element = runtime::DataType::F32;
  std::vector<uint64_t> sizes;
  uint64_t start = 0, perRow = 1;
};

/// The folder before a relative path; the path itself where it is absolute or there is no folder.
std::string pathIn(const std::string &folder, const std::string &path);

} // namespace tenon::data
