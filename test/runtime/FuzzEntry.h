// The inputs of an imagined entry with guarded memory of its own, for the fuzzers of data tasks.
#pragma once
#include "runtime/data/Task.h"
#include "test/runtime/Fuzz.h"

namespace tenon::fuzz {

struct Entry {
  std::vector<data::InputTensor> tensors;
  std::vector<std::vector<char>> memory;
  void add(const char *name, runtime::DataType type, std::vector<int64_t> shape, int64_t bound) {
    data::InputTensor tensor;
    tensor.name = name;
    tensor.type = type;
    tensor.shape = std::move(shape);
    tensor.bound = bound;
    memory.emplace_back(static_cast<size_t>(tensor.elements()) * runtime::byteSize(type));
    tensor.data = memory.back().data();
    tensors.push_back(std::move(tensor));
  }
};

/// A finding where an index is outside of what its input allows.
inline void requireBounds(const Entry &entry, const std::string &task, uint64_t batch) {
  for (const data::InputTensor &tensor : entry.tensors)
    for (int64_t i = 0; tensor.bound >= 0 && i < tensor.elements(); ++i) {
      int32_t value = static_cast<const int32_t *>(tensor.data)[i];
      require(value >= 0 && value < tensor.bound,
              runtime::concat("batch ", batch, " of ", task, " holds an index that its input does not allow: ", tensor.name, "[",
                              i, "] is ", value)
                  .c_str());
    }
}

} // namespace tenon::fuzz
