// PNG by libpng. Its simplified interface mixes pixels with a background by their alpha and applies the file's gamma; here alpha
// is left out and gamma is not applied, as Pillow has it.
#include "runtime/data/PictureFiles.h"
#include <csetjmp>
#include <cstring>
#include <png.h>

namespace tenon::data {

using runtime::Expected;
using runtime::inputError;
using runtime::Status;

namespace {

constexpr uint64_t kMostPacking = 1032; // of deflate (RFC 1951): 258 bytes in two bits

/// libpng leaves by longjmp, which runs no destructors: what owns memory is a member, and functions with setjmp have no locals
/// that would have to be destroyed or that change behind it.
class PngReader {
public:
  explicit PngReader(const std::string &bytes) : bytes(bytes) {}
  PngReader(const PngReader &) = delete;
  PngReader &operator=(const PngReader &) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }

  bool readHeader() {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    info = png ? png_create_info_struct(png) : nullptr;
    if (!info)
      return false;
    if (setjmp(png_jmpbuf(png)))
      return false;
    png_set_read_fn(png, this, give);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);            // checkPictureSize() says it with the file's name
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1); // texts and profiles are not even unpacked
    png_read_info(png, info);
    return true;
  }

  uint64_t width() const { return png_get_image_width(png, info); }
  uint64_t height() const { return png_get_image_height(png, info); }
  uint64_t bitsOfPixel() const { return uint64_t{png_get_channels(png, info)} * png_get_bit_depth(png, info); }
  bool isDeepGrey() const { return png_get_bit_depth(png, info) == 16 && png_get_color_type(png, info) == PNG_COLOR_TYPE_GRAY; }

  /// Rows become bytes of grey, or of red, green and blue.
  bool setRows() {
    if (setjmp(png_jmpbuf(png)))
      return false;
    png_set_strip_16(png);
    if (png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE)
      png_set_palette_to_rgb(png);
    else if (png_get_bit_depth(png, info) < 8)
      png_set_expand_gray_1_2_4_to_8(png);
    png_set_strip_alpha(png);
    passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return true;
  }
  int64_t channels() const { return png_get_channels(png, info); }
  size_t bytesOfRow() const { return png_get_rowbytes(png, info); }

  /// To the end of the file, so that a sum that does not fit is found. `pixels`: room for all rows.
  bool readRows(unsigned char *pixels) {
    if (setjmp(png_jmpbuf(png)))
      return false;
    for (int pass = 0; pass < passes; ++pass)
      for (size_t y = 0; y < height(); ++y)
        png_read_row(png, pixels + y * bytesOfRow(), nullptr);
    png_read_end(png, nullptr);
    return true;
  }

  const char *reason() const { return text; }

private:
  [[noreturn]] static void fail(png_structp png, png_const_charp reason) {
    auto *reader = static_cast<PngReader *>(png_get_error_ptr(png));
    std::strncpy(reader->text, reason, sizeof reader->text - 1);
    png_longjmp(png, 1);
  }
  static void give(png_structp png, png_bytep to, size_t count) {
    auto *reader = static_cast<PngReader *>(png_get_io_ptr(png));
    if (count > reader->bytes.size() - reader->at)
      png_error(png, "the file ends too early");
    std::memcpy(to, reader->bytes.data() + reader->at, count);
    reader->at += count;
  }

  const std::string &bytes;
  size_t at = 0;
  png_structp png = nullptr;
  png_infop info = nullptr;
  int passes = 1;
  char text[200] = "no memory";
};

} // namespace

Expected<Picture> readPng(const std::string &path, const std::string &bytes) {
  PngReader reader(bytes);
  if (!reader.readHeader())
    return unreadable(path, "PNG", reader.reason());
  const uint64_t width = reader.width(), height = reader.height();
  if (Status status = checkPictureSize(path, width, height); status.failed())
    return status;
  if (reader.isDeepGrey()) // of which Pillow cuts off what exceeds 255
    return inputError(path, " has grey of 16 bits; make it one of 8 bits: mogrify -depth 8 FILE");
  if (width * height * reader.bitsOfPixel() / 8 > kMostPacking * bytes.size())
    return unreadable(path, "PNG", "the file ends too early");
  if (!reader.setRows())
    return unreadable(path, "PNG", reader.reason());
  std::vector<unsigned char> pixels(reader.bytesOfRow() * height);
  if (!reader.readRows(pixels.data()))
    return unreadable(path, "PNG", reader.reason());
  return pictureOf(reader.channels(), static_cast<int64_t>(height), static_cast<int64_t>(width), pixels);
}

} // namespace tenon::data
