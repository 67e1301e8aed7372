#include "runtime/data/Utf8.h"

namespace tenon::data {

/// The length of the sequence that a lead byte announces; 0 for a byte that cannot lead.
static size_t sequenceLength(unsigned char lead) {
  if (lead < 0x80)
    return 1;
  if (lead >= 0xC2 && lead <= 0xDF)
    return 2;
  if (lead >= 0xE0 && lead <= 0xEF)
    return 3;
  return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

char32_t decodeCodePoint(std::string_view text, size_t &offset) {
  unsigned char lead = static_cast<unsigned char>(text[offset]);
  size_t length = sequenceLength(lead);
  if (length == 1)
    return static_cast<unsigned char>(text[offset++]);
  bool whole = length != 0 && offset + length <= text.size();
  char32_t point = whole ? lead & (0x7Fu >> length) : 0;
  for (size_t i = 1; whole && i < length; ++i) {
    unsigned char byte = static_cast<unsigned char>(text[offset + i]);
    whole = (byte & 0xC0) == 0x80;
    point = point << 6 | (byte & 0x3F);
  }
  // Overlong forms, surrogates and values above U+10FFFF are malformed.
  static constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (!whole || point < least[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
    ++offset;
    return 0xFFFD;
  }
  offset += length;
  return point;
}

std::optional<size_t> malformedAt(std::string_view text) {
  for (size_t offset = 0; offset < text.size();) {
    const size_t begin = offset;
    char32_t c = decodeCodePoint(text, offset);
    if (isMalformed(c, offset - begin))
      return begin;
  }
  return std::nullopt;
}

void appendCodePoint(std::string &text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12);
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | c >> 18);
    text += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (c & 0x3F));
  }
}

size_t incompleteTail(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    unsigned char byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80)
      continue;
    return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}

} // namespace tenon::data
