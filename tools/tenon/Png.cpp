// PNG (ISO/IEC 15948), compressed by zlib.
#include "tools/tenon/Png.h"
#include "runtime/base/Base64.h"
#include <algorithm>
#include <zlib.h>

namespace tenon::driver {

namespace {

void addNumber(std::string &to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to += static_cast<char>(value >> shift & 255);
}

void addChunk(std::string &to, const char *kind, const std::string &content) {
  addNumber(to, static_cast<uint32_t>(content.size()));
  const std::string checked = kind + content;
  to += checked;
  addNumber(to,
            static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef *>(checked.data()), static_cast<uInt>(checked.size()))));
}

std::string compressed(const std::string &bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  compress(reinterpret_cast<Bytef *>(result.data()), &size, reinterpret_cast<const Bytef *>(bytes.data()),
           bytes.size()); // cannot fail: there is room
  result.resize(size);
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

std::string dataLink(const std::string &png) { return "data:image/png;base64," + runtime::toBase64(png); }

} // namespace tenon::driver
