// What labels and numbers are worth that a model finds: spans of tags, classes, correlations.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::data {

using runtime::inputError;
using runtime::Status;

/// Spans that tags B-X, I-X and O mark, counted as conlleval.pl does (CoNLL-2000; seqeval's default): one begins at B-X, and at
/// I-X behind a tag of another type or O (so that IOB1 is read, too), and goes on over I-X. It is right where first place, last
/// place and type are.
class SpanCounts {
public:
  /// `labels`: by the numbers of tags. Fails on one that has none of these forms.
  static Status make(const std::vector<std::string> &labels, SpanCounts &result);
  /// One row: tags of as many words. A number without a label is outside of spans.
  void add(const std::vector<int32_t> &right, const std::vector<int32_t> &found);

  struct Measures {
    double precision = 0, recall = 0, f1 = 0; // in percent, of all types together; 0 where nothing was found, or is there
  };
  Measures measures() const;

private:
  struct Tag {
    bool begins = false;
    int type = -1; // -1: outside
  };
  struct Span {
    size_t first, last;
    int type;
    bool operator==(const Span &) const = default;
  };
  std::vector<Span> spansOf(const std::vector<int32_t> &numbers) const;
  std::vector<Tag> tags;
  uint64_t correct = 0, found = 0, right = 0;
};

/// Classes of rows, counted by what is right and what is found.
class ClassCounts {
public:
  /// Numbers from 0 on.
  void add(size_t right, size_t found);
  /// The correlation of Matthews (1975), for more than two classes as Gorodkin (2004), equation 2, has it; 0 where all that is
  /// right or all that is found is one class, as sklearn.metrics.matthews_corrcoef.
  double matthews() const;
  /// Of class 1 among two: 2 tp / (2 tp + fp + fn); 0 where it neither is nor is found, as sklearn.metrics.f1_score.
  double f1() const;

private:
  double countOf(size_t right, size_t found) const;
  std::vector<std::vector<uint64_t>> counts; // by what is right, then by what is found
  size_t classes = 0;
};

/// Pearson's coefficient of as many numbers, and that of their ranks, of which equal numbers share the mean (Spearman). NaN where
/// all numbers of one side are equal, or one is NaN.
double pearson(const std::vector<double> &x, const std::vector<double> &y);
double spearman(const std::vector<double> &x, const std::vector<double> &y);

} // namespace tenon::data
