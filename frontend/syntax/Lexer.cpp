#include "frontend/syntax/Lexer.h"
#include <algorithm>
#include <cstdint>
#include <iterator>

namespace tenon::syntax {
namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

template <size_t count> bool contains(const std::string_view (&words)[count], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// Digits with single "_" between them. Returns where they end, null where a "_" has no digit behind it.
const char *digits(const char *p, const char *end) {
  while (p != end && isDigit(*p)) {
    ++p;
    if (p != end && *p == '_' && (++p == end || !isDigit(*p)))
      return nullptr;
  }
  return p;
}

const char *wordEnd(const char *p, const char *end) {
  while (p != end && (isLetter(*p) || isDigit(*p)))
    ++p;
  return p;
}

Lexeme lexNumber(const char *begin, const char *end) {
  const char *p = digits(begin, end);
  if (p && end - p >= 2 && *p == '.' && isDigit(p[1]))
    p = digits(p + 1, end);
  if (p && p != end && *p == 'e') {
    ++p;
    if (p != end && (*p == '+' || *p == '-'))
      ++p;
    p = p != end && isDigit(*p) ? digits(p, end) : nullptr;
  }
  if (p && (p == end || !isLetter(*p)))
    return {LexemeKind::Number, begin, p};
  const char *stop = wordEnd(begin, end);
  if (stop != end && (*stop == '.' || *stop == '+' || *stop == '-') && stop + 1 != end && isDigit(stop[1]))
    stop = wordEnd(stop + 1, end);
  return {LexemeKind::Bad, begin, stop};
}

Lexeme lexString(const char *begin, const char *end) {
  const char *p = begin + 1;
  while (p != end && *p != '"' && *p != '\n' && *p != '\0')
    ++p;
  if (p != end && *p == '"')
    return {LexemeKind::String, begin, p + 1};
  while (p - begin > 1 && p[-1] == '\r')
    --p;
  return {LexemeKind::Bad, begin, p};
}

bool continuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

} // namespace

bool isKeyword(std::string_view word) {
  static constexpr std::string_view words[] = {
      "model", "layer", "fn",  "train", "import", "config", "dim",    "require", "in",    "param", "state",
      "next",  "use",   "let", "out",   "loss",   "return", "attend", "scan",    "carry", "yield", "stack",
      "loop",  "until", "and", "or",    "not",    "mod",    "div",    "if",      "then",  "else",  "bind"};
  return contains(words, word);
}

bool startsStatement(std::string_view word) {
  static constexpr std::string_view words[] = {"config", "dim",  "require", "in",    "param", "state", "next",  "use", "let",
                                               "out",    "loss", "return",  "until", "carry", "yield", "layer", "fn"};
  return contains(words, word);
}

bool startsOnlyItem(std::string_view word) { return word == "model" || word == "train" || word == "import"; }

bool startsAttendItem(std::string_view word) {
  static constexpr std::string_view words[] = {"score", "scale", "mask", "drop", "value"};
  return contains(words, word);
}

const char *skipBlanks(const char *p, const char *end) {
  for (;;) {
    while (p != end && isBlank(*p))
      ++p;
    if (p == end || *p != '#')
      return p;
    while (p != end && *p != '\n')
      ++p;
  }
}

Lexeme lex(const char *p, const char *end) {
  p = skipBlanks(p, end);
  if (p == end)
    return {LexemeKind::End, end, end};
  if (isLetter(*p))
    return {LexemeKind::Word, p, wordEnd(p, end)};
  if (isDigit(*p))
    return lexNumber(p, end);
  if (*p == '"')
    return lexString(p, end);
  if (end - p >= 2) {
    static constexpr std::string_view pairs[] = {"->", "..", "==", "!=", "<=", ">="};
    if (contains(pairs, std::string_view(p, 2)))
      return {LexemeKind::Operator, p, p + 2};
  }
  if (std::string_view("-+*/^<>=~:,.(){}[]").find(*p) != std::string_view::npos)
    return {LexemeKind::Operator, p, p + 1};
  return {LexemeKind::Bad, p, p + std::max(1u, utf8Length(p, end))};
}

unsigned utf8Length(const char *p, const char *end) {
  auto byte = static_cast<uint8_t>(*p);
  if (byte < 0x80)
    return 1;
  unsigned length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
  if (byte < 0xC2 || byte > 0xF4 || end - p < static_cast<long>(length))
    return 0;
  for (unsigned i = 1; i < length; ++i)
    if (!continuation(p[i]))
      return 0;
  auto second = static_cast<uint8_t>(p[1]);
  bool overlong = (byte == 0xE0 && second < 0xA0) || (byte == 0xF0 && second < 0x90);
  bool outside = (byte == 0xED && second >= 0xA0) || (byte == 0xF4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

bool firstOnLine(const char *fileBegin, const char *p) {
  while (p != fileBegin && (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\r'))
    --p;
  return p == fileBegin || p[-1] == '\n';
}

const char *startOfLine(const char *fileBegin, const char *p) {
  while (p != fileBegin && p[-1] != '\n')
    --p;
  return p;
}

unsigned indentation(const char *fileBegin, const char *p) {
  const char *line = startOfLine(fileBegin, p);
  unsigned count = 0;
  while (line + count < p && (line[count] == ' ' || line[count] == '\t'))
    ++count;
  return count;
}

bool startsMetric(const Lexeme &found, const char *end) {
  return found.is("metric") && lex(found.end, end).kind == LexemeKind::Word;
}

bool isStart(const Lexeme &found, const char *end) {
  return found.kind == LexemeKind::Word &&
         (startsStatement(found.text()) || startsOnlyItem(found.text()) || startsMetric(found, end));
}

} // namespace tenon::syntax
