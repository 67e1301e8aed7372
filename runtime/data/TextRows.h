// Rows of labelled texts from a file of lines: `single`, `pairs` and `tags`.
#pragma once
#include "runtime/data/Text.h"
#include <optional>

namespace tenon::data {

/// One row of a file: what stands in the columns of its lines.
struct TextRow {
  uint64_t line = 0;                // of the file, from 1: its first
  std::vector<std::string> columns; // of `tags`: words, each followed by its tag
};

/// The rows of a file. `columns`: as many as each line has, separated by tabs, the first without blanks around it; 0: words and
/// tags, one of each in a line (the first and the last of what blanks or tabs separate, as in CoNLL), a row until an empty
/// line or "-DOCSTART-", behind comments ("# text = .."). Errors name file and line.
Status readTextRows(const std::string &path, size_t columns, std::vector<TextRow> &rows);

/// How texts stand in a row: "[CLS] a [SEP] b [SEP]", where a and b are the texts and all else symbols of the vocabulary.
class TextForm {
public:
  /// `texts`: 1 or 2; an empty form is that of BERT where the vocabulary has <cls> and <sep>, else the text alone. Errors name
  /// the symbol that there is not, or the text.
  static Status parse(const std::string &form, size_t texts, const Vocabulary &vocabulary, TextForm &result);
  /// BERT's: [CLS] a [SEP], and b [SEP] behind it.
  static TextForm ofMarks(int32_t cls, int32_t sep, size_t texts);
  /// At most `most` symbols: the longer text loses its end first (google-research/bert, run_classifier.py). Second of each: 0 up
  /// to what stands in front of the second of two texts, then 1. True if a text was cut.
  bool join(std::vector<int32_t> a, std::vector<int32_t> b, size_t most, std::vector<std::pair<int32_t, int32_t>> &row) const;

  /// The symbols beside the texts, and how many symbols stand in front of b and of a symbol where a has so many and b as well;
  /// nothing where there is no such symbol.
  size_t marks() const;
  size_t placeOfA() const { return *placeOf(kFirst, 0, 0); } // of one text
  size_t placeOfB(size_t a) const { return *placeOf(kSecond, a, 0); }
  std::optional<size_t> placeOf(int32_t symbol, size_t a, size_t b) const;
  /// Whether <cls> stands last, as XLNet has it.
  bool endsInClass(const Vocabulary &vocabulary) const { return parts.size() > 1 && parts.back() == vocabulary.special("cls"); }

private:
  static constexpr int32_t kFirst = -1, kSecond = -2; // the texts
  std::vector<int32_t> parts;
};

/// A label as a number; nullopt where it is none.
std::optional<double> numberOf(const std::string &label);

} // namespace tenon::data
