#include "runtime/data/BytePairs.h"
#include "runtime/base/Json.h"
#include "runtime/data/BasicWords.h"
#include "runtime/data/PreTokens.h"
#include "runtime/data/Text.h"
#include "runtime/data/Utf8.h"
#include <algorithm>
#include <array>
#include <queue>
#include <tuple>

namespace tenon::data {

namespace {

constexpr std::string_view kWordEnd = "</w>";

bool isVisible(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

/// The characters that stand for the bytes in GPT-2's files: themselves where one can see them, else those from 256 on.
const std::array<char32_t, 256> &characterOfByte() {
  static const std::array<char32_t, 256> table = [] {
    std::array<char32_t, 256> made{};
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte)
      made[byte] = isVisible(byte) ? byte : next++;
    return made;
  }();
  return table;
}

/// The bytes that a spelling of such characters stands for; nullopt where another character is in it.
std::optional<std::string> bytesOf(std::string_view spelling) {
  static const std::unordered_map<char32_t, char> byteOf = [] {
    std::unordered_map<char32_t, char> made;
    for (unsigned byte = 0; byte < 256; ++byte)
      made[characterOfByte()[byte]] = static_cast<char>(byte);
    return made;
  }();
  std::string bytes;
  for (size_t offset = 0; offset < spelling.size();) {
    const auto found = byteOf.find(decodeCodePoint(spelling, offset));
    if (found == byteOf.end())
      return std::nullopt;
    bytes += found->second;
  }
  return bytes;
}

uint64_t pairOf(int32_t left, int32_t right) { return static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right); }

bool endsWith(const std::string &text, std::string_view end) { return text.size() > end.size() && text.ends_with(end); }

} // namespace

Status BytePairs::parseSymbols(const std::string &text, const std::string &path, std::vector<std::string> &symbols) {
  auto json = runtime::parseJson(text, {.bytes = 1ull << 30, .depth = 4, .values = 1ull << 26});
  if (!json.ok())
    return inputError("the vocabulary file ", path, " is no JSON: ", json.status().message());
  if (!json->isObject() || json->members.empty())
    return inputError("the vocabulary file ", path, " is no table {\"symbol\": number, ..}");
  symbols.assign(json->members.size(), {});
  std::vector<bool> known(symbols.size());
  for (const auto &[symbol, id] : json->members) {
    if (!id.isInteger() || id.integer < 0 || id.integer >= static_cast<int64_t>(symbols.size()) ||
        known[static_cast<size_t>(id.integer)])
      return inputError("the vocabulary file ", path, " gives the symbol '", symbol, "' no number of its own below ",
                        symbols.size());
    known[static_cast<size_t>(id.integer)] = true;
    symbols[static_cast<size_t>(id.integer)] = symbol;
  }
  return {};
}

Status BytePairs::readMerges(const std::string &path, std::vector<std::string> &merges) {
  std::string text;
  if (Status status = readMarkedFile(path, text); status.failed())
    return status;
  merges.clear();
  int64_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    if (++number == 1 && line.starts_with("#version"))
      continue;
    if (line.empty() && rest.find_first_not_of("\r\n") == std::string_view::npos)
      break;
    const size_t blank = line.find(' ');
    if (malformedAt(line) || blank == 0 || blank == std::string_view::npos || blank + 1 == line.size() ||
        line.find(' ', blank + 1) != std::string_view::npos)
      return inputError("line ", number, " of the merges ", path, " is no pair of symbols: '", line, "'");
    merges.emplace_back(line);
  }
  return {};
}

Status BytePairs::make(const std::vector<std::string> &symbols, std::vector<std::string> merges, BytePairs &result) {
  result = BytePairs();
  result.ofBytes =
      std::none_of(symbols.begin(), symbols.end(), [](const std::string &symbol) { return endsWith(symbol, kWordEnd); });
  result.lines = std::move(merges);
  for (size_t i = 0; i < symbols.size(); ++i) {
    result.ids.emplace(symbols[i], static_cast<int32_t>(i));
    result.endsWord.push_back(!result.ofBytes && endsWith(symbols[i], kWordEnd));
    const std::string plain = symbols[i].substr(0, symbols[i].size() - (result.endsWord.back() ? kWordEnd.size() : 0));
    const std::optional<std::string> bytes = result.ofBytes ? bytesOf(symbols[i]) : std::optional(plain);
    size_t first = 0;
    if (!plain.empty())
      decodeCodePoint(plain, first);
    const bool isLetter = first > 0 && first == plain.size();
    result.special.push_back(result.ofBytes ? !bytes || bytes->size() != 1 : !isLetter); // unless a merge makes it
    result.spelled.push_back(bytes.value_or(symbols[i]));
  }
  if (result.ofBytes)
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string spelling;
      appendCodePoint(spelling, characterOfByte()[byte]);
      const auto id = result.find(spelling);
      if (!id)
        return inputError("the vocabulary has no symbol '", spelling, "' for the byte ", byte);
      result.byteSymbols.push_back(*id);
    }
  for (size_t rank = 0; rank < result.lines.size(); ++rank) {
    const std::string &line = result.lines[rank];
    const size_t blank = line.find(' ');
    const auto left = result.find(line.substr(0, blank)), right = result.find(line.substr(blank + 1));
    const auto made = result.find(line.substr(0, blank) + line.substr(blank + 1));
    if (!left || !right || !made)
      return inputError("the merge '", line, "' is of symbols that the vocabulary does not have");
    result.merging.emplace(pairOf(*left, *right), Merge{static_cast<int32_t>(rank), *made});
    result.special[static_cast<size_t>(*made)] = false;
  }
  for (size_t i = 0; i < symbols.size(); ++i)
    if (result.special[i])
      result.specials.push_back(symbols[i]);
  std::sort(result.specials.begin(), result.specials.end(),
            [](const std::string &a, const std::string &b) { return a.size() != b.size() ? a.size() > b.size() : a < b; });
  return {};
}

std::optional<int32_t> BytePairs::find(const std::string &symbol) const {
  const auto found = ids.find(symbol);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

void BytePairs::merge(std::vector<int32_t> &word, std::vector<size_t> &ends) const {
  // A list of the symbols that are left, and the pairs that may be merged; pairs whose symbols have changed are passed over.
  const auto count = static_cast<int32_t>(word.size());
  std::vector<int32_t> before(word.size()), behind(word.size());
  using Pair = std::tuple<int32_t, int32_t, int32_t, int32_t>; // rank, place of the left symbol, the two symbols
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> pairs;
  auto offer = [&](int32_t left) {
    if (left < 0 || behind[static_cast<size_t>(left)] >= count)
      return;
    const int32_t a = word[static_cast<size_t>(left)], b = word[static_cast<size_t>(behind[static_cast<size_t>(left)])];
    if (const auto found = a < 0 || b < 0 ? merging.end() : merging.find(pairOf(a, b)); found != merging.end())
      pairs.emplace(found->second.rank, left, a, b);
  };
  for (int32_t i = 0; i < count; ++i) {
    before[static_cast<size_t>(i)] = i - 1;
    behind[static_cast<size_t>(i)] = i + 1;
  }
  for (int32_t i = 0; i < count; ++i)
    offer(i);
  while (!pairs.empty()) {
    const auto [rank, left, a, b] = pairs.top();
    pairs.pop();
    const auto at = static_cast<size_t>(left);
    const int32_t right = behind[at];
    if (word[at] != a || right >= count || word[static_cast<size_t>(right)] != b)
      continue;
    word[at] = merging.at(pairOf(a, b)).made;
    ends[at] = ends[static_cast<size_t>(right)];
    word[static_cast<size_t>(right)] = -1;
    behind[at] = behind[static_cast<size_t>(right)];
    if (behind[at] < count)
      before[static_cast<size_t>(behind[at])] = left;
    offer(before[at]);
    offer(left);
  }
  size_t kept = 0;
  for (int32_t i = 0; i < count; i = behind[static_cast<size_t>(i)], ++kept) {
    word[kept] = word[static_cast<size_t>(i)];
    ends[kept] = ends[static_cast<size_t>(i)];
  }
  word.resize(kept);
  ends.resize(kept);
}

void BytePairs::encodeWord(std::string_view word, size_t begin, std::vector<int32_t> &result,
                           std::vector<TextPlace> *places) const {
  std::vector<int32_t> symbols;
  std::vector<size_t> ends;
  for (size_t i = 0; i < word.size(); ++i) {
    symbols.push_back(byteSymbols[static_cast<unsigned char>(word[i])]);
    ends.push_back(i + 1);
  }
  merge(symbols, ends);
  result.insert(result.end(), symbols.begin(), symbols.end());
  for (size_t i = 0; places && i < ends.size(); ++i) {
    const size_t from = i > 0 ? ends[i - 1] : 0;
    const bool blank = word[from] == ' ' && ends[i] > from + 1; // in front of a word: where the word stands is asked for
    places->push_back({begin + from + blank, begin + ends[i]});
  }
}

Status BytePairs::encodeBytes(std::string_view text, size_t begin, std::vector<int32_t> &result,
                              std::vector<TextPlace> *places) const {
  for (size_t at = 0; at < text.size();) {
    const size_t end = endOfPreToken(text, at);
    encodeWord(text.substr(at, end - at), begin + at, result, places);
    at = end;
  }
  return {};
}

Status BytePairs::encodeCharacters(std::string_view text, size_t begin, std::vector<int32_t> &result,
                                   std::vector<TextPlace> *places) const {
  const std::optional<int32_t> unknown = find("<unk>");
  return basicWords(text, true, [&](const BasicWord &word) -> Status {
    std::vector<int32_t> symbols;
    std::vector<size_t> ends;
    for (size_t offset = 0; offset < word.text.size();) {
      const size_t from = offset;
      decodeCodePoint(word.text, offset);
      std::string spelling = word.text.substr(from, offset - from);
      if (offset == word.text.size())
        spelling += kWordEnd;
      const auto id = find(spelling);
      if (!id && !unknown)
        return inputError("the character '", word.text.substr(from, offset - from),
                          "' is not in the vocabulary, which has no <unk>");
      symbols.push_back(id.value_or(unknown.value_or(0)));
      ends.push_back(offset);
    }
    merge(symbols, ends);
    result.insert(result.end(), symbols.begin(), symbols.end());
    for (size_t i = 0; places && i < ends.size(); ++i)
      places->push_back({begin + word.bytes[i > 0 ? ends[i - 1] : 0].begin, begin + word.bytes[ends[i] - 1].end});
    return {};
  });
}

Status BytePairs::encode(std::string_view text, std::vector<int32_t> &result, std::vector<TextPlace> *places) const {
  auto plain = [&](size_t begin, size_t end) {
    const std::string_view part = text.substr(begin, end - begin);
    return ofBytes ? encodeBytes(part, begin, result, places) : encodeCharacters(part, begin, result, places);
  };
  size_t begin = 0; // of what is not encoded yet
  for (size_t at = 0; at < text.size() && !specials.empty(); ++at) {
    if (text[at] != '<' && text[at] != '[' && text[at] != '_') // what specials begin with; others stand in the files of nobody
      continue;
    const auto found = std::find_if(specials.begin(), specials.end(),
                                    [&](const std::string &one) { return text.substr(at, one.size()) == one; });
    if (found == specials.end())
      continue;
    size_t end = at; // RoBERTa's mask takes the blanks in front of it along
    while (*found == "<mask>" && end > begin && text[end - 1] == ' ')
      --end;
    if (Status status = plain(begin, end); status.failed())
      return status;
    result.push_back(ids.at(*found));
    if (places)
      places->push_back({at, at + found->size()});
    begin = at + found->size();
    at = begin - 1;
  }
  return plain(begin, text.size());
}

std::string BytePairs::text(int32_t id, int32_t previous) const {
  const auto at = static_cast<size_t>(id);
  if (special[at])
    return {};
  const bool apart = previous >= 0 && endsWord[static_cast<size_t>(previous)];
  return (apart ? " " : "") + spelled[at];
}

bool BytePairs::continuesWord(int32_t previous, int32_t id) const {
  if (previous < 0 || special[static_cast<size_t>(previous)] || special[static_cast<size_t>(id)])
    return false;
  const std::string &bytes = spelled[static_cast<size_t>(id)];
  return ofBytes ? bytes[0] != ' ' && bytes[0] != '\n' : !endsWord[static_cast<size_t>(previous)];
}

} // namespace tenon::data
