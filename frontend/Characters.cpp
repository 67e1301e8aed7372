#include "frontend/Characters.h"
#include "frontend/Diagnostics.h"
#include "frontend/syntax/Lexer.h"
#include <algorithm>
#include <cstdio>

namespace tenon {

uint32_t codePoint(const char *p, unsigned length) {
  if (length == 1)
    return static_cast<uint8_t>(*p);
  uint32_t value = static_cast<uint8_t>(*p) & (0x7F >> length);
  for (unsigned i = 1; i < length; ++i)
    value = value << 6 | (static_cast<uint8_t>(p[i]) & 0x3F);
  return value;
}

bool commandsTerminal(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::string escapedCharacter(uint32_t c) {
  char text[16];
  snprintf(text, sizeof text, "\\u%04x", c);
  return text;
}

std::string printable(std::string_view text, bool lines) {
  std::string result;
  const char *end = text.data() + text.size();
  for (const char *p = text.data(); p != end;) {
    unsigned length = syntax::utf8Length(p, end);
    uint32_t c = length ? codePoint(p, length) : static_cast<uint8_t>(*p);
    if (length == 0 || (commandsTerminal(c) && !(lines && c == '\n')))
      result += escapedCharacter(c);
    else
      result.append(p, length);
    p += std::max(1u, length);
  }
  return result;
}

void complain(const std::string &message) { fprintf(stderr, "tenon: error: %s\n", printable(message, true).c_str()); }

} // namespace tenon
