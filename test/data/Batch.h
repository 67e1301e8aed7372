// Batches for tests: tensors that own their memory, and texts made by rule.
#pragma once
#include "runtime/data/Task.h"
#include <gtest/gtest.h>
#include <string>

namespace tenon::data::test {

/// The inputs of an imagined entry, by name.
class Batch {
public:
  Batch() = default;
  Batch(const Batch &other) : tensors(other.tensors), memory(other.memory) { point(); }
  Batch &operator=(const Batch &) = delete;
  Batch &add(const std::string &name, DataType type, std::vector<int64_t> shape, int64_t bound = -1) {
    InputTensor tensor;
    tensor.name = name;
    tensor.type = type;
    tensor.shape = std::move(shape);
    tensor.bound = bound;
    memory.emplace_back(static_cast<size_t>(tensor.elements()) * runtime::byteSize(type) / 4 + 1, 0xCDCDCDCDu);
    tensors.push_back(tensor);
    point();
    return *this;
  }
  const void *at(const std::string &name) const {
    for (const InputTensor &tensor : tensors)
      if (tensor.name == name)
        return tensor.data;
    ADD_FAILURE() << "no input " << name;
    return nullptr;
  }
  int32_t integer(const std::string &name, int64_t i) const { return static_cast<const int32_t *>(at(name))[i]; }
  float real(const std::string &name, int64_t i) const { return static_cast<const float *>(at(name))[i]; }
  bool truth(const std::string &name, int64_t i) const { return static_cast<const unsigned char *>(at(name))[i] != 0; }
  /// All bytes, to compare whole batches.
  std::vector<std::vector<uint32_t>> bytes() const { return memory; }

  std::vector<InputTensor> tensors;

private:
  void point() {
    for (size_t i = 0; i < tensors.size(); ++i)
      tensors[i].data = memory[i].data();
  }
  std::vector<std::vector<uint32_t>> memory;
};

inline std::unique_ptr<DataTask> makeOrFail(const TaskSettings &settings, const std::string &text, Vocabulary vocabulary) {
  std::unique_ptr<DataTask> task;
  Status status = makeTaskFromText(settings, text, std::move(vocabulary), task);
  EXPECT_TRUE(status.ok()) << status.message();
  return task;
}

/// `lines` lines of a few words each, a blank line after every `perDocument`.
inline std::string proseOf(int lines, int perDocument) {
  std::string text;
  uint32_t state = 12345;
  auto draw = [&](uint32_t n) { return (state = state * 1664525u + 1013904223u) / 65536u % n; };
  for (int i = 0; i < lines; ++i) {
    uint32_t words = 3 + draw(6);
    for (uint32_t w = 0; w < words; ++w) {
      uint32_t letters = 1 + draw(7);
      for (uint32_t k = 0; k < letters; ++k)
        text += static_cast<char>('a' + draw(26));
      text += w + 1 < words ? ' ' : '.';
    }
    text += '\n';
    if ((i + 1) % perDocument == 0)
      text += '\n';
  }
  return text;
}

/// Whether batch `i` of a new task is what `task` gives after having given others: position is all there is.
inline void expectRestartable(const TaskSettings &settings, const std::string &text, const Vocabulary &vocabulary, Batch batch) {
  auto task = makeOrFail(settings, text, vocabulary), restarted = makeOrFail(settings, text, vocabulary);
  Batch other = batch;
  ASSERT_TRUE(task->bind(batch.tensors).ok());
  ASSERT_TRUE(restarted->bind(other.tensors).ok());
  uint64_t epoch = task->batchesPerEpoch();
  std::vector<uint64_t> order = {0, 1, 2, epoch - 1, epoch, epoch + 1, 3 * epoch + 2, 5, 0};
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_TRUE(task->fill(order[i], batch.tensors).ok());
    if (i % 2 == 0)
      EXPECT_TRUE(restarted->fill(order[(i + 3) % order.size()], other.tensors).ok());
    EXPECT_TRUE(restarted->fill(order[i], other.tensors).ok());
    EXPECT_EQ(batch.bytes(), other.bytes()) << "batch " << order[i];
  }
}

} // namespace tenon::data::test
