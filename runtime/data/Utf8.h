// Characters of texts in UTF-8.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::data {

/// Where a symbol stands in its text, in bytes.
struct TextPlace {
  size_t begin, end;
};

/// The next code point of `text` at `offset`, which moves on; U+FFFD for a malformed byte.
char32_t decodeCodePoint(std::string_view text, size_t &offset);
/// Whether decodeCodePoint gave `point` for a malformed byte, having read `bytes`; U+FFFD itself takes three.
inline bool isMalformed(char32_t point, size_t bytes) { return point == 0xFFFD && bytes == 1; }
/// The first byte of a text that belongs to no character of UTF-8.
std::optional<size_t> malformedAt(std::string_view text);
void appendCodePoint(std::string &text, char32_t point);
/// How many bytes at the end of `text` are the start of a character that is not complete: 0..3.
size_t incompleteTail(std::string_view text);

} // namespace tenon::data
