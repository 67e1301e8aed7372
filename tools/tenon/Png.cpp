// PNG (ISO/IEC 15948) with stored blocks of deflate (RFC 1951), so that no library is needed: a map of attention is some kilobytes.
#include "tools/tenon/Png.h"
#include <algorithm>

namespace tenon::driver {

namespace {

void addNumber(std::string &to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to += static_cast<char>(value >> shift & 255);
}

uint32_t crcOf(const std::string &bytes) {
  uint32_t crc = ~0u;
  for (unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
  }
  return ~crc;
}

void addChunk(std::string &to, const char *kind, const std::string &content) {
  addNumber(to, static_cast<uint32_t>(content.size()));
  const std::string checked = kind + content;
  to += checked;
  addNumber(to, crcOf(checked));
}

/// zlib's form (RFC 1950) of `bytes`.
std::string stored(const std::string &bytes) {
  constexpr size_t kLargestBlock = 65535;
  std::string result = "\x78\x01";
  uint32_t low = 1, high = 0; // Adler-32
  for (unsigned char byte : bytes) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  for (size_t begin = 0; begin < bytes.size(); begin += kLargestBlock) {
    const size_t count = std::min(kLargestBlock, bytes.size() - begin);
    result += static_cast<char>(begin + count == bytes.size());
    for (size_t word : {count, ~count})
      for (int shift : {0, 8})
        result += static_cast<char>(word >> shift & 255);
    result.append(bytes, begin, count);
  }
  addNumber(result, high << 16 | low);
  return result;
}

} // namespace

std::string pngOf(size_t width, const std::vector<unsigned char> &indices, const std::vector<Colour> &palette) {
  std::string header, colours, rows;
  addNumber(header, static_cast<uint32_t>(width));
  addNumber(header, static_cast<uint32_t>(indices.size() / width));
  header += std::string("\x08\x03\0\0\0", 5); // 8 bits that index a palette, no filter for all rows, not interlaced
  for (const Colour &colour : palette)
    colours.append(colour.begin(), colour.end());
  for (size_t begin = 0; begin + width <= indices.size(); begin += width) {
    rows += '\0'; // this row has no filter
    rows.append(indices.begin() + static_cast<std::ptrdiff_t>(begin), indices.begin() + static_cast<std::ptrdiff_t>(begin + width));
  }
  std::string png = "\x89PNG\r\n\x1a\n";
  addChunk(png, "IHDR", header);
  addChunk(png, "PLTE", colours);
  addChunk(png, "IDAT", stored(rows));
  addChunk(png, "IEND", "");
  return png;
}

std::string dataLink(const std::string &png) {
  static constexpr const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = "data:image/png;base64,";
  for (size_t i = 0; i < png.size(); i += 3) {
    const size_t count = std::min<size_t>(3, png.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < count ? static_cast<unsigned char>(png[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k)
      text += k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

} // namespace tenon::driver
