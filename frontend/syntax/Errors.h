// What the grammar reports to, and where it goes on after a mistake. Works on lexemes; no Boost.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/syntax/Lexer.h"

namespace tenon::syntax {

constexpr unsigned kNestingLimit = 256;
constexpr unsigned kMistakeLimit = 50;

/// Carried through the X3 context. `begin` .. `end` is the text of file `file`.
struct ParserState {
  const char *begin = nullptr;
  const char *end = nullptr;
  uint32_t file = 0;
  Diagnostics *diagnostics = nullptr;
  unsigned depth = 0;                // nested[] directives entered
  const char *lastMistake = nullptr; // a second mistake at the same place is a consequence of the first
  unsigned mistakes = 0;
  std::vector<const char *> reportedBrackets; // "never closed" was said of these

  /// Reports a mistake; throws TooManyMistakes after kMistakeLimit of them.
  Diagnostic &mistake(const char *code, ast::Range range, std::string message, std::string label = {});

  ast::Range range(const char *from, const char *to) const {
    if (!from) // a token that was not there
      return {file, 0, 0};
    return {file, static_cast<uint32_t>(from - begin), static_cast<uint32_t>(to - begin)};
  }
};

/// Thrown by nested[] and caught by resync[].
struct TooDeep {
  const char *where;
};
/// Thrown after kMistakeLimit mistakes and caught by parse().
struct TooManyMistakes {};

/// What a list is made of; says where parsing goes on after a mistake in one element.
enum class ListKind { Statements, Items, Settings, AttendItems };

/// Reports that `expected` (a phrase like "a name" or "')'") does not stand behind `where`.
void reportUnexpected(ParserState &state, const char *where, const std::string &expected);
/// Reports nesting deeper than kNestingLimit.
void reportTooDeep(ParserState &state, const char *where);
/// True where a list of this kind ends: at '}', at the end of the text, at a keyword that can only follow the list.
bool endsList(const ParserState &state, ListKind kind, const char *p);
/// The phrase for an element of the list.
const char *elementName(ListKind kind);
/// Where to go on after a mistake at `where` in the element that starts at `start`; always behind the first lexeme of `start`
/// or at the end of the list.
const char *synchronize(const ParserState &state, ListKind kind, const char *start, const char *where);
/// Behind the '{' that follows a mistake in a header; null if a statement or the end of the block comes first.
const char *findBody(const ParserState &state, const char *where);

} // namespace tenon::syntax
