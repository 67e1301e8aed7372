#include "tools/tenon/SymbolLines.h"
#include <algorithm>

namespace tenon::driver {

static constexpr size_t kLettersOfLine = 76, kLettersOfTitle = 40;

static size_t lettersOf(const std::string &text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](unsigned char byte) { return (byte & 0xC0) != 0x80; }));
}

std::vector<std::string> symbolLines(std::span<const std::string> symbols, int64_t first) {
  std::vector<std::string> lines;
  size_t length = kLettersOfLine;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const std::string &symbol = symbols[i];
    const bool joined =
        i == 0 || symbol[0] == '<' || symbols[i - 1][0] == '<' || (lettersOf(symbol) == 1 && lettersOf(symbols[i - 1]) == 1);
    if (length + lettersOf(symbol) > kLettersOfLine) {
      const std::string number = std::to_string(first + static_cast<int64_t>(i));
      lines.push_back(std::string(5 - std::min<size_t>(5, number.size()), ' ') + number + "  ");
      length = 0;
    } else if (!joined) {
      lines.back() += ' ';
      ++length;
    }
    lines.back() += symbol;
    length += lettersOf(symbol);
  }
  return lines;
}

std::string endOfPath(const std::string &path) {
  size_t begin = path.size() > kLettersOfTitle ? path.size() - kLettersOfTitle : 0;
  while (begin > 0 && begin < path.size() && (static_cast<unsigned char>(path[begin]) & 0xC0) == 0x80)
    ++begin;
  return begin > 0 ? "\xe2\x80\xa6" + path.substr(begin) : path;
}

} // namespace tenon::driver
