// squad: questions whose answer is a span of a text, longer texts in windows.
#pragma once
#include "runtime/data/Inputs.h"
#include "runtime/data/Masking.h"
#include "runtime/data/Questions.h"
#include "runtime/data/RowTask.h"
#include "runtime/data/TextRows.h"

namespace tenon::data {

/// google-research/bert, run_squad.py, convert_examples_to_features: a row is [CLS] question [SEP] window [SEP], or as the form
/// says; windows move on by `stride` symbols of the text. What is held out are questions, with all their windows.
class SpanTask : public RowTask {
public:
  using RowTask::RowTask;
  Status open(const Vocabulary *known);
  Status bind(const std::vector<InputTensor> &inputs) override;
  std::vector<std::string> notes() const override;
  const SpanTask *spans() const override { return this; }
  bool mayPredictSymbols() const override { return false; }

  struct Window {
    size_t question;       // of `questions`
    int64_t begin, length; // symbols of its context
    int64_t asked;         // symbols of the question that the row has
    int64_t before;        // places of the row in front of them
    int64_t cls;           // place of <cls>, which a window without its answer points to
  };
  /// Of this part; row i of an evaluation is windows()[i].
  const std::vector<Window> &windows() const { return all; }
  const std::vector<Question> &questions() const { return own; }
  int64_t places() const { return binding.T; }
  int64_t longestAnswer() const { return settings.longestAnswer; }
  /// Whether of all windows that have a symbol this one has the most around it; `at`: of the context.
  bool hasMostContext(size_t window, int64_t at) const;
  /// What stands in the context of a window from one symbol to another, both of the context.
  std::string textOf(size_t window, int64_t first, int64_t last) const;

private:
  struct Encoded {
    std::vector<int32_t> ids;
    std::vector<TextPlace> places; // bytes of the context
  };
  Status encode();
  /// What the row of a window has, with its padding behind or in front.
  int64_t rowLength(const Window &window) const;
  void cutWindows();
  /// The symbols of the first answer, if there is one.
  std::pair<int64_t, int64_t> answerOf(const Question &question) const;
  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override;

  std::string path;
  Questions data;
  std::vector<Question> own;                  // of this part
  std::vector<Encoded> contexts;              // of `data`
  std::vector<std::vector<int32_t>> question; // of `own`
  std::vector<Window> all;
  std::vector<size_t> firstWindow; // of each of `own`, and one more
  Binding binding;
  Marks marks;
  TextForm form; // a: the question, b: the window
};

} // namespace tenon::data
