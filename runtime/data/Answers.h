// From scores of places to answers, and what they are worth: SQuAD's exact match and F1.
#pragma once
#include "runtime/data/SpanTask.h"
#include <limits>
#include <optional>

namespace tenon::data {

/// Fails where the system lacks what the functions below need.
Status checkAnswersCanBeCompared();
/// Lower case without punctuation, articles and superfluous blanks (SQuAD, evaluate-v1.1.py, normalize_answer).
std::string normalizedAnswer(std::string_view text);
/// Whether normalized answers agree, and the F1 of their words: 1 or 0 where one has none.
bool isExactMatch(std::string_view answer, std::string_view right);
double wordF1(std::string_view answer, std::string_view right);

/// The best answer of each question over all of its windows: of the `nBest` first places with the highest scores and as many last
/// ones, the pair with the highest sum that lies in the text, is no longer than `longest` symbols and begins where its window has
/// the most context (google-research/bert, run_squad.py, write_predictions). Where some questions have no answer, none is given
/// if the lowest score over the windows that there is none exceeds that of the answer by more than a threshold.
class AnswerSearch {
public:
  explicit AnswerSearch(const SpanTask &task, int64_t longest = 30, size_t nBest = 20);
  /// Scores of the places of a window's row. `none`: that the window has no answer, of a model that judges this by itself; then
  /// it alone is compared with the threshold. Without it that is the sum of the scores of place 0.
  void add(size_t window, const std::vector<double> &first, const std::vector<double> &last, std::optional<double> none = {});

  /// Exact match and F1 in percent, the best over the right answers of each question.
  struct Measures {
    double exact = 0, f1 = 0;
  };
  /// The highest value that any threshold gives, and this threshold (evaluate-v2.0.py, find_best_thresh,
  /// which begins at 0 and takes questions of equal scores one by one: not what its threshold gives).
  struct Best {
    double value = 0, threshold = 0;
  };
  struct Result {
    Measures all;
    bool hasUnanswered = false;    // some questions have no answer; what follows is of SQuAD 2.0
    Measures answered, unanswered; // of those with an answer, of those without
    Best bestExact, bestF1;
  };
  Result result(double threshold = 0) const;
  /// {"ID": "answer", ..}, as SQuAD's script reads it; "": no answer.
  std::string predictions(double threshold = 0) const;

private:
  struct Found {
    bool any = false, judged = false;
    double score = 0, none = std::numeric_limits<double>::infinity();
    std::string text;
    /// By how much there being no answer is more likely.
    double doubt() const { return judged ? none : none - score; }
  };
  /// What is said, if anything is.
  std::string answerOf(size_t question, double threshold) const;
  Measures measured(size_t question, const std::string &answer) const;
  Best bestOf(double Measures::*measure) const;
  const SpanTask &task;
  int64_t longest;
  size_t nBest;
  bool hasUnanswered = false;
  std::vector<Found> best;
};

} // namespace tenon::data
