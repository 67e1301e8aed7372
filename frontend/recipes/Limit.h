// `limit` of a generation as a text. A header alone: the runtime library reads it, too, and has no table of recipes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::schema {

/// "S + 50": the size of an axis, and so many symbols more; "S" alone.
struct Limit {
  std::string dim;
  int64_t more = 0;
};

inline std::optional<Limit> parseLimit(std::string_view text) {
  size_t at = 0;
  auto skip = [&] {
    while (at < text.size() && text[at] == ' ')
      ++at;
  };
  auto isIn = [&](bool first) {
    const char letter = at < text.size() ? text[at] : ' ';
    const bool isDigit = letter >= '0' && letter <= '9';
    return isDigit ? !first : (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
  };
  Limit limit;
  for (skip(); isIn(limit.dim.empty()); ++at)
    limit.dim += text[at];
  skip();
  if (limit.dim.empty() || at == text.size())
    return limit.dim.empty() ? std::nullopt : std::optional(limit);
  if (text[at++] != '+')
    return std::nullopt;
  skip();
  size_t digits = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && digits < 9; ++at, ++digits)
    limit.more = 10 * limit.more + (text[at] - '0');
  skip();
  return digits > 0 && at == text.size() ? std::optional(limit) : std::nullopt;
}

} // namespace tenon::schema
