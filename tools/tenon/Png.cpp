// PNG (ISO/IEC 15948). Of deflate (RFC 1951) it has the fixed codes and runs of one byte, which is what cells of many pixels are: no library is needed.
#include "tools/tenon/Png.h"
#include <algorithm>
#include <iterator>
#include <utility>

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

/// One block of deflate with the fixed codes, closed by `finish`.
class Deflate {
public:
  Deflate() { put(0b011, 3); } // the last block, fixed codes
  void literal(unsigned char byte) { byte < 144 ? code(0x30u + byte, 8) : code(0x190u + byte - 144, 9); }
  /// The byte before, `count` times more: 3 to 258.
  void repeat(size_t count) {
    static constexpr struct {
      size_t base;
      unsigned extra;
    } lengths[] = {{3, 0},  {4, 0},  {5, 0},  {6, 0},  {7, 0},  {8, 0},  {9, 0},  {10, 0}, {11, 1}, {13, 1}, {15, 1},  {17, 1},  {19, 2},  {23, 2},  {27, 2},
                   {31, 2}, {35, 3}, {43, 3}, {51, 3}, {59, 3}, {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};
    unsigned which = std::size(lengths) - 1;
    while (lengths[which].base > count)
      --which;
    which < 23 ? code(which + 1, 7) : code(0xC0u + which - 23, 8);
    put(static_cast<unsigned>(count - lengths[which].base), lengths[which].extra);
    put(0, 5); // at a distance of 1
  }
  std::string finish() {
    code(0, 7);
    put(0, 7); // to a whole byte
    return std::move(bytes);
  }

private:
  std::string bytes;
  unsigned held = 0, count = 0;
  /// Numbers start with their lowest bit, codes with their highest.
  void put(unsigned value, unsigned width) {
    held |= value << count;
    for (count += width; count >= 8; count -= 8, held >>= 8)
      bytes += static_cast<char>(held & 255);
  }
  void code(unsigned value, unsigned width) {
    while (width-- > 0)
      put(value >> width & 1, 1);
  }
};

/// zlib's form (RFC 1950) of `bytes`.
std::string compressed(const std::string &bytes) {
  constexpr size_t kLongestRun = 258, kShortestRun = 3;
  uint32_t low = 1, high = 0; // Adler-32
  for (unsigned char byte : bytes) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  Deflate deflate;
  for (size_t at = 0; at < bytes.size();) {
    size_t run = 0;
    while (at > 0 && run < kLongestRun && at + run < bytes.size() && bytes[at + run] == bytes[at - 1])
      ++run;
    if (run >= kShortestRun)
      deflate.repeat(run);
    else
      deflate.literal(static_cast<unsigned char>(bytes[at]));
    at += run >= kShortestRun ? run : 1;
  }
  std::string result = "\x78\x01" + deflate.finish();
  addNumber(result, high << 16 | low);
  return result;
}

} // namespace

std::string pngOf(size_t width, const std::vector<unsigned char> &indices, const std::vector<Colour> &palette, size_t scale) {
  std::string header, colours, rows;
  addNumber(header, static_cast<uint32_t>(width * scale));
  addNumber(header, static_cast<uint32_t>(indices.size() / width * scale));
  header += std::string("\x08\x03\0\0\0", 5); // 8 bits that index a palette, filters by row, not interlaced
  for (const Colour &colour : palette)
    colours.append(colour.begin(), colour.end());
  for (size_t begin = 0; begin + width <= indices.size(); begin += width) {
    rows += '\0'; // this row has no filter
    for (size_t i = begin; i < begin + width; ++i)
      rows.append(scale, static_cast<char>(indices[i]));
    for (size_t copy = 1; copy < scale; ++copy)
      rows += '\2' + std::string(width * scale, '\0'); // differs by nothing from the row above
  }
  std::string png = "\x89PNG\r\n\x1a\n";
  addChunk(png, "IHDR", header);
  addChunk(png, "PLTE", colours);
  addChunk(png, "IDAT", compressed(rows));
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
