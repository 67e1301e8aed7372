// The model file of sentencepiece (google/sentencepiece, sentencepiece_model.proto), as far as its symbols need it, and what the
// library would not notice: it trusts the tables of a file, so that a damaged one could make it read elsewhere.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::data {

using runtime::inputError;
using runtime::Status;

struct PieceFile {
  enum class Kind : uint8_t { Normal = 1, Unknown, Control, UserDefined, Unused, Byte, Sentinel }; // Sentinel: of no file

  std::vector<std::string> pieces; // their spellings, by id
  std::vector<Kind> kinds;
  bool addsBlank = true;      // add_dummy_prefix: a text begins with a blank
  bool joinsBlanks = true;    // remove_extra_whitespaces: blanks at both ends go, of those between words one stays
  bool blanksAreEnds = false; // treat_whitespace_as_suffix: words end with blanks instead

  /// Whether a file begins as such a model does, which no text begins like.
  static bool isLike(std::string_view file);
  /// Fails where it is none, or where one of its tables leads outside of itself.
  static Status parse(std::string_view file, PieceFile &result);
};

} // namespace tenon::data
