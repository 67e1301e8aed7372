// PNG and JPEG files for fuzz-readers. The sums of PNG hide what is behind them from damage of bytes, so most of it happens
// before they are made: in the header, in the rows, in what they are packed to.
#include "test/runtime/Fuzz.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <jpeglib.h> // behind FILE
#include <vector>
#include <zlib.h>

namespace tenon::fuzz {

namespace {

std::string bigEndian(uint64_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>(value >> shift);
  return text;
}

std::string chunkOf(const std::string &name, const std::string &data) {
  const std::string summed = name + data;
  return bigEndian(data.size()) + summed +
         bigEndian(crc32(0, reinterpret_cast<const Bytef *>(summed.data()), static_cast<uInt>(summed.size())));
}

std::string packed(const std::string &bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  compress(reinterpret_cast<Bytef *>(result.data()), &size, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
  result.resize(size);
  return result;
}

/// Rows of the right lengths, with any of the filters: all of them, or those of the seven passes of Adam7.
std::string rowsOf(Random &random, uint64_t width, uint64_t height, uint64_t bits, bool interlaced) {
  const uint64_t passes[][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  std::string rows;
  auto add = [&](uint64_t across, uint64_t down) {
    for (uint64_t y = 0; y < down && across > 0; ++y) {
      rows += static_cast<char>(random.below(5));
      for (uint64_t i = 0; i < (across * bits + 7) / 8; ++i)
        rows += static_cast<char>(random.next());
    }
  };
  if (!interlaced)
    add(width, height);
  for (const auto &[x, y, across, down] : passes)
    if (interlaced)
      add(width > x ? (width - x + across - 1) / across : 0, height > y ? (height - y + down - 1) / down : 0);
  return rows;
}

} // namespace

std::string makePng(Random &random, uint64_t width, uint64_t height, bool isDamaged) {
  const uint64_t kinds[][3] = {
      {0, 1, 1}, {0, 2, 1}, {0, 4, 1}, {0, 8, 1}, {2, 8, 3},  {2, 16, 3}, {3, 1, 1}, // type, bits, channels
      {3, 2, 1}, {3, 4, 1}, {3, 8, 1}, {4, 8, 2}, {4, 16, 2}, {6, 8, 4},  {6, 16, 4}};
  const auto &[type, bits, channels] = kinds[random.below(std::size(kinds))];
  const bool interlaced = random.below(3) == 0;
  const uint64_t place = isDamaged ? random.below(5) : 5;
  std::string rows = rowsOf(random, width, height, bits * channels, interlaced), header = bigEndian(width) + bigEndian(height);
  for (uint64_t value : {bits, type, uint64_t{0}, uint64_t{0}, uint64_t{interlaced}})
    header += static_cast<char>(value);
  if (place == 0)
    header[random.below(header.size())] ^= static_cast<char>(1 << random.below(8));
  if (place == 1)
    mutate(rows, random);
  std::string data = packed(rows), file("\x89PNG\r\n\x1a\n", 8);
  if (place == 2)
    mutate(data, random);
  std::vector<std::string> chunks = {chunkOf("IHDR", header)};
  if (type == 3)
    chunks.push_back(chunkOf("PLTE", std::string(3 * (1 + random.below(std::min<uint64_t>(256, 1u << bits))), 'c')));
  if (random.below(3) == 0)
    chunks.push_back(chunkOf("tRNS", std::string(1 + random.below(8), 1)));
  if (random.below(3) == 0)
    chunks.push_back(chunkOf("gAMA", bigEndian(random.next() & UINT32_MAX)));
  const size_t half = random.below(data.size() + 1);
  for (const std::string &part : {chunkOf("IDAT", data.substr(0, half)), chunkOf("IDAT", data.substr(half)), chunkOf("IEND", "")})
    chunks.push_back(part);
  if (place == 3)
    std::swap(chunks[random.below(chunks.size())], chunks[random.below(chunks.size())]);
  for (const std::string &chunk : chunks)
    file += chunk;
  if (place == 4)
    mutate(file, random);
  return file;
}

std::string makeJpeg(Random &random, uint64_t width, uint64_t height, bool isDamaged) {
  jpeg_compress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char *text = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &text, &size);
  const uint64_t channels = random.below(8) == 0 ? 4 : random.below(3) == 0 ? 1 : 3;
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = static_cast<int>(channels);
  jpeg.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, static_cast<int>(1 + random.below(100)), TRUE);
  if (random.below(2))
    jpeg_simple_progression(&jpeg);
  jpeg.arith_code = random.below(4) == 0;
  jpeg.restart_interval = static_cast<unsigned>(random.below(3));
  if (channels < 4) { // ten blocks at most
    jpeg.comp_info[0].h_samp_factor = static_cast<int>(1 + random.below(4));
    jpeg.comp_info[0].v_samp_factor = static_cast<int>(1 + random.below(2));
  }
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<unsigned char> row(width * channels);
  unsigned char *rows = row.data();
  for (uint64_t y = 0; y < height; ++y) {
    std::generate(row.begin(), row.end(), [&] { return static_cast<unsigned char>(random.next()); });
    jpeg_write_scanlines(&jpeg, &rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string file(reinterpret_cast<char *>(text), size);
  jpeg_destroy_compress(&jpeg);
  std::free(text);
  const uint64_t place = isDamaged ? random.below(3) : 3;
  if (place == 0) // what follows a mark: sizes, tables, which scan it is
    for (uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const size_t mark = file.find('\xFF', random.below(file.size()));
      if (mark != std::string::npos)
        file[std::min(mark + 1 + random.below(20), file.size() - 1)] = static_cast<char>(random.next());
    }
  else if (place == 1 && random.below(2)) // a piece again, as if it were another scan
    file.insert(random.below(file.size()), file.substr(random.below(file.size()), random.below(400)));
  else if (place < 3)
    mutate(file, random);
  return file;
}

} // namespace tenon::fuzz
