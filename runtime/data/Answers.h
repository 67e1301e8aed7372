// From scores of places to answers, and what they are worth: SQuAD's exact match and F1.
#pragma once
#include "runtime/data/SpanTask.h"

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
/// the most context (google-research/bert, run_squad.py, write_predictions).
class AnswerSearch {
public:
  explicit AnswerSearch(const SpanTask &task, int64_t longest = 30, size_t nBest = 20)
      : task(task), longest(longest), nBest(nBest), best(task.questions().size()) {}
  /// Scores of the places of a window's row.
  void add(size_t window, const std::vector<double> &first, const std::vector<double> &last);

  struct Result {
    double exact = 0, f1 = 0; // in percent, of all questions: the best over the right answers of each
  };
  Result result() const;
  /// {"ID": "answer", ..}, as SQuAD's script reads it.
  std::string predictions() const;

private:
  struct Found {
    bool any = false;
    double score = 0;
    std::string text;
  };
  const SpanTask &task;
  int64_t longest;
  size_t nBest;
  std::vector<Found> best;
};

} // namespace tenon::data
