// Tokens to lines. A statement is a logical line; it ends where the next one starts, or behind the brace that opens a block on
// lines of its own. Within a logical line breaks stay where the author made them; a line that is still too long is broken where
// the fewest brackets are open.
#include "frontend/syntax/Format.h"
#include "frontend/syntax/FormatLines.h"
#include "frontend/syntax/FormatTokens.h"
#include <algorithm>

namespace tenon {
namespace {

using namespace syntax;

class Formatter {
public:
  explicit Formatter(std::vector<FormatToken> given)
      : tokens(std::move(given)), breaker(tokens, lines), behindComments(tokens.size() + 1, tokens.size()),
        states(tokens.size(), 0) {
    blocks.push_back({BlockKind::Top, 0, 0, 0, tokens.size()});
    for (size_t i = tokens.size(); i-- > 0;)
      behindComments[i] = tokens[i].comment ? behindComments[i + 1] : i;
  }

  std::string run() {
    size_t i = 0;
    while (i < tokens.size()) {
      if (tokens[i].comment) {
        comment(i++);
        continue;
      }
      if (i == blocks.back().close) {
        int indent = blocks.back().outerIndent;
        blocks.pop_back();
        i = logicalLine(i, indent);
      } else {
        i = logicalLine(i, blocks.back().indent);
      }
    }
    return lines.text();
  }

private:
  /// A block whose elements have lines of their own.
  struct Block {
    BlockKind kind;
    int indent, outerIndent;
    unsigned wordWidth; // to which the first words of its elements are filled up; 0: they are not
    size_t close;       // its brace
  };

  void comment(size_t i) {
    const FormatToken &token = tokens[i];
    if (token.newlines == 0 && !lines.empty())
      lines.addComment(token.text, token.column);
    else
      lines.addOwnComment(blocks.back().indent, token.text, blankBefore(i));
  }

  /// Blank lines stay between elements, not at the ends of a block.
  bool blankBefore(size_t i) const {
    return tokens[i].newlines == 2 && !lines.empty() && !lines.lastOpensBlock() && i != blocks.back().close;
  }

  /// Does the logical line that token i - 1 belongs to end before i (which may be a comment)?
  bool endsBefore(size_t i) const {
    size_t next = behindComments[i];
    if (next >= tokens.size() || next == blocks.back().close)
      return true;
    const FormatToken &token = tokens[next];
    bool sameLine =
        blocks.back().kind == BlockKind::Names && !token.is("bind") && next == i && token.newlines == 0 && !breaker.forced(i);
    return token.starts && !sameLine;
  }

  /// Braces in one line stay so if the author wrote them so and nothing in them needs lines.
  bool compact(size_t open) {
    if (states[open] == 0) {
      bool whole = !tokens[open + 1].comment && tokens[open + 1].newlines == 0;
      for (size_t i = open + 1; whole && i <= tokens[open].match; ++i) {
        if (tokens[i].comment || tokens[i].newlines > 0)
          whole = false;
        else if (tokens[i].is("{")) // what is asked once is not asked again, so that nested braces cost their length once
          whole = compact(i), i = tokens[i].match;
      }
      states[open] = whole ? 1 : 2;
    }
    return states[open] == 1;
  }

  /// Lays out the logical line that starts at i; its end.
  size_t logicalLine(size_t i, int indent) {
    for (;;) {
      size_t end = i + 1, opened = 0;
      if (tokens[i].is("{") && !compact(i))
        opened = i;
      for (; !opened && end < tokens.size() && !endsBefore(end); ++end) {
        if (!tokens[end].is("{"))
          continue;
        if (compact(end))
          end = tokens[end].match;
        else
          opened = end;
      }
      breaker.begin(i, end, indent, wordWidthOf(i), blankBefore(i), blocks.back().kind);
      std::vector<size_t> tooLong = breaker.overlongBraces();
      if (!tooLong.empty()) { // these blocks get lines of their own; then the logical line ends earlier
        for (size_t open : tooLong)
          states[open] = 2;
        continue;
      }
      breaker.write(opened != 0);
      if (opened)
        openBlock(opened, indent);
      return end;
    }
  }

  unsigned wordWidthOf(size_t i) const { return tokens[i].starts ? blocks.back().wordWidth : 0; }

  void openBlock(size_t open, int indent) {
    BlockKind kind = tokens[open].block;
    Block block{kind, indent + 2, indent, 0, tokens[open].match};
    if (kind == BlockKind::Names)
      breaker.fillNames(open, block.close, block.indent);
    constexpr unsigned settings = 10, keywords = 6; // `checkpoint` and `config`, the longest of the usual ones
    block.wordWidth = kind == BlockKind::Settings ? settings : 0;
    bool several = false;
    for (size_t i = open + 1; i < block.close; ++i) {
      const FormatToken &token = tokens[i];
      if (token.is("{"))
        i = token.match;
      else if (token.starts && !token.is("layer") && !token.is("fn"))
        block.wordWidth =
            std::max(block.wordWidth, kind == BlockKind::Statements ? std::min(token.width, keywords) : token.width);
      several |= kind == BlockKind::Names && token.starts && token.newlines == 0 && !breaker.forced(i) && i > open + 1;
    }
    if (several)
      block.wordWidth = 0;
    if (kind == BlockKind::Items)
      breaker.alignScores(open, block.close);
    blocks.push_back(block);
  }

  const std::vector<FormatToken> tokens;
  FormatLines lines;
  LineBreaker breaker;
  std::vector<Block> blocks;
  std::vector<size_t> behindComments; // of each token, the next that is no comment
  std::vector<char> states;           // of braces: 0 not asked yet, 1 in one line, 2 on lines of their own
};

} // namespace

std::string format(std::string_view text) { return Formatter(formatTokens(text)).run(); }

std::string commentsOf(std::string_view text) {
  std::string all;
  for (const FormatToken &token : formatTokens(text))
    if (token.comment)
      all.append(token.text) += '\n';
  return all;
}

} // namespace tenon
