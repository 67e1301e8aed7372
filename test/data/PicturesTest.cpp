// PNG and JPEG files: the pixels that Pillow reads (Inputs/pictures/make.py), and files that are damaged, too large or of other
// kinds.
#include "runtime/base/File.h"
#include "runtime/data/PictureFiles.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <jpeglib.h> // behind FILE
#include <zlib.h>

namespace tenon::data::test {

namespace {

namespace fs = std::filesystem;

std::string bytesOf(const std::string &name) {
  auto read = runtime::readWholeFile(TENON_TEST_PICTURES + name, 1 << 20);
  EXPECT_TRUE(read.ok()) << name;
  return read.ok() ? *read : std::string();
}

/// The names of the pictures of Inputs/pictures/make.py with this end.
std::vector<std::string> picturesWith(const std::string &end) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(TENON_TEST_PICTURES))
    if (entry.path().extension() == end)
      names.push_back(entry.path().filename().string());
  return names;
}

bool isOfRefusedKind(const std::string &name) { return name == "grey16.png" || name == "cmyk.jpg"; }

/// The picture, or nothing of no channels with what was said.
struct Outcome {
  Picture picture;
  std::string message;
};
Outcome read(const std::string &bytes) {
  auto found = readPicture("some picture", bytes);
  return found.ok() ? Outcome{found.take(), ""} : Outcome{{}, found.status().message()};
}

bool isSame(const Picture &one, const Picture &other) {
  return one.channels == other.channels && one.height == other.height && one.width == other.width && one.values == other.values;
}

/// Every end, PNG alone also every byte: refused with the file's name, or the same pixels.
void damage(const std::string &name, bool changesBytes) {
  const std::string bytes = bytesOf(name);
  const Outcome whole = read(bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string said = read(bytes.substr(0, size)).message;
    EXPECT_NE(said.find("some picture"), std::string::npos) << name << " of " << size << " bytes: " << said;
    EXPECT_NE(said.find("remove it"), std::string::npos) << said;
  }
  for (size_t i = 0; changesBytes && i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    const Outcome outcome = read(changed);
    EXPECT_TRUE(isSame(outcome.picture, whole.picture) || outcome.message.find("some picture") != std::string::npos)
        << name << ", byte " << i;
  }
}

std::string bigEndian(uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8)
    text += static_cast<char>(value >> shift);
  return text;
}

/// grey8.png with other sides and the sum that belongs to them.
std::string pngOfSize(uint32_t width, uint32_t height) {
  std::string bytes = bytesOf("grey8.png");
  bytes.replace(16, 8, bigEndian(width) + bigEndian(height));
  const auto sum = crc32(0, reinterpret_cast<const Bytef *>(bytes.data()) + 12, 17);
  return bytes.replace(29, 4, bigEndian(static_cast<uint32_t>(sum)));
}

/// A JPEG with other sides.
std::string jpegOfSize(const std::string &name, uint32_t width, uint32_t height) {
  std::string bytes = bytesOf(name);
  const size_t frame = std::min(bytes.find("\xFF\xC0"), bytes.find("\xFF\xC2"));
  return bytes.replace(frame + 5, 4, bigEndian(height << 16 | width));
}

/// A progressive one of grey whose last scan, of all bits of the waves, comes again and again.
std::string jpegOfScans(size_t more) {
  jpeg_compress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char *text = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &text, &size);
  jpeg.image_width = jpeg.image_height = 8;
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  const jpeg_scan_info scans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
  jpeg.scan_info = scans;
  jpeg.num_scans = 2;
  jpeg_start_compress(&jpeg, TRUE);
  unsigned char row[8] = {0, 255, 0, 90, 40, 10, 200, 250}, *rows = row;
  for (int y = 0; y < 8; ++y)
    jpeg_write_scanlines(&jpeg, &rows, 1);
  jpeg_finish_compress(&jpeg);
  std::string bytes(reinterpret_cast<char *>(text), size);
  jpeg_destroy_compress(&jpeg);
  std::free(text);
  const size_t last = bytes.rfind("\xFF\xDA"), end = bytes.size() - 2;
  const std::string scan = bytes.substr(last, end - last);
  for (size_t i = 0; i < more; ++i)
    bytes.insert(end, scan);
  return bytes;
}

} // namespace

TEST(Pictures, HaveThePixelsThatPillowReads) {
  size_t seen = 0;
  for (const char *end : {".png", ".jpg"})
    for (const std::string &name : picturesWith(end)) {
      if (isOfRefusedKind(name))
        continue;
      const Outcome found = read(bytesOf(name)), wanted = read(bytesOf(name + (name.starts_with("grey") ? ".pgm" : ".ppm")));
      EXPECT_EQ(found.message + wanted.message, "") << name;
      EXPECT_TRUE(isSame(found.picture, wanted.picture)) << name;
      ++seen;
    }
  EXPECT_EQ(seen, 31u);
  Picture other = read(bytesOf("420.jpg")).picture; // the control: one value of one pixel
  ASSERT_FALSE(other.values.empty());
  other.values.back() += 1;
  EXPECT_FALSE(isSame(other, read(bytesOf("420.jpg.ppm")).picture));
}

TEST(Pictures, OfKindsThatAreNotRead) {
  EXPECT_NE(read(bytesOf("grey16.png")).message.find("some picture has grey of 16 bits; make it one of 8 bits: mogrify -depth 8"),
            std::string::npos);
  EXPECT_NE(read(bytesOf("cmyk.jpg")).message.find("some picture has the four inks of a print (CMYK); make it one of red"),
            std::string::npos);
  EXPECT_NE(read("GIF89a").message.find("some picture begins neither as a binary Netpbm file (P6, P5) nor as a PNG or JPEG file"),
            std::string::npos);
}

TEST(Pictures, WhoseHeaderSaysTooMuch) {
  EXPECT_NE(
      read(pngOfSize(65535, 65535)).message.find("some picture says that it has 65535 x 65535 pixels; at most 89478485 are"),
      std::string::npos);
  EXPECT_NE(read(pngOfSize(1, 2000000)).message.find("has 1 x 2000000 pixels"), std::string::npos);
  EXPECT_NE(read(pngOfSize(9000, 9000)).message.find("cannot be read as PNG (the file ends too early)"), std::string::npos);
  EXPECT_EQ(read(pngOfSize(13, 7)).message, "");
  EXPECT_NE(read(jpegOfSize("420.jpg", 65500, 65500)).message.find("has 65500 x 65500 pixels"), std::string::npos);
  EXPECT_NE(read(jpegOfSize("420-progressive.jpg", 65535, 65535)).message.find("cannot be read as JPEG (Maximum supported"),
            std::string::npos);
  EXPECT_NE(read(jpegOfSize("420.jpg", 900, 900)).message.find("cannot be read as JPEG (Corrupt JPEG data"), std::string::npos);
  EXPECT_EQ(read(jpegOfSize("420.jpg", 29, 21)).message, "");
  EXPECT_EQ(read(jpegOfScans(100)).message, "");
  EXPECT_NE(read(jpegOfScans(600)).message.find("cannot be read as JPEG (more than 500 scans)"), std::string::npos);
}

TEST(Pictures, ThatAreDamaged) {
  for (const char *end : {".png", ".jpg"})
    for (const std::string &name : picturesWith(end))
      if (!isOfRefusedKind(name))
        damage(name, end == std::string(".png"));
}

/// Bytes between the last pixel and the end mark are common, and take nothing away.
TEST(Pictures, WithBytesThatNobodyNeeds) {
  std::string jpeg = bytesOf("444.jpg"), png = bytesOf("colour8.png");
  jpeg.insert(jpeg.size() - 2, "more");
  EXPECT_TRUE(isSame(read(jpeg).picture, read(bytesOf("444.jpg.ppm")).picture));
  EXPECT_TRUE(isSame(read(png + "more").picture, read(bytesOf("colour8.png.ppm")).picture));
}

} // namespace tenon::data::test
