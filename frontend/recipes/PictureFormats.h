// Files of pictures that the data task `images` does not read, by their names. A header alone: the runtime library reads it, too,
// and has no table of recipes.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace tenon::schema {

/// "JPEG", "PNG" ..; empty: none of them.
inline std::string_view unreadPictures(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {{"jpg", "JPEG"}, {"jpeg", "JPEG"}, {"png", "PNG"},
                                                                     {"gif", "GIF"},  {"bmp", "BMP"},   {"webp", "WebP"},
                                                                     {"tif", "TIFF"}, {"tiff", "TIFF"}};
  const size_t dot = path.rfind('.');
  std::string end(dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1));
  for (char &letter : end)
    letter = letter >= 'A' && letter <= 'Z' ? char(letter + 32) : letter;
  for (const auto &[kind, name] : kinds)
    if (end == kind)
      return name;
  return {};
}

} // namespace tenon::schema
