// Tasks whose samples are rows of data that somebody else made: which rows are held out, their order, and what a batch is.
#pragma once
#include "runtime/data/Classes.h"

namespace tenon::data {

/// Held out is a random choice of the rows that depends on their number alone, so every seed and every later command agree.
/// Training reads the others in another order in each epoch and drops the last incomplete batch; an evaluation reads its rows in
/// one fixed order and drops none.
class RowTask : public DataTask {
public:
  RowTask(const TaskSettings &settings, Part part) : settings(settings), part(part) { symbols = Vocabulary::bytes(false); }
  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override;
  Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const override;
  uint64_t batchesPerEpoch() const override;
  uint64_t evaluationBatches() const override { return (count + batch - 1) / batch; }
  int64_t validRows(uint64_t index) const override;
  uint64_t evaluationRow(uint64_t place) const override { return rowAt(place); }
  Extent extent() const override { return {static_cast<int64_t>(count), static_cast<int64_t>(count), "rows"}; }
  bool resetsBefore(uint64_t) const override { return true; }
  int64_t tokensPerBatch() const override { return tokens; }
  std::vector<std::string> gives() const override { return names; }
  std::vector<std::string> summary() const override;

protected:
  /// Writes what is the same in every batch.
  virtual Status writeFixed(std::vector<InputTensor> &) const { return {}; }
  /// Writes row `row` of the data as row `b` of the tensors.
  virtual Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const = 0;
  /// `total` rows of data; fails where a part of them is empty. `unit`: what the rows are in, for the message.
  Status setRows(uint64_t total, const std::string &source);
  /// The first axis of all inputs; fails where they differ or training has fewer rows.
  Status setBatch(const std::vector<InputTensor> &inputs);
  /// By row, whether it is held out from training.
  std::vector<bool> heldOutRows() const;
  /// Rows of this part, and the row of the data that has a place in it.
  uint64_t rows() const { return count; }
  uint64_t rowAt(uint64_t place) const;
  /// The names of the classes of `input` that weights evaluated have.
  void takeClasses();
  /// An evaluation that has not been told which class has which number.
  bool guesses(const Vocabulary *known) const { return !known && part == Part::HeldOut && settings.classes.empty(); }
  /// The names found, ascending, in the order of their numbers: as the weights have them that a training starts from.
  std::vector<std::string> numbered(const std::vector<std::string> &found, const std::string &input, int64_t bound);
  /// The labels of `input` are whole numbers.
  void setNumbered(const std::string &input);
  /// Warnings of classes without rows, and what else is to be said of classes.
  std::vector<std::string> classNotes() const;

  TaskSettings settings;
  Part part;
  std::vector<std::string> names;  // inputs that the data have
  std::vector<std::string> said;   // of classes
  std::vector<ClassCounts> counts; // of training, where every row has been read before the first step

private:
  const std::vector<std::string> *namesOf(const ClassCounts &classes) const;
  uint64_t total = 0, begin = 0, count = 0; // rows; those of this part: `count` from `begin` on in the order of the choice
  uint64_t batch = 1;
  int64_t tokens = 1;
};

/// The lengths of rows that differ in size go to the input NAME_len of their input, or to `len` where `only` says that they are
/// the same for all.
inline bool takesLengths(const std::string &input, const std::string &of, bool only) {
  return input == of + "_len" || (only && input == "len");
}
/// An input for lengths must be index(T + 1)[B], T being the second axis of `values`.
Status checkLengths(const InputTensor &lengths, const InputTensor &values);

/// A value that an input cannot hold: "holds 12, but the input 'label' takes 0 to 9". Empty: all fit. `index`: of the first that
/// does not.
std::string outOfRange(const InputTensor &input, const int32_t *values, int64_t count, int64_t &index);

} // namespace tenon::data
