#include "runtime/base/Base64.h"
#include <algorithm>
#include <array>
#include <cstdint>

namespace tenon::runtime {

static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string toBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> fromBase64(std::string_view text) {
  static const std::array<int8_t, 256> valueOf = [] {
    std::array<int8_t, 256> values;
    values.fill(-1);
    for (size_t i = 0; i < kDigits.size(); ++i)
      values[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
    return values;
  }();
  if (text.size() % 4 != 0)
    return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool isLast = i + 4 == text.size();
    const size_t padding = isLast ? (text[i + 3] == '=') + (text[i + 3] == '=' && text[i + 2] == '=') : 0;
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int value = k < 4 - padding ? valueOf[static_cast<unsigned char>(text[i + k])] : 0;
      if (value < 0)
        return std::nullopt;
      bits = bits << 6 | static_cast<uint32_t>(value);
    }
    for (size_t k = 0; k < 3 - padding; ++k)
      bytes += static_cast<char>(bits >> (16 - 8 * k) & 255);
    if ((bits & ((1u << 8 * padding) - 1)) != 0) // of bytes that are not there: another text has the same bytes
      return std::nullopt;
  }
  return bytes;
}

} // namespace tenon::runtime
