#include "runtime/base/Printable.h"
#include <algorithm>

namespace tenon::runtime {

std::string printable(std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u; };
    const unsigned lead = byte(0);
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xC2 && lead < 0xE0 ? 2
                    : lead >= 0xE0 && lead < 0xF0 ? 3
                    : lead >= 0xF0 && lead < 0xF5 ? 4
                                                  : 0;
    unsigned code = length < 2 ? lead : lead & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i)
      if ((byte(i) & 0xC0) == 0x80) {
        code = code << 6 | (byte(i) & 0x3F);
      } else {
        length = 0;
        code = lead;
      }
    const bool isControl = (code < 0x20 && code != '\n') || (code >= 0x7F && code < 0xA0);
    const bool turns =
        code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
    if (length == 0 || isControl || turns) {
      shown += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4)
        shown += digits[code >> shift & 15];
    } else {
      shown.append(text, at, length);
    }
    at += std::max<size_t>(1, length);
  }
  return shown;
}

} // namespace tenon::runtime
