#include "runtime/data/Vocabulary.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Json.h"
#include "runtime/data/Text.h"
#include "runtime/data/Utf8.h"
#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace tenon::data {

namespace {

constexpr std::array<const char *, 8> kSpecials = {"<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<eod>", "<eop>", "<eos>"};

bool isAsciiPunctuation(unsigned char c) {
  return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
}
bool isBlank(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13); }
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

Status Vocabulary::read(const std::string &path, Vocabulary &result) {
  std::string text;
  if (Status status = readTextFile(path, text); !status.ok())
    return status;
  result = Vocabulary();
  result.kind = Unit::Words;
  std::string_view rest = text;
  if (rest.substr(0, 3) == "\xEF\xBB\xBF")
    rest.remove_prefix(3);
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    if (line.empty() && rest.empty())
      break;
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

static std::string saveClasses(const std::map<std::string, std::vector<std::string>> &classes) {
  std::string text;
  for (const auto &[input, names] : classes) {
    text += runtime::concat(text.empty() ? ", \"classes\": {" : ", ", runtime::quoteJson(input), ": [");
    for (size_t i = 0; i < names.size(); ++i)
      text += (i ? ", " : "") + runtime::quoteJson(names[i]);
    text += "]";
  }
  return text.empty() ? text : text + "}";
}

/// Null: damaged.
static std::optional<std::map<std::string, std::vector<std::string>>> restoreClasses(const runtime::JsonValue *saved) {
  std::map<std::string, std::vector<std::string>> classes;
  if (saved && !saved->isObject())
    return std::nullopt;
  for (size_t i = 0; saved && i < saved->members.size(); ++i) {
    const auto &[input, names] = saved->members[i];
    for (const runtime::JsonValue &name : names.elements)
      classes[input].push_back(name.text);
    // A name is found by halving.
    if (names.elements.empty() ||
        std::adjacent_find(classes[input].begin(), classes[input].end(), std::greater_equal<>()) != classes[input].end() ||
        !std::all_of(names.elements.begin(), names.elements.end(),
                     [](const runtime::JsonValue &name) { return name.isString(); }))
      return std::nullopt;
  }
  return classes;
}

std::string Vocabulary::save() const {
  std::string text = runtime::concat("{\"unit\": \"",
                                     kind == Unit::Bytes        ? "bytes"
                                     : kind == Unit::Characters ? "characters"
                                                                : "words",
                                     "\", \"specials\": ", kind == Unit::Words || !symbols.empty() ? "true" : "false");
  if (kind == Unit::Characters) {
    std::string characters;
    for (char32_t c : points)
      appendCodePoint(characters, c);
    text += ", \"characters\": " + runtime::quoteJson(characters);
  }
  if (kind == Unit::Words) {
    text += ", \"words\": [";
    for (size_t i = 0; i < symbols.size(); ++i)
      text += (i ? ",\n" : "\n") + runtime::quoteJson(symbols[i]);
    text += "]";
  }
  return text + saveClasses(classes) + "}\n";
}

Status Vocabulary::restore(std::string_view text, Vocabulary &result) {
  auto damaged = [](const char *what) { return inputError("the saved vocabulary of the run is damaged: ", what); };
  runtime::Expected<runtime::JsonValue> json = runtime::parseJson(text, {.bytes = 1ull << 30, .depth = 4, .values = 1ull << 26});
  if (!json.ok())
    return damaged(json.status().message().c_str());
  const runtime::JsonValue *unit = json->find("unit"), *specials = json->find("specials");
  if (!unit || !unit->isString() || !specials || specials->kind != runtime::JsonValue::Kind::Bool)
    return damaged("it has no unit");
  auto classes = restoreClasses(json->find("classes"));
  if (!classes)
    return damaged("its classes are not sorted names");
  if (unit->text == "bytes") {
    result = bytes(specials->truth);
    result.classes = std::move(*classes);
    return {};
  }
  if (unit->text == "characters") {
    const runtime::JsonValue *all = json->find("characters");
    if (!all || !all->isString())
      return damaged("it has no characters");
    result = characters(all->text, specials->truth);
    return {};
  }
  const runtime::JsonValue *words = json->find("words");
  if (unit->text != "words" || !words || !words->isArray() || words->elements.empty())
    return damaged("it has no words");
  result = Vocabulary();
  result.kind = Unit::Words;
  for (const runtime::JsonValue &word : words->elements) {
    if (!word.isString())
      return damaged("a word is not a string");
    result.symbols.push_back(word.text);
    result.pieces |= word.text.size() > 2 && word.text.compare(0, 2, "##") == 0;
  }
  result.count = static_cast<int64_t>(result.symbols.size());
  result.index();
  return {};
}

std::string Vocabulary::note() const {
  if (kind != Unit::Words)
    return save();
  return runtime::concat("{\"unit\": \"words\", \"symbols\": ", count,
                         ", \"xxh3\": ", runtime::quoteJson(runtime::hash128(save())), "}\n");
}

runtime::Expected<std::optional<Vocabulary>> Vocabulary::ofNote(const std::string &text) {
  if (text.empty() || text.starts_with("{\"unit\": \"words\""))
    return std::optional<Vocabulary>();
  Vocabulary result;
  if (Status status = restore(text, result); status.failed())
    return status;
  return std::optional<Vocabulary>(std::move(result));
}

std::optional<int32_t> Vocabulary::find(std::string_view symbol) const {
  auto found = ids.find(std::string(symbol));
  if (found == ids.end())
    return std::nullopt;
  return found->second;
}

std::optional<int32_t> Vocabulary::special(std::string_view name) const {
  std::string lower(name), upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
  if (auto id = find("<" + lower + ">"))
    return id;
  return find("[" + upper + "]");
}

bool Vocabulary::isSpecial(int32_t id) const {
  if (kind != Unit::Words)
    return id >= firstSpecial;
  const std::string &symbol = symbols[static_cast<size_t>(id)];
  if (symbol.size() < 3)
    return false;
  return (symbol.front() == '<' && symbol.back() == '>') || (symbol.front() == '[' && symbol.back() == ']');
}

bool Vocabulary::wordCharacter(int32_t id) const {
  if (id < 0 || id >= firstSpecial)
    return false;
  return isWordPoint(kind == Unit::Bytes ? static_cast<char32_t>(id) : points[static_cast<size_t>(id)]);
}

bool Vocabulary::continuesWord(int32_t previous, int32_t id) const {
  if (kind == Unit::Words)
    return previous >= 0 && pieces && symbols[static_cast<size_t>(id)].compare(0, 2, "##") == 0 && !isSpecial(previous);
  return wordCharacter(previous) && wordCharacter(id);
}

Status Vocabulary::encodeWord(std::string_view word, std::vector<int32_t> &result, std::vector<size_t> &ends) const {
  size_t before = result.size(), begin = 0;
  ends.clear();
  std::string candidate;
  while (begin < word.size()) {
    size_t end = word.size();
    std::optional<int32_t> id;
    for (; end > begin; --end) {
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

Status Vocabulary::encode(std::string_view text, std::vector<int32_t> &result, std::vector<TextPlace> *places) const {
  if (kind == Unit::Bytes) {
    result.reserve(result.size() + text.size());
    for (size_t i = 0; i < text.size(); ++i) {
      result.push_back(static_cast<unsigned char>(text[i]));
      if (places)
        places->push_back({i, i + 1});
    }
    return {};
  }
  if (kind == Unit::Characters) {
    for (size_t offset = 0; offset < text.size();) {
      const size_t begin = offset;
      char32_t c = decodeCodePoint(text, offset);
      if (isMalformed(c, offset - begin))
        return inputError("it is not UTF-8: its byte " + std::to_string(begin) + " belongs to no character");
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
  std::optional<int32_t> endOfLine = special("eos");
  size_t begin = 0;
  std::vector<size_t> ends;
  auto flush = [&](size_t end) -> Status {
    Status status = begin < end ? encodeWord(text.substr(begin, end - begin), result, ends) : Status();
    for (size_t i = 0; places && status.ok() && begin < end && i < ends.size(); ++i)
      places->push_back({begin + (i > 0 ? ends[i - 1] : 0), begin + ends[i]});
    begin = end;
    return status;
  };
  for (size_t i = 0; i <= text.size(); ++i) {
    bool blank = i == text.size() || isBlank(static_cast<unsigned char>(text[i]));
    bool mark = pieces && !blank && isAsciiPunctuation(static_cast<unsigned char>(text[i]));
    if (!blank && !mark)
      continue;
    if (Status status = flush(i); !status.ok())
      return status;
    if (mark) {
      if (Status status = flush(i + 1); !status.ok())
        return status;
    } else {
      begin = i + 1;
    }
    if (endOfLine && i < text.size() && text[i] == '\n') {
      result.push_back(*endOfLine);
      if (places)
        places->push_back({i, i + 1});
    }
  }
  return {};
}

std::string Vocabulary::text(int32_t id, int32_t previous) const {
  if (id < 0 || id >= count)
    return {};
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
