// JPEG by libjpeg-turbo.
#include "runtime/data/PictureFiles.h"
#include <csetjmp>
#include <cstdio> // jpeglib.h needs FILE
#include <jerror.h>
#include <jpeglib.h>

namespace tenon::data {

using runtime::Expected;
using runtime::inputError;
using runtime::Status;

namespace {

constexpr int kMostScans = 500; // each goes over all pixels, in a few bytes

/// Warnings of data that leave every pixel as it was written; the others stand for pixels that were made up.
bool isHarmless(int code) {
  return code == JWRN_ADOBE_XFORM || code == JWRN_BOGUS_ICC || code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR ||
         code == JWRN_NOT_SEQUENTIAL;
}

/// libjpeg leaves by longjmp, which runs no destructors: functions with setjmp have no locals that would have to be destroyed or
/// that change behind it.
class JpegReader {
public:
  explicit JpegReader(const std::string &bytes) : bytes(bytes) {}
  JpegReader(const JpegReader &) = delete;
  JpegReader &operator=(const JpegReader &) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); } // nothing where it was not created: it is all zeros

  bool readHeader() {
    jpeg.err = jpeg_std_error(&errors);
    jpeg.client_data = this;
    errors.error_exit = fail;
    errors.emit_message = warn;
    if (setjmp(place))
      return false;
    jpeg_create_decompress(&jpeg);
    progress.progress_monitor = look;
    jpeg.progress = &progress;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
    jpeg_read_header(&jpeg, TRUE);
    return true;
  }

  uint64_t width() const { return jpeg.image_width; }
  uint64_t height() const { return jpeg.image_height; }
  int channels() const { return jpeg.num_components; }

  /// To the end of the file. `pixels`: room for all rows.
  bool readRows(unsigned char *pixels) {
    if (setjmp(place))
      return false;
    // Pillow's, and the same on every machine: the vector code of libjpeg-turbo has the bits of its C code for these.
    jpeg.dct_method = JDCT_ISLOW;
    jpeg.do_fancy_upsampling = TRUE;
    jpeg.out_color_space = channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&jpeg);
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = pixels + size_t{jpeg.output_scanline} * jpeg.output_width * static_cast<size_t>(channels());
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    return true;
  }

  const char *reason() const { return text; }

private:
  static JpegReader &of(j_common_ptr jpeg) { return *static_cast<JpegReader *>(jpeg->client_data); }
  [[noreturn]] static void fail(j_common_ptr jpeg) {
    jpeg->err->format_message(jpeg, of(jpeg).text);
    std::longjmp(of(jpeg).place, 1);
  }
  static void warn(j_common_ptr jpeg, int level) {
    if (level < 0 && !isHarmless(jpeg->err->msg_code))
      fail(jpeg);
  }
  static void look(j_common_ptr jpeg) {
    if (of(jpeg).jpeg.input_scan_number <= kMostScans)
      return;
    std::snprintf(of(jpeg).text, sizeof text, "more than %d scans", kMostScans);
    std::longjmp(of(jpeg).place, 1);
  }

  const std::string &bytes;
  jpeg_decompress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  std::jmp_buf place;
  char text[JMSG_LENGTH_MAX] = "";
};

} // namespace

Expected<Picture> readJpeg(const std::string &path, const std::string &bytes) {
  JpegReader reader(bytes);
  if (!reader.readHeader())
    return unreadable(path, "JPEG", reader.reason());
  const uint64_t width = reader.width(), height = reader.height();
  if (Status status = checkPictureSize(path, width, height); status.failed())
    return status;
  const int channels = reader.channels();
  if (channels == 4)
    return inputError(path,
                      " has the four inks of a print (CMYK); make it one of red, green and blue: mogrify -colorspace sRGB FILE");
  if (channels != 1 && channels != 3)
    return inputError(path, " has ", channels, " channels; JPEG files of 1 and of 3 are read: convert it, or remove it");
  std::vector<unsigned char> pixels(width * height * static_cast<uint64_t>(channels));
  if (!reader.readRows(pixels.data()))
    return unreadable(path, "JPEG", reader.reason());
  return pictureOf(channels, static_cast<int64_t>(height), static_cast<int64_t>(width), pixels);
}

} // namespace tenon::data
