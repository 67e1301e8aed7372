// `crop` of the data task `images` as a text. A header alone: the runtime library reads it, too, and has no table of recipes.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::schema {

/// "random resized N": a part in the size N x N; "random padded N": a part of the picture with N pixels around it.
struct Crop {
  bool resized = false;
  int64_t size = 0;
};
constexpr const char *kCropForms =
    "\"random resized N\", a part in the size N x N, or \"random padded N\", a part of the picture with N pixels around it";

inline std::optional<Crop> parseCrop(std::string_view text) {
  constexpr int64_t kMostPixels = 1 << 16; // along a side
  for (const std::string_view form : {"random resized ", "random padded "}) {
    if (!text.starts_with(form))
      continue;
    Crop crop{form == "random resized ", 0};
    const char *const end = text.data() + text.size();
    auto [rest, failed] = std::from_chars(text.data() + form.size(), end, crop.size);
    if (failed == std::errc() && rest == end && crop.size > 0 && crop.size <= kMostPixels)
      return crop;
  }
  return std::nullopt;
}

} // namespace tenon::schema
