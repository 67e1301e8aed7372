// Lexemes of the language, found by hand: the X3 grammar, error recovery and error messages all look at text through `lex`, so
// they never disagree about where a token ends. No Boost here.
#pragma once
#include <string_view>

namespace tenon::syntax {

enum class LexemeKind { End, Word, Number, String, Operator, Bad };

/// A token [begin, end) of the text. `Bad` is a character that starts no token, an open string or a malformed number.
struct Lexeme {
  LexemeKind kind = LexemeKind::End;
  const char *begin = nullptr;
  const char *end = nullptr;
  std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
  bool is(std::string_view word) const { return kind != LexemeKind::String && kind != LexemeKind::End && text() == word; }
};

/// First position at or after `p` that is neither blank nor part of a comment; `end` if there is none.
const char *skipBlanks(const char *p, const char *end);
/// The token that starts at the first non-blank at or after `p`. Operators take the longest match, so `-` never matches in `->`.
Lexeme lex(const char *p, const char *end);

/// Words that can never be a NAME.
bool isKeyword(std::string_view word);
/// Words that start a statement of a body.
bool startsStatement(std::string_view word);
/// Keywords that start a top-level item and never a statement.
bool startsOnlyItem(std::string_view word);
/// Words that start an item of `attend { }`; they are reserved nowhere else.
bool startsAttendItem(std::string_view word);

/// Length of the UTF-8 sequence at `p` (1..4), or 0 where the bytes are no valid UTF-8.
unsigned utf8Length(const char *p, const char *end);
/// True if only blanks stand between the start of the line and `p`.
bool firstOnLine(const char *fileBegin, const char *p);
const char *startOfLine(const char *fileBegin, const char *p);
/// Blanks and tabs at the start of the line of `p`.
unsigned indentation(const char *fileBegin, const char *p);
/// `metric NAME`: the one statement whose word is no keyword, and may name something elsewhere.
bool startsMetric(const Lexeme &found, const char *end);
/// Is it a word that starts a statement or a top-level item?
bool isStart(const Lexeme &found, const char *end);

} // namespace tenon::syntax
