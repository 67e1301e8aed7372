// Tasks whose sample starts at a sentence of its own: the pre-training of BERT, ELECTRA, UniLM and ERNIE. A text is lines,
// documents are separated by empty ones, and the vocabulary has marks.
#pragma once
#include "runtime/data/Masking.h"

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
  Extent extent() const override { return {samples(), samples(), "rows"}; }
  bool resetsBefore(uint64_t) const override { return true; }
  int64_t tokensPerBatch() const override { return binding.B * binding.T; }

protected:
  /// Row `b` of a batch: a function of the seed and the sample.
  virtual void writeRow(const Writer &write, int64_t b, uint64_t sample) const = 0;
  /// Samples of an epoch.
  virtual int64_t samples() const { return text.count(); }
  /// Which of them a sample is: a permutation of all in each epoch.
  int64_t sampleOf(uint64_t sample) const;
  /// Places in `text.tokens` of a sentence, which is cut where it is longer than two rows.
  void append(std::vector<int64_t> &to, int64_t sentence) const;
  /// What stands at such places.
  void addTokens(std::vector<int32_t> &to, const std::vector<int64_t> &places) const;

  /// Two texts that follow each other, or not.
  struct Pair {
    std::vector<int64_t> first, second; // places in `text.tokens`
    bool elsewhere = false;             // the second text comes from another document
  };
  /// google-research/bert, create_pretraining_data.py: sentences of one document from the sample's on, cut between two of them at
  /// random; half of the second texts, and all of single sentences, come from elsewhere. `follows`: none does, and a single
  /// sentence is cut inside.
  Pair drawPair(RandomStream &random, uint64_t sample, bool follows) const;

  TaskSettings settings;
  Sentences text;
  Binding binding;
  Marks marks;

private:
  void appendElsewhere(std::vector<int64_t> &to, int64_t document, int64_t goal, RandomStream &random) const;
  Status write(uint64_t index, int64_t rows, int64_t valid, std::vector<InputTensor> &inputs) const;
  size_t ids;
};

} // namespace tenon::data
