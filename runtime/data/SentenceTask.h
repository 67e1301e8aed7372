// Tasks whose sample starts at a sentence of its own: BERT's and ELECTRA's pre-training. A text is lines, documents are separated
// by empty ones, and the vocabulary has marks.
#pragma once
#include "runtime/data/Inputs.h"

namespace tenon::data {

class SentenceTask : public DataTask {
public:
  /// `ids`: the place of the tokens among the inputs that the task gives.
  SentenceTask(const TaskSettings &settings, Vocabulary vocabulary, size_t ids);
  Status read(std::string_view source);

  std::vector<std::string> gives() const override { return inputsOf(settings.name); }
  Status bind(const std::vector<InputTensor> &inputs) override;
  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override;
  /// The tensors may have validRows(index) rows.
  Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const override;
  uint64_t batchesPerEpoch() const override;
  uint64_t evaluationBatches() const override;
  int64_t validRows(uint64_t index) const override;
  Extent extent() const override { return {text.count(), text.count(), "rows"}; }
  bool resetsBefore(uint64_t) const override { return true; }
  int64_t tokensPerBatch() const override { return binding.B * binding.T; }

protected:
  /// Row `b` of a batch: a function of the seed and the sample.
  virtual void writeRow(const Writer &write, int64_t b, uint64_t sample) const = 0;
  /// Where a sample starts: a permutation of all sentences in each epoch.
  int64_t sentenceOf(uint64_t sample) const;
  void append(std::vector<int32_t> &to, int64_t sentence) const;

  TaskSettings settings;
  Sentences text;
  Binding binding;
  int32_t cls = 0, sep = 0, mask = 0, pad = 0;

private:
  Status write(uint64_t index, int64_t rows, int64_t valid, std::vector<InputTensor> &inputs) const;
  size_t ids;
};

} // namespace tenon::data
