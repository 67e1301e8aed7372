// Words of a text as BERT cuts them before its word pieces (google-research/bert, tokenization.py, BasicTokenizer): at blanks,
// each punctuation mark and each ideograph for itself, without control characters; on wish in lower case without accents.
#pragma once
#include "runtime/base/Status.h"
#include "runtime/data/Utf8.h"
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::data {

using runtime::inputError;
using runtime::Status;

struct BasicWord {
  std::string text;             // UTF-8
  std::vector<TextPlace> bytes; // for each byte of it the bytes of the character that it comes from
};

/// Calls `take` with each word, and `lineEnd`, if there is one, with the place of each \n, in the order of the text. Stops at the
/// first failure. Malformed UTF-8 is no character and left out, as U+FFFD is there.
Status basicWords(std::string_view text, bool lower, const std::function<Status(const BasicWord &)> &take,
                  const std::function<void(size_t)> &lineEnd = {});

} // namespace tenon::data
