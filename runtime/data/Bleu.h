// BLEU of a corpus (Papineni et al. 2002) as sacrebleu has it by default (Post 2018; sacrebleu 2.6, metrics/bleu.py): words of
// the tokenizer 13a, which is that of mteval-v13a, one to four in a row, capitals count, exponential smoothing.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::data {

/// The words of one line: marks of punctuation are words of their own, but for a period or comma between digits.
std::vector<std::string> wordsOf13a(std::string_view line);

struct Bleu {
  static constexpr size_t kOrders = 4;
  double score = 0; // in percent
  std::array<double, kOrders> precisions{};
  double brevityPenalty = 1;
  uint64_t length = 0, referenceLength = 0; // words
};

class BleuCounts {
public:
  /// A text and at least one that is right.
  void add(std::string_view text, const std::vector<std::string_view> &references);
  Bleu result() const;

private:
  std::array<uint64_t, Bleu::kOrders> correct{}, total{};
  uint64_t length = 0, referenceLength = 0;
};

} // namespace tenon::data
