#include "runtime/data/Vocabulary.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Json.h"
#include "runtime/data/BasicWords.h"
#include "runtime/data/Text.h"
#include "runtime/data/Unicode.h"
#include "runtime/data/Utf8.h"
#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <functional>

namespace tenon::data {

using runtime::concat;

namespace {

constexpr std::array<const char *, 8> kSpecials = {"<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<eod>", "<eop>", "<eos>"};

bool isBlank(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13); }
size_t charactersOf(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}
Status notUtf8(size_t byte) { return inputError("it is not UTF-8: its byte ", byte, " belongs to no character"); }
bool isWordPoint(char32_t c) { return c >= 128 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

} // namespace

void Vocabulary::addSpecials() {
  firstSpecial = count;
  for (const char *name : kSpecials)
    symbols.emplace_back(name);
  count += static_cast<int64_t>(kSpecials.size());
}

void Vocabulary::index() {
  ids.clear();
  ids.reserve(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i)
    ids.emplace(symbols[i], static_cast<int32_t>(firstSpecial + static_cast<int64_t>(i)));
  auto hasCapital = [](const std::string &symbol) {
    for (size_t offset = 0; offset < symbol.size();)
      if (isUpperCase(decodeCodePoint(symbol, offset)))
        return true;
    return false;
  };
  marks.clear();
  for (const char *name : {"pad", "unk", "cls", "sep", "mask"})
    if (const auto id = pieces ? special(name) : std::nullopt)
      marks.push_back(*id);
  lower = pieces;
  for (size_t i = 0; i < symbols.size() && lower; ++i)
    lower = isSpecial(static_cast<int32_t>(i)) || !hasCapital(symbols[i]);
}

Vocabulary Vocabulary::bytes(bool specials) {
  Vocabulary result;
  result.kind = Unit::Bytes;
  result.count = result.firstSpecial = 256;
  if (specials)
    result.addSpecials();
  result.index();
  return result;
}

Vocabulary Vocabulary::characters(std::string_view text, bool specials) {
  Vocabulary result;
  result.kind = Unit::Characters;
  std::vector<uint64_t> seen(0x110000 / 64); // one bit per code point
  for (size_t offset = 0; offset < text.size();) {
    const char32_t point = decodeCodePoint(text, offset);
    seen[point / 64] |= uint64_t{1} << point % 64;
  }
  for (size_t word = 0; word < seen.size(); ++word)
    for (uint64_t bits = seen[word]; bits != 0; bits &= bits - 1)
      result.points.push_back(static_cast<char32_t>(word * 64 + static_cast<size_t>(std::countr_zero(bits))));
  result.count = result.firstSpecial = static_cast<int64_t>(result.points.size());
  if (specials)
    result.addSpecials();
  result.index();
  return result;
}

Status Vocabulary::readWords(const std::string &path, Vocabulary &result) {
  std::string text;
  if (Status status = readMarkedFile(path, text); !status.ok())
    return status;
  result = Vocabulary();
  result.kind = Unit::Words;
  std::string_view rest = text;
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    if (line.empty() && rest.empty())
      break;
    if (const size_t tab = line.find('\t'); tab != std::string_view::npos) { // Baidu's: the symbol, a tab and its id
      if (line.substr(tab + 1) != std::to_string(result.symbols.size()))
        return inputError("the vocabulary file ", path, " has a tab in line ", result.symbols.size() + 1,
                          "; expected a symbol in each line, or a symbol, a tab and the number of its line from 0, here ",
                          result.symbols.size());
      line = line.substr(0, tab);
    }
    if (malformedAt(line)) // the copy that a run keeps is JSON, and could not be read again
      return inputError("the vocabulary file ", path, " is not UTF-8 in line ", result.symbols.size() + 1,
                        "; convert it, and the texts with it");
    result.pieces |= line.size() > 2 && line.substr(0, 2) == "##";
    result.symbols.emplace_back(line);
  }
  if (result.symbols.empty())
    return inputError("the vocabulary file " + path + " has no symbols");
  if (result.symbols.size() > static_cast<size_t>(INT32_MAX))
    return inputError("the vocabulary file " + path + " has more than 2147483647 lines");
  result.count = static_cast<int64_t>(result.symbols.size());
  result.index();
  if (result.ids.size() != result.symbols.size())
    for (size_t i = 0; i < result.symbols.size(); ++i)
      if (int32_t first = result.ids[result.symbols[i]]; first != static_cast<int32_t>(i))
        return inputError("the vocabulary file " + path + " has '" + result.symbols[i] + "' in line " +
                          std::to_string(first + 1) + " and again in line " + std::to_string(i + 1));
  return {};
}

Status Vocabulary::takePieces(std::string file, int64_t sentinels) {
  *this = Vocabulary();
  kind = Unit::SentencePieces;
  if (Status status = SentencePieces::make(std::move(file), sentinels, sentence); status.failed())
    return status;
  symbols = sentence.pieces();
  count = static_cast<int64_t>(symbols.size());
  index();
  return {};
}

Status Vocabulary::readPieces(const std::string &path, int64_t sentinels, Vocabulary &result) {
  std::string file;
  if (Status status = readTextFile(path, file); status.failed())
    return status;
  return result.takePieces(std::move(file), sentinels).in(concat("the model of sentencepiece ", path));
}

Status Vocabulary::read(const std::string &path, const std::string &merges, Vocabulary &result, int64_t sentinels) {
  const std::filesystem::path file(path);
  if (merges.empty() && file.extension() != ".json") {
    std::string bytes;
    if (Status status = readTextFile(path, bytes); status.failed())
      return status;
    const bool isModel = file.extension() == ".model" || PieceFile::isLike(bytes);
    return isModel ? readPieces(path, sentinels, result) : readWords(path, result);
  }
  std::string text;
  if (Status status = readMarkedFile(path, text); status.failed())
    return status;
  if (text.starts_with("{\"unit\": \"")) // what `save` begins with; a symbol has a number
    return restore(text, result).in(path);
  result = Vocabulary();
  result.kind = Unit::BytePairs;
  std::vector<std::string> lines;
  const std::string beside = merges.empty() ? (file.parent_path() / "merges.txt").string() : merges;
  if (Status status = BytePairs::parseSymbols(text, path, result.symbols); status.failed())
    return status;
  if (Status status = BytePairs::readMerges(beside, lines); status.failed())
    return status;
  if (Status status = BytePairs::make(result.symbols, std::move(lines), result.pairs); status.failed())
    return status.in(concat(path, " with ", beside));
  result.count = static_cast<int64_t>(result.symbols.size());
  result.index();
  return {};
}

bool Vocabulary::wordCharacter(int32_t id) const {
  if (id < 0 || id >= firstSpecial)
    return false;
  return isWordPoint(kind == Unit::Bytes ? static_cast<char32_t>(id) : points[static_cast<size_t>(id)]);
}

bool Vocabulary::continuesWord(int32_t previous, int32_t id) const {
  if (kind == Unit::BytePairs)
    return pairs.continuesWord(previous, id);
  if (kind == Unit::SentencePieces)
    return sentence.continuesWord(previous, id);
  if (kind == Unit::Words)
    return previous >= 0 && pieces && symbols[static_cast<size_t>(id)].compare(0, 2, "##") == 0 && !isSpecial(previous);
  return wordCharacter(previous) && wordCharacter(id);
}

Status Vocabulary::encodeWord(std::string_view word, std::vector<int32_t> &result, std::vector<size_t> &ends) const {
  constexpr size_t kLongest = 100; // characters of a word that is cut into pieces (Hugging Face's BertTokenizer)
  size_t before = result.size(), begin = 0;
  ends.clear();
  const bool isLong = pieces && charactersOf(word) > kLongest;
  std::string candidate;
  while (begin < word.size()) {
    size_t end = word.size();
    std::optional<int32_t> id;
    for (; end > begin && !isLong; --end) {
      candidate.assign(begin > 0 ? "##" : "").append(word.substr(begin, end - begin));
      if ((id = find(candidate)) || !pieces)
        break;
    }
    if (!id) {
      // One unknown part makes the whole word unknown, as in WordPiece.
      result.resize(before);
      id = special("unk");
      if (!id)
        return inputError("the word '" + std::string(word) + "' is not in the vocabulary, which has no <unk> or [UNK]");
      result.push_back(*id);
      ends = {word.size()};
      return {};
    }
    result.push_back(*id);
    ends.push_back(end);
    begin = end;
  }
  return {};
}

Status Vocabulary::encodeCharacters(std::string_view text, std::vector<int32_t> &result, std::vector<TextPlace> *places) const {
  for (size_t offset = 0; offset < text.size();) {
    const size_t begin = offset;
    char32_t c = decodeCodePoint(text, offset);
    if (isMalformed(c, offset - begin))
      return notUtf8(begin);
    auto at = std::lower_bound(points.begin(), points.end(), c);
    if (at == points.end() || *at != c) {
      std::string spelling;
      appendCodePoint(spelling, c);
      return inputError("the character '" + spelling + "' is not among the characters of the training text");
    }
    result.push_back(static_cast<int32_t>(at - points.begin()));
    if (places)
      places->push_back({begin, offset});
  }
  return {};
}

Status Vocabulary::encodeBasic(std::string_view text, size_t begin, std::vector<int32_t> &result,
                               std::vector<TextPlace> *places) const {
  const std::optional<int32_t> endOfLine = special("eos");
  std::vector<size_t> ends;
  auto lineEnd = [&](size_t at) {
    if (!endOfLine)
      return;
    result.push_back(*endOfLine);
    if (places)
      places->push_back({begin + at, begin + at + 1});
  };
  return basicWords(
      text, lower,
      [&](const BasicWord &word) {
        Status status = encodeWord(word.text, result, ends);
        for (size_t i = 0; places && status.ok() && i < ends.size(); ++i)
          places->push_back({begin + word.bytes[i > 0 ? ends[i - 1] : 0].begin, begin + word.bytes[ends[i] - 1].end});
        return status;
      },
      lineEnd);
}

Status Vocabulary::encodePieces(std::string_view text, std::vector<int32_t> &result, std::vector<TextPlace> *places) const {
  size_t begin = 0; // of what is not encoded yet
  for (size_t at = text.find_first_of("[<"); at != std::string_view::npos; at = text.find_first_of("[<", at)) {
    const auto mark = std::find_if(marks.begin(), marks.end(),
                                   [&](int32_t id) { return text.substr(at).starts_with(symbols[static_cast<size_t>(id)]); });
    if (mark == marks.end()) {
      ++at;
      continue;
    }
    if (Status status = encodeBasic(text.substr(begin, at - begin), begin, result, places); status.failed())
      return status;
    result.push_back(*mark);
    begin = at + symbols[static_cast<size_t>(*mark)].size();
    if (places)
      places->push_back({at, begin});
    at = begin;
  }
  return encodeBasic(text.substr(begin), begin, result, places);
}

Status Vocabulary::encodeWords(std::string_view text, std::vector<int32_t> &result, std::vector<TextPlace> *places) const {
  std::optional<int32_t> endOfLine = special("eos");
  std::vector<size_t> ends;
  for (size_t begin = 0, i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !isBlank(static_cast<unsigned char>(text[i])))
      continue;
    if (Status status = begin < i ? encodeWord(text.substr(begin, i - begin), result, ends) : Status(); status.failed())
      return status;
    if (places && begin < i)
      places->push_back({begin, i});
    begin = i + 1;
    if (endOfLine && i < text.size() && text[i] == '\n') {
      result.push_back(*endOfLine);
      if (places)
        places->push_back({i, i + 1});
    }
  }
  return {};
}

Status Vocabulary::encode(std::string_view text, std::vector<int32_t> &result, std::vector<TextPlace> *places) const {
  switch (kind) {
  case Unit::Bytes:
    result.reserve(result.size() + text.size());
    for (size_t i = 0; i < text.size(); ++i) {
      result.push_back(static_cast<unsigned char>(text[i]));
      if (places)
        places->push_back({i, i + 1});
    }
    return {};
  case Unit::Characters:
    return encodeCharacters(text, result, places);
  case Unit::BytePairs:
    if (!pairs.isOfBytes())
      break;
    return pairs.encode(text, result, places);
  case Unit::SentencePieces:
    return sentence.encode(text, result, places);
  case Unit::Words:
    break;
  }
  if (const auto bad = malformedAt(text)) // cutting words would leave it out
    return notUtf8(*bad);
  if (kind == Unit::BytePairs)
    return pairs.encode(text, result, places);
  return pieces ? encodePieces(text, result, places) : encodeWords(text, result, places);
}

std::string Vocabulary::text(int32_t id, int32_t previous) const {
  if (id < 0 || id >= count)
    return {};
  if (previous >= count) // of a model's table that is larger
    previous = -1;
  std::string result;
  if (kind == Unit::Bytes) {
    if (id < 256)
      result += static_cast<char>(id);
    return result;
  }
  if (kind == Unit::Characters) {
    if (id < firstSpecial)
      appendCodePoint(result, points[static_cast<size_t>(id)]);
    return result;
  }
  if (kind == Unit::BytePairs)
    return pairs.text(id, previous);
  if (kind == Unit::SentencePieces)
    return sentence.text(id, previous);
  const std::string &symbol = symbols[static_cast<size_t>(id)];
  if (symbol == "<eos>")
    return "\n";
  if (isSpecial(id) && symbol != "<unk>" && symbol != "[UNK]")
    return {};
  if (continuesWord(previous, id))
    return symbol.substr(2);
  bool atStart = previous < 0 || symbols[static_cast<size_t>(previous)] == "<eos>";
  return (atStart ? "" : " ") + symbol;
}

} // namespace tenon::data
