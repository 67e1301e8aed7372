// What is written here instead of what other languages write: remedies of mistakes in the grammar.
#pragma once
#include "frontend/syntax/Errors.h"

namespace tenon::syntax {

// Each gives the text of a help; empty: none is known.

/// A lexeme where a statement or an item is expected. `fresh`: it is the first of its line or body, so that a statement may be
/// meant by it; else it goes on behind what was taken for a whole statement.
std::string insteadOfStatement(const ParserState &state, const Lexeme &found, bool fresh);
/// A lexeme where an axis is expected.
std::string insteadOfAxis(const ParserState &state, const Lexeme &found);
/// A lexeme where `close`, ']' or ')', or what may stand before it is expected; `bracket`: the open one.
std::string insteadOfClosing(const ParserState &state, const Lexeme &found, char close, const char *bracket);
/// A lexeme where an expression, a name or a sign of the grammar is expected.
std::string insteadOfPlain(const ParserState &state, const Lexeme &found, const std::string &expected);

} // namespace tenon::syntax
