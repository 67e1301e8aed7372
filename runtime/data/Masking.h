// Masked language modelling: the marks around texts, which places are predicted, and what the model sees there.
#pragma once
#include "runtime/data/Inputs.h"
#include "runtime/data/Random.h"

namespace tenon::data {

/// Symbols that tasks put around texts and in place of what is to be predicted.
struct Marks {
  int32_t cls = 0, sep = 0, mask = 0, pad = 0;
  /// <cls>, [CLS] or, as RoBERTa has them, <s> for `cls` and </s> for `sep`. Fails where the vocabulary lacks one.
  static Status find(const Vocabulary &vocabulary, const std::string &task, Marks &marks);
};

/// A place of a row and what stood there.
struct Prediction {
  int64_t at;
  int32_t word;
};

/// Python's round(rate * symbols), to even at halves; at least one, at most `most`.
size_t countToPredict(double rate, size_t symbols, int64_t most);

/// Whole groups of places in the order of a shuffle while no more than `wanted` places are taken; a group that does not fit is
/// passed over (google-research/bert, create_masked_lm_predictions).
std::vector<int64_t> takeGroups(std::vector<std::vector<int64_t>> groups, size_t wanted, RandomStream &random);

/// Symbols that a random one is drawn from: all, all but the first (ERNIE: it is [PAD]), those that are no marks (fairseq).
enum class Drawn { All, ButFirst, Ordinary };

/// Replaces what stands at `places`, in their order: the mask in 80 % of the draws, a random symbol in 10 %, else nothing
/// changes. What stood there, by place.
std::vector<Prediction> hide(std::vector<int32_t> &ids, const std::vector<int64_t> &places, const Marks &marks,
                             const Vocabulary &vocabulary, Drawn drawn, RandomStream &random);

/// The inputs at[B, K], word[B, K] and weight[B, K], which a task gives in this order from `at` on: slots beyond the predictions
/// are zero.
void writePredictions(const Writer &write, size_t at, int64_t K, int64_t b, const std::vector<Prediction> &predictions);

} // namespace tenon::data
