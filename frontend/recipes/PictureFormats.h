// Which files of pictures the data task `images` reads, by their names. A header alone: the runtime library reads it, too, and
// has no table of recipes.
#pragma once
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace tenon::schema {

/// The files that isPicture() knows, for messages.
inline constexpr std::string_view kPictureEnds = ".ppm, .pgm, .png, .jpg and .jpeg";

/// What stands behind the last dot, in small letters.
inline std::string endOfName(std::string_view path) {
  const size_t dot = path.rfind('.');
  std::string end(dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1));
  for (char &letter : end)
    letter = letter >= 'A' && letter <= 'Z' ? char(letter + 32) : letter;
  return end;
}

/// Whether it is a picture that is read, one file for each.
inline bool isPicture(std::string_view path) {
  constexpr std::string_view ends[] = {"ppm", "pgm", "png", "jpg", "jpeg"};
  return std::find(std::begin(ends), std::end(ends), endOfName(path)) != std::end(ends);
}

/// "GIF", "TIFF" ..: pictures that are not read; empty: none of them.
inline std::string_view unreadPictures(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"gif", "GIF"}, {"bmp", "BMP"}, {"webp", "WebP"}, {"tif", "TIFF"}, {"tiff", "TIFF"}};
  const std::string end = endOfName(path);
  for (const auto &[kind, name] : kinds)
    if (end == kind)
      return name;
  return {};
}

} // namespace tenon::schema
