#include "runtime/data/PreTokens.h"
#include "runtime/data/Unicode.h"
#include "runtime/data/Utf8.h"
#include <initializer_list>

namespace tenon::data {

namespace {
enum class Class { Letter, Number, Blank, Other };

Class classOf(char32_t c) {
  return isLetter(c) ? Class::Letter : isNumber(c) ? Class::Number : isWhiteSpace(c) ? Class::Blank : Class::Other;
}
} // namespace

size_t endOfPreToken(std::string_view text, size_t begin) {
  const std::string_view rest = text.substr(begin);
  for (std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (rest.starts_with(ending))
      return begin + ending.size();
  size_t end = begin;
  Class first = classOf(decodeCodePoint(text, end));
  if (first != Class::Blank || (text[begin] == ' ' && end < text.size())) {
    size_t next = end;
    if (first == Class::Blank)
      first = classOf(decodeCodePoint(text, next));
    if (first != Class::Blank) { // a run of one class, with the one blank in front of it
      for (end = next; end < text.size(); end = next)
        if (classOf(decodeCodePoint(text, next)) != first)
          break;
      return end;
    }
  }
  size_t last = begin; // of the run of blanks
  for (size_t next = end; end < text.size(); end = next) {
    if (classOf(decodeCodePoint(text, next)) != Class::Blank)
      break;
    last = end;
  }
  return end == text.size() || last == begin ? end : last; // the last blank goes with the word behind it
}

} // namespace tenon::data
