// Tokens with what the layout of `tenon fmt` has to know of each.
#pragma once
#include "frontend/syntax/Lexer.h"
#include <cstdint>
#include <string_view>
#include <vector>

namespace tenon::syntax {

/// What stands between two braces. `Top` is the file.
enum class BlockKind : uint8_t { Top, Statements, Settings, Names, Items };

struct FormatToken {
  std::string_view text;
  LexemeKind kind = LexemeKind::End; // of a comment: End
  BlockKind block = BlockKind::Top;  // of a brace: the kind of its block
  bool comment = false;
  bool starts = false;   // the first token of a statement, setting or item of the innermost block
  bool binary = false;   // an operator between two operands
  bool attached = false; // no blank before it
  uint8_t newlines = 0;  // before it: 0, 1, or 2 for blank lines
  unsigned column = 0;   // where the author wrote it, from 0; read for comments
  unsigned width = 0;    // in code points
  size_t match = 0;      // of a brace or bracket: its partner
  bool is(std::string_view word) const { return !comment && kind != LexemeKind::String && text == word; }
  bool opens() const { return is("(") || is("["); }
  bool closes() const { return is(")") || is("]"); }
};

/// All tokens of the text, comments among them.
std::vector<FormatToken> formatTokens(std::string_view text);
/// Code points of a text; a byte that is no UTF-8 counts as one.
unsigned widthOf(std::string_view text);

} // namespace tenon::syntax
