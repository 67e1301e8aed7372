// From scores of places to answers, and what they are worth: SQuAD's exact match and F1.
#pragma once
#include "runtime/data/SpanTask.h"
#include <limits>
#include <optional>

namespace tenon::data {

/// Lower case without punctuation, articles and superfluous blanks (SQuAD, evaluate-v1.1.py, normalize_answer).
std::string normalizedAnswer(std::string_view text);
/// Whether normalized answers agree, and the F1 of their words: 1 or 0 where one has none.
bool isExactMatch(std::string_view answer, std::string_view right);
double wordF1(std::string_view answer, std::string_view right);

/// Places of a window's row where an answer may begin, and for each of them those where it may then end.
struct AnswerPlaces {
  struct Place {
    int64_t at;
    double score;
  };
  std::vector<Place> first;
  std::vector<std::vector<Place>> last; // of each of `first`
  /// From scores of all places, of last ones whatever the first one is: the `count` highest of both.
  static AnswerPlaces best(const std::vector<double> &first, const std::vector<double> &last, size_t count);
};

/// The best answer of each question over all of its windows: of the pairs of a first and a last place, that with the highest sum
/// of scores that lies in the text, is not longer than the task allows and begins where its window has the most context
/// (google-research/bert, run_squad.py, write_predictions). Where some questions have no answer, none is given if the lowest
/// score over the windows that there is none exceeds that of the answer by more than a threshold.
class AnswerSearch {
public:
  explicit AnswerSearch(const SpanTask &task);
  /// Scores of all places, of which the `kMost` highest count. `none`: as below; without it the sum of both scores of <cls> is
  /// compared with that of the answer.
  void add(size_t window, const std::vector<double> &first, const std::vector<double> &last, std::optional<double> none = {});
  /// `none`: that the window has no answer, of a model that judges this by itself: it alone is compared with the threshold.
  void add(size_t window, const AnswerPlaces &places, double none) { add(window, places, none, true); }
  static constexpr size_t kMost = 20;
  /// Whether some questions have no answer.
  bool hasQuestionsWithout() const { return hasUnanswered; }

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
  void add(size_t window, const AnswerPlaces &places, double none, bool judged);
  const SpanTask &task;
  bool hasUnanswered = false;
  std::vector<Found> best;
};

} // namespace tenon::data
