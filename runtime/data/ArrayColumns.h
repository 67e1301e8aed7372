// The files of arrays(..): one or two per input.
#pragma once
#include "runtime/data/ArrayFile.h"
#include "runtime/data/Task.h"
#include <optional>

namespace tenon::data {

/// The file or files of one input.
struct Column {
  const SourceSetting *setting;
  ArrayFile values;
  std::optional<ArrayFile> offsets; // ragged: rows() + 1 places in `values`, the first 0, none smaller than the one before
  int input = -1, length = -1;      // positions of the inputs; -1: the entry does not read it
  uint64_t rows() const { return offsets ? offsets->rows() - 1 : values.rows(); }
  /// Rows of more than `places` values.
  Status countLonger(int64_t places, uint64_t &longer) const;
};

/// Whether an input can take the values of a file at all.
Status checkType(const ArrayFile &file, const InputTensor &input);
/// The sizes of one sample must be those of the input behind its first `skipped` axes, which the message calls `first`.
Status checkShape(const ArrayFile &file, const InputTensor &input, size_t skipped, const char *first);
/// Reads `count` elements of a file from `first` on into an input, to the element `at`, and checks their range.
Status readInto(const ArrayFile &file, uint64_t first, uint64_t count, const InputTensor &input, uint64_t at);

/// The files of arrays(..), and the inputs that they fill. The settings have to live as long.
class Columns {
public:
  Status open(const TaskSettings &settings);
  /// Inputs that the files give, lengths too.
  std::vector<std::string> names() const;
  /// Positions of the inputs in the entry.
  Status find(const std::vector<InputTensor> &inputs);
  /// Whether the files are small enough to be read before the first step.
  bool areChecked() const;
  /// The values of such files.
  Status checkValues(const std::vector<InputTensor> &inputs) const;
  /// Whether the input is a whole file, the same in every batch: fixed("weights.npy").
  bool isFixed(const std::string &input) const;
  Status checkFixed(const std::vector<InputTensor> &inputs) const;
  Status writeFixed(std::vector<InputTensor> &inputs) const;

  std::vector<Column> all; // those of samples or places, at least one

private:
  std::vector<Column> fixed;
};

} // namespace tenon::data
