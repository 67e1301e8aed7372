#include "runtime/data/Text.h"
#include "runtime/data/Unicode.h"
#include "runtime/data/Utf8.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <glob.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::data {

/// What pipes held, by path: training and evaluation read the same text, and a pipe gives it once.
static std::map<std::string, std::string> &drainedPipes() {
  static std::map<std::string, std::string> texts;
  return texts;
}

Status readTextFile(const std::string &path, std::string &text) {
  if (auto drained = drainedPipes().find(path); drained != drainedPipes().end()) {
    text = drained->second;
    return {};
  }
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) {
    int reason = errno;
    if (file >= 0)
      close(file);
    return inputError("cannot read the text " + path + ": " + strerror(reason));
  }
  const bool endless = S_ISBLK(info.st_mode) || (S_ISCHR(info.st_mode) && !isatty(file));
  if (S_ISDIR(info.st_mode) || endless) {
    close(file);
    return inputError("cannot read the text " + path + ": it is a " + (endless ? "device" : "directory"));
  }
  text.clear();
  size_t piece = 1 << 20;
  if (S_ISREG(info.st_mode)) {
    text.reserve(static_cast<size_t>(info.st_size));
    piece = std::min(piece, static_cast<size_t>(info.st_size) + 1);
  }
  std::vector<char> buffer(piece);
  ssize_t got;
  while ((got = ::read(file, buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR))
    if (got > 0)
      text.append(buffer.data(), static_cast<size_t>(got));
  int reason = errno;
  close(file);
  if (got == 0 && !S_ISREG(info.st_mode))
    drainedPipes()[path] = text;
  return got == 0 ? Status() : inputError("cannot read the text " + path + ": " + strerror(reason));
}

Status readMarkedFile(const std::string &path, std::string &text) {
  Status status = readTextFile(path, text);
  if (status.failed())
    return status;
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return inputError(path, ": the file is UTF-16, and texts are read as UTF-8: iconv -f UTF-16 -t UTF-8 '", path, "' > NEW");
  if (text.starts_with("\xEF\xBB\xBF"))
    text.erase(0, 3);
  return status;
}

static std::string hexadecimal(char byte) {
  const char *digits = "0123456789ABCDEF";
  unsigned value = static_cast<unsigned char>(byte);
  return {digits[value >> 4], digits[value & 15]};
}

/// The pattern for `glob`: the folders in front that exist under their very names are none of it (those of a path that was made
/// absolute, or that stands behind --data).
static std::string withLiteralFolders(const std::string &pattern) {
  size_t literal = 0;
  std::error_code ignored;
  for (size_t end = pattern.find('/'); end != std::string::npos; end = pattern.find('/', end + 1)) {
    if (!std::filesystem::is_directory(pattern.substr(0, end + 1), ignored))
      break;
    literal = end + 1;
  }
  std::string result;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (i < literal && std::strchr("[]*?\\", pattern[i]))
      result += '\\';
    result += pattern[i];
  }
  return result;
}

Status listFiles(const std::string &pattern, std::vector<std::string> &paths) {
  struct stat info;
  if (stat(pattern.c_str(), &info) == 0) { // a file of that name is meant, whatever it would match
    paths.push_back(pattern);
    return {};
  }
  glob_t found{};
  int result = glob(withLiteralFolders(pattern).c_str(), 0, nullptr, &found);
  for (size_t i = 0; result == 0 && i < found.gl_pathc; ++i)
    paths.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  if (result == GLOB_NOMATCH) {
    std::error_code failed;
    const std::string full = std::filesystem::absolute(pattern, failed).string();
    return inputError(
        "there is no text ", failed ? pattern : full,
        pattern.starts_with('/') ? "" : "; a relative path is taken from the current folder, --data DIR names another one");
  }
  return result == 0 ? Status() : inputError("cannot list the texts ", pattern);
}

/// A replacement character for each bad byte would train on what nobody wrote.
static Status checkCharacters(const std::string &path, std::string_view text) {
  std::optional<size_t> bad = malformedAt(text);
  return bad ? inputError("the text ", path, " is not UTF-8: its byte ", *bad, " (0x", hexadecimal(text[*bad]),
                          ") belongs to no character; ", "convert it, or take bytes as symbols (unit = \"bytes\", --unit bytes)")
             : Status();
}

Status listTexts(const std::vector<std::string> &patterns, std::vector<std::string> &paths) {
  paths.clear();
  for (const std::string &pattern : patterns)
    if (Status status = listFiles(pattern, paths); status.failed())
      return status;
  return {};
}

Status readTexts(const std::vector<std::string> &patterns, Unit unit, std::string &text) {
  text.clear();
  std::vector<std::string> paths;
  if (Status status = listTexts(patterns, paths); status.failed())
    return status;
  for (const std::string &path : paths) {
    std::string one;
    if (Status status = unit == Unit::Bytes ? readTextFile(path, one) : readMarkedFile(path, one); status.failed())
      return status;
    const bool cutsCharacters = unit == Unit::Characters || unit == Unit::Words;
    if (Status status = cutsCharacters ? checkCharacters(path, one) : Status(); status.failed())
      return status;
    if (!text.empty() && text.back() != '\n')
      text += '\n';
    text += one;
  }
  return text.empty() ? inputError("the text ", patterns.empty() ? std::string("of the recipe") : patterns[0], " is empty")
                      : Status();
}

void Tokens::append(const std::vector<int32_t> &ids) {
  for (int32_t id : ids)
    for (int64_t i = 0; i < width; ++i)
      bytes.push_back(static_cast<unsigned char>(static_cast<uint32_t>(id) >> (8 * i)));
}

/// The first of the blanks that end with the one at `last`; behind them where nothing stands in front.
static size_t startOfBlanks(std::string_view text, size_t begin, size_t last) {
  const size_t word = text.substr(begin, last - begin).find_last_not_of(" \t\n\v\f\r");
  return word == std::string_view::npos ? last + 1 : begin + word + 1;
}

/// The last place up to `end` that a word ends in front of: at a blank, and of word pieces at a mark or an ideograph, each of
/// which is a word; behind `end`, the first blank or the end of the text, where there is none.
static size_t borderOfWords(const Vocabulary &vocabulary, std::string_view text, size_t begin, size_t end) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  for (size_t at = end - 1; at > begin; --at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
      continue;
    size_t next = at;
    const char32_t c = decodeCodePoint(text, next);
    if (kBlanks.find(text[at]) != std::string_view::npos || (vocabulary.isOfPieces() && (isPunctuation(c) || isIdeograph(c))))
      return at;
  }
  return std::min(text.find_first_of(kBlanks, end), text.size());
}

/// Where pieces of sentencepiece may be cut: the last blank for itself between letters or digits; `end` where there is none.
static size_t lastBlank(std::string_view text, size_t begin, size_t end) {
  auto isInWord = [&](size_t at) {
    const auto c = static_cast<unsigned char>(text[at]);
    return c >= 128 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
  };
  for (size_t at = std::min(end, text.size() - 1); at > begin + 1; --at)
    if (text[at - 1] == ' ' && isInWord(at) && isInWord(at - 2))
      return at - 1;
  return end;
}

/// The end of the part from `begin` on that is encoded at once, and in `next` where the part behind it begins.
static size_t endOfPart(const Vocabulary &vocabulary, std::string_view text, size_t begin, size_t &next) {
  constexpr size_t kPart = 1 << 20;
  next = text.size();
  if (text.size() - begin <= kPart)
    return next;
  // Cut behind a line end, else where no word goes on.
  const Unit unit = vocabulary.unit();
  const size_t line = text.rfind('\n', begin + kPart);
  size_t end = line != std::string_view::npos && line >= begin ? line + 1 : begin + kPart;
  if (unit == Unit::BytePairs && line != std::string_view::npos && line > begin)
    end = startOfBlanks(text, begin, line); // blanks in front of a word belong together
  if (unit == Unit::Words && text[end - 1] != '\n')
    end = borderOfWords(vocabulary, text, begin, end);
  const bool isPieces = unit == Unit::SentencePieces;
  if (isPieces)
    end = lastBlank(text, begin, begin + kPart);
  end -= unit == Unit::Characters || unit == Unit::BytePairs || isPieces ? incompleteTail(text.substr(begin, end - begin)) : 0;
  next = end + (isPieces && vocabulary.textsBeginWithBlank() && text[end] == ' ');
  return end;
}

Status tokenize(const Vocabulary &vocabulary, std::string_view text, Tokens &tokens) {
  tokens = Tokens(vocabulary.size());
  std::vector<int32_t> ids;
  for (size_t begin = 0, next = 0; begin < text.size(); begin = next) {
    const size_t end = endOfPart(vocabulary, text, begin, next);
    ids.clear();
    if (Status status = vocabulary.encode(text.substr(begin, end - begin), ids); !status.ok())
      return status;
    tokens.append(ids);
  }
  return {};
}

int64_t Sentences::documentOf(int64_t sentence) const {
  return std::upper_bound(documents.begin(), documents.end(), sentence) - documents.begin() - 1;
}

namespace {

/// Sentences whose tokens `encode` appends: of a line without its end, and with it.
template <typename Encode>
Status splitLines(const Vocabulary &vocabulary, std::string_view text, Encode encode, Sentences &result) {
  result = Sentences();
  result.tokens = Tokens(vocabulary.size());
  std::vector<int32_t> ids;
  bool documentOpen = false;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    bool blank = line.find_first_not_of(" \t") == std::string_view::npos;
    ids.clear();
    if (!blank)
      if (Status status = encode(line, text.substr(begin, std::min(end + 1, text.size()) - begin), ids); !status.ok())
        return status;
    begin = end + 1;
    if (ids.empty()) {
      documentOpen = false;
      continue;
    }
    if (!documentOpen)
      result.documents.push_back(static_cast<int64_t>(result.begins.size()));
    documentOpen = true;
    result.begins.push_back(result.tokens.size());
    result.tokens.append(ids);
  }
  result.documents.push_back(static_cast<int64_t>(result.begins.size()));
  result.begins.push_back(result.tokens.size());
  return {};
}

/// Of each byte whether its word begins with a capital; words as `basicWords` has them, whose marks and ideographs have none.
std::vector<bool> capitalsOf(std::string_view text) {
  std::vector<bool> result(text.size());
  bool inside = false, capital = false;
  for (size_t offset = 0; offset < text.size();) {
    const size_t begin = offset;
    const char32_t c = decodeCodePoint(text, offset);
    const bool isPart = !isWhiteSpace(c) && !isPunctuation(c) && !isIdeograph(c) && !isControl(c);
    capital = isPart && (inside ? capital : isUpperCase(c));
    inside = isPart;
    std::fill(result.begin() + static_cast<std::ptrdiff_t>(begin), result.begin() + static_cast<std::ptrdiff_t>(offset), capital);
  }
  return result;
}

/// The tokens of one unit, and what is known of each. Blanks around [[ and ]] belong to it: byte pairs have one in front of a
/// word.
Status encodeUnit(const Vocabulary &vocabulary, std::string_view unit, bool lower, std::vector<int32_t> &ids,
                  std::vector<uint8_t> &facts) {
  const size_t open = std::min(unit.find_first_not_of(' '), unit.size()), close = unit.find_last_not_of(' ') + 1;
  const std::string_view inner = unit.substr(open, std::max(open, close) - open);
  const bool entity = inner.size() >= 4 && inner.starts_with("[[") && inner.ends_with("]]");
  const std::string text =
      entity ? runtime::concat(unit.substr(0, open), inner.substr(2, inner.size() - 4), unit.substr(close)) : std::string(unit);
  const std::vector<bool> capitals = capitalsOf(text);
  std::vector<TextPlace> places;
  if (Status status = vocabulary.encode(lower ? lowerCase(text) : text, ids, &places); status.failed())
    return status;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto at = capitals.begin();
    const bool capital =
        std::find(at + static_cast<std::ptrdiff_t>(places[i].begin), at + static_cast<std::ptrdiff_t>(places[i].end), true) !=
        at + static_cast<std::ptrdiff_t>(places[i].end);
    facts.push_back(static_cast<uint8_t>((entity ? Sentences::Entity : 0) | (i > 0 ? Sentences::GoesOn : 0) |
                                         (capital ? Sentences::Capital : 0)));
  }
  return {};
}

} // namespace

Status splitSentences(const Vocabulary &vocabulary, std::string_view text, bool keepLineEnds, Sentences &result) {
  const bool keep = keepLineEnds && vocabulary.unit() != Unit::Words; // byte pairs have them
  auto encode = [&](std::string_view line, std::string_view withEnd, std::vector<int32_t> &ids) {
    return vocabulary.encode(keep ? withEnd : line, ids);
  };
  return splitLines(vocabulary, text, encode, result);
}

Status splitUnits(const Vocabulary &vocabulary, std::string_view text, bool lower, Sentences &result) {
  std::vector<uint8_t> all, facts;
  auto encode = [&](std::string_view line, std::string_view, std::vector<int32_t> &ids) -> Status {
    facts.clear();
    for (size_t begin = 0; begin <= line.size();) {
      const size_t end = std::min(line.find('\t', begin), line.size());
      if (Status status = encodeUnit(vocabulary, line.substr(begin, end - begin), lower, ids, facts); status.failed())
        return status;
      begin = end + 1;
    }
    all.insert(all.end(), facts.begin(), facts.end());
    return {};
  };
  Status status = splitLines(vocabulary, text, encode, result);
  result.facts = std::move(all);
  return status;
}

std::string lowerCase(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return result;
}

size_t heldOutBegin(std::string_view text, double fraction) {
  size_t cut = text.size() - static_cast<size_t>(static_cast<double>(text.size()) * fraction);
  size_t line = text.find('\n', cut); // its end leaves at least half of what is to be held out, or the line is cut
  if (line != std::string_view::npos && line - cut < std::min<size_t>(4096, (text.size() - cut) / 2))
    return line + 1;
  while (cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80)
    ++cut;
  return cut;
}

} // namespace tenon::data
