#include "runtime/data/PictureFiles.h"
#include "runtime/base/File.h"
#include <algorithm>

namespace tenon::data {

using runtime::Expected;
using runtime::inputError;
using runtime::Status;

namespace {

constexpr uint64_t kMostBytes = 1ull << 30; // of one file, and of the numbers of one picture that was packed
constexpr uint64_t kMostPixels = kMostBytes / sizeof(float) / 3;

/// A whole number of a Netpbm header, behind blanks and comments; -1 where there is none.
int64_t numberAt(const std::string &text, size_t &at) {
  auto isBlank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  for (; at < text.size() && (isBlank(text[at]) || text[at] == '#'); ++at)
    if (text[at] == '#')
      at = std::min(text.find('\n', at), text.size() - 1);
  int64_t value = -1;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && value <= kMostOfSide; ++at)
    value = 10 * std::max<int64_t>(value, 0) + (text[at] - '0');
  return value;
}

} // namespace

Status checkPictureSize(const std::string &path, uint64_t width, uint64_t height) {
  const auto most = static_cast<uint64_t>(kMostOfSide);
  return width >= 1 && height >= 1 && width <= most && height <= most && width * height <= kMostPixels
             ? Status()
             : inputError(path, " says that it has ", width, " x ", height, " pixels; at most ", kMostPixels,
                          " are read of one picture: make it smaller, or remove it");
}

Status unreadable(const std::string &path, const char *format, const char *reason) {
  return inputError(path, " cannot be read as ", format, " (", reason, "); make it anew, or remove it");
}

Picture pictureOf(int64_t channels, int64_t height, int64_t width, const std::vector<unsigned char> &bytes) {
  Picture picture = {channels, height, width, std::vector<float>(bytes.size())};
  const auto pixels = static_cast<size_t>(height * width), depth = static_cast<size_t>(channels);
  for (size_t channel = 0; channel < depth; ++channel)
    for (size_t pixel = 0; pixel < pixels; ++pixel)
      picture.values[channel * pixels + pixel] = bytes[pixel * depth + channel];
  return picture;
}

Expected<Picture> readNetpbm(const std::string &path, const std::string &text) {
  size_t at = 2;
  const int64_t width = numberAt(text, at), height = numberAt(text, at), most = numberAt(text, at);
  if (width < 1 || height < 1 || width > kMostOfSide || height > kMostOfSide || most < 1 || most > 255)
    return inputError(path, ": expected a width, a height and a largest value from 1 to 255 behind ", text.substr(0, 2));
  Picture picture = {text[1] == '6' ? 3 : 1, height, width, {}};
  const auto pixels = static_cast<size_t>(width * height), needed = pixels * static_cast<size_t>(picture.channels);
  ++at; // one blank
  if (at > text.size() || text.size() - at < needed)
    return inputError(path, " ends within its pixels: ", needed, " bytes of ", width, " x ", height, " were expected");
  picture.values.resize(needed);
  const float scale = 255 / static_cast<float>(most);
  for (size_t i = 0; i < needed; ++i) {
    const auto channel = i % static_cast<size_t>(picture.channels), pixel = i / static_cast<size_t>(picture.channels);
    const auto value = static_cast<unsigned char>(text[at + i]);
    if (value > most)
      return inputError(path, " has a value of ", static_cast<int64_t>(value), ", more than the ", most, " of its header");
    picture.values[channel * pixels + pixel] = scale * static_cast<float>(value);
  }
  return picture;
}

Expected<Picture> readPicture(const std::string &path) {
  auto read = runtime::readWholeFile(path, kMostBytes);
  return read.ok() ? readPicture(path, *read) : read.status();
}

Expected<Picture> readPicture(const std::string &path, const std::string &bytes) {
  if (bytes.starts_with("P6") || bytes.starts_with("P5"))
    return readNetpbm(path, bytes);
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"))
    return readPng(path, bytes);
  if (bytes.starts_with("\xFF\xD8\xFF"))
    return readJpeg(path, bytes);
  return inputError(path, " begins neither as a binary Netpbm file (P6, P5) nor as a PNG or JPEG file; others are not read: "
                          "convert it, or remove it");
}

} // namespace tenon::data
