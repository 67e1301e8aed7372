// One picture from a file: Netpbm, PNG or JPEG, told apart by their first bytes, whatever the name says (as Pillow does).
#pragma once
#include "runtime/base/Status.h"
#include <string>
#include <vector>

namespace tenon::data {

constexpr int64_t kMostOfSide = 1 << 20; // pixels

/// Values of [channels, height, width], dense row-major; of a file 0 to 255.
struct Picture {
  int64_t channels = 0, height = 0, width = 0;
  std::vector<float> values;
  const float *row(int64_t channel, int64_t y) const { return values.data() + (channel * height + y) * width; }
  float *row(int64_t channel, int64_t y) { return values.data() + (channel * height + y) * width; }
};

/// Three channels (red, green, blue), or one of a file of grey alone. Alpha is left out (what it hides shows), and neither a
/// colour profile nor a gamma nor an orientation (EXIF) is applied: Pillow's convert("RGB").
runtime::Expected<Picture> readPicture(const std::string &path);

// What readPicture() is made of: `bytes` are those of the whole file, whose path is for messages.

runtime::Expected<Picture> readPicture(const std::string &path, const std::string &bytes);

/// A binary Netpbm file: "P6", three channels, or "P5", one; up to 255 of them.
runtime::Expected<Picture> readNetpbm(const std::string &path, const std::string &bytes);
/// Any PNG but grey of 16 bits; of 16 bits of colours the upper 8 are taken.
runtime::Expected<Picture> readPng(const std::string &path, const std::string &bytes);
/// Baseline and progressive JPEG of grey or colours, by the integer transform and smooth upsampling: the same bits everywhere.
runtime::Expected<Picture> readJpeg(const std::string &path, const std::string &bytes);

/// Refuses sizes of a header that no memory is taken for: what is packed can be a thousandth of its pixels.
runtime::Status checkPictureSize(const std::string &path, uint64_t width, uint64_t height);
/// Of the bytes [height, width, channels].
Picture pictureOf(int64_t channels, int64_t height, int64_t width, const std::vector<unsigned char> &bytes);
/// What a library of pictures says of a file.
runtime::Status unreadable(const std::string &path, const char *format, const char *reason);

} // namespace tenon::data
