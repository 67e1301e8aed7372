#include "runtime/data/BareText.h"
#include "runtime/data/Unicode.h"

namespace tenon::data {

/// What Python's str.split() cuts at.
static bool isBlank(char32_t c) { return isWhiteSpace(c) || (c >= 0x1C && c <= 0x1F); }

BareText bareText(std::string_view text, bool lower) {
  BareText result;
  std::vector<char32_t> bare;
  bool isOpen = false; // a blank stands between what was taken and what comes
  auto append = [&](char32_t c, TextPlace place) {
    appendCodePoint(result.text, c);
    result.bytes.resize(result.text.size(), place);
  };
  size_t blank = 0;
  for (size_t offset = 0; offset < text.size();) {
    const size_t begin = offset;
    const char32_t c = decodeCodePoint(text, offset);
    if (isBlank(c)) {
      blank = isOpen ? blank : begin;
      isOpen = true;
      continue;
    }
    if (isOpen && !result.text.empty())
      append(' ', {blank, begin});
    isOpen = false;
    if ((c == '`' || c == '\'') && offset < text.size() && text[offset] == text[begin]) {
      append('"', {begin, ++offset});
      continue;
    }
    bare.clear();
    appendCompatible(c, bare);
    for (char32_t part : bare)
      append(lower ? lowerCase(part) : part, {begin, offset});
  }
  return result;
}

} // namespace tenon::data
