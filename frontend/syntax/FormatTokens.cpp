#include "frontend/syntax/FormatTokens.h"
#include <algorithm>

namespace tenon::syntax {
namespace {

constexpr unsigned kTab = 8;

/// Blanks, line ends and comments before and between tokens.
class Scanner {
public:
  explicit Scanner(std::string_view text) : p(text.data()), end(text.data() + text.size()) {
    if (text.starts_with("\xEF\xBB\xBF")) // a byte order mark
      p += 3;
  }

  std::vector<FormatToken> scan() {
    std::vector<FormatToken> tokens;
    for (FormatToken token; next(token);)
      tokens.push_back(token);
    return tokens;
  }

private:
  void blanks(FormatToken &token) {
    for (; p != end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'); ++p) {
      if (*p == '\n')
        token.newlines = std::min(2, token.newlines + 1);
      column = *p == '\n' ? 0 : *p == '\t' ? (column / kTab + 1) * kTab : *p == '\r' ? column : column + 1;
    }
  }

  bool next(FormatToken &token) {
    token = {};
    blanks(token);
    if (p == end)
      return false;
    const char *stop = p;
    if (*p == '#') {
      token.comment = true;
      stop = std::find(p, end, '\n');
    } else {
      Lexeme found = lex(p, end);
      token.kind = found.kind;
      stop = found.end;
    }
    token.text = {p, static_cast<size_t>(stop - p)};
    if (token.comment)
      token.text = token.text.substr(0, token.text.find_last_not_of(" \t\r") + 1);
    token.width = widthOf(token.text);
    token.column = column;
    column += token.width;
    p = stop;
    return true;
  }

  const char *p, *end;
  unsigned column = 0;
};

/// Finds blocks, the starts of their elements, pairs of brackets, operators and blanks, in the order of the text.
class Marker {
public:
  explicit Marker(std::vector<FormatToken> &tokens) : tokens(tokens) {}

  void mark() {
    blocks.push_back({BlockKind::Top, 0});
    for (size_t i = 0; i < tokens.size(); ++i)
      if (!tokens[i].comment) {
        one(i);
        before = &tokens[i];
      }
  }

private:
  struct Block {
    BlockKind kind;
    unsigned brackets; // open ones
  };

  static bool endsOperand(const FormatToken *token) {
    if (!token || (token->starts && token->kind == LexemeKind::Word))
      return false;
    bool word = token->kind == LexemeKind::Word && !isKeyword(token->text);
    return word || token->kind == LexemeKind::Number || token->kind == LexemeKind::String || token->closes() || token->is("}");
  }

  bool starts(size_t i) const {
    const FormatToken &token = tokens[i];
    const Block &block = blocks.back();
    bool first = !before || before->is("{");
    if (block.brackets > 0 || (!first && !endsOperand(before)) || token.is("}"))
      return false;
    switch (block.kind) {
    case BlockKind::Top: // `as` and names stand before a brace
      return token.kind == LexemeKind::Word && (first || before->is("}") || before->kind == LexemeKind::String);
    case BlockKind::Statements:
      return token.kind == LexemeKind::Word &&
             (startsStatement(token.text) || (token.is("metric") && following(i).kind == LexemeKind::Word));
    case BlockKind::Settings:
    case BlockKind::Names:
      return token.is("bind") || ((token.kind == LexemeKind::Word || token.kind == LexemeKind::String) && following(i).is("="));
    case BlockKind::Items:
      return token.kind == LexemeKind::Word && startsAttendItem(token.text);
    }
    return false;
  }

  const FormatToken &following(size_t i) const {
    static const FormatToken none;
    for (++i; i < tokens.size(); ++i)
      if (!tokens[i].comment)
        return tokens[i];
    return none;
  }

  /// What the next brace holds is what the last of these words says.
  void expect(const FormatToken &token) {
    bool top = token.starts && blocks.back().kind == BlockKind::Top;
    if (token.is("attend"))
      expected = BlockKind::Items;
    else if (token.is("scan") || token.is("layer") || token.is("fn") || (top && token.is("model")))
      expected = BlockKind::Statements;
    else if (top && (token.is("train") || token.is("generate")))
      expected = BlockKind::Settings;
    else if (top && token.is("names"))
      expected = BlockKind::Names;
  }

  void pair(size_t i) {
    FormatToken &token = tokens[i];
    if (token.opens() || token.is("{")) {
      if (token.is("{")) {
        token.block = expected;
        blocks.push_back({expected, 0});
      } else {
        ++blocks.back().brackets;
      }
      open.push_back(i);
    } else if ((token.closes() || token.is("}")) && !open.empty()) {
      token.match = open.back();
      token.block = tokens[open.back()].block;
      tokens[open.back()].match = i;
      open.pop_back();
      if (token.is("}"))
        blocks.pop_back();
      else if (blocks.back().brackets > 0)
        --blocks.back().brackets;
    }
  }

  bool attaches(const FormatToken &token) const {
    if (!before || before->opens() || before->is(".") || (before->is("-") && !before->binary))
      return true;
    if (token.is(",") || token.is(":") || token.is(".") || token.closes())
      return true;
    if (token.opens())
      return endsOperand(before) || before->is("stack") || before->is("loop") || before->is("attend") || before->is("scan");
    return before->is("{") && token.is("}");
  }

  void one(size_t i) {
    FormatToken &token = tokens[i];
    token.starts = starts(i);
    static constexpr std::string_view operators[] = {
        "or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "mod", "div", "^"};
    token.binary = token.kind != LexemeKind::String && endsOperand(before) &&
                   std::find(std::begin(operators), std::end(operators), token.text) != std::end(operators);
    token.attached = attaches(token);
    expect(token);
    pair(i);
  }

  std::vector<FormatToken> &tokens;
  std::vector<Block> blocks;
  std::vector<size_t> open;
  const FormatToken *before = nullptr; // the last that is no comment
  BlockKind expected = BlockKind::Statements;
};

} // namespace

unsigned widthOf(std::string_view text) {
  unsigned width = 0;
  for (const char *p = text.data(), *end = p + text.size(); p != end; ++width)
    p += std::max(1u, utf8Length(p, end));
  return width;
}

std::vector<FormatToken> formatTokens(std::string_view text) {
  std::vector<FormatToken> tokens = Scanner(text).scan();
  Marker(tokens).mark();
  return tokens;
}

} // namespace tenon::syntax
