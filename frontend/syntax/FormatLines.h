// The lines that `tenon fmt` writes: how a logical line is broken, and where comments stand.
#pragma once
#include "frontend/syntax/FormatTokens.h"
#include <string>

namespace tenon::syntax {

constexpr int kFormatColumns = 130;

/// Finished lines. Comments behind code stand at least two blanks from it, those of adjacent lines in one column, which is the
/// author's where there is room for it; one that would reach over the last column goes above its line.
class FormatLines {
public:
  bool empty() const { return lines.empty(); }
  bool lastOpensBlock() const { return !lines.empty() && lines.back().opensBlock; }
  /// `alone`: all of its logical line; then its comment may go above it.
  void addCode(std::string code, bool blankBefore, bool opensBlock, bool alone) {
    lines.push_back({std::move(code), {}, 0, blankBefore, opensBlock, alone});
  }
  /// Behind the last line; `column` is the author's.
  void addComment(std::string_view text, unsigned column);
  void addOwnComment(int indent, std::string_view text, bool blankBefore);
  std::string text();

private:
  struct Line {
    std::string code;
    std::string_view comment; // behind the code
    int column = 0;
    bool blankBefore = false, opensBlock = false, alone = false;
  };
  void liftComments();
  void alignComments();
  std::vector<Line> lines;
};

/// Lays out one logical line after the other.
class LineBreaker {
public:
  LineBreaker(const std::vector<FormatToken> &tokens, FormatLines &lines)
      : tokens(tokens), lines(lines), extra(tokens.size(), 0), filled(tokens.size(), false) {}

  /// Tokens [begin, end) are the next logical line. `wordWidth`: of the column of first words, 0 for none.
  void begin(size_t begin, size_t end, int indent, unsigned wordWidth, bool blankBefore, BlockKind kind);
  /// Braces of it that stand in one line and make this line too long.
  std::vector<size_t> overlongBraces();
  /// `opens`: its last token is the brace of a block.
  void write(bool opens);

  /// Settings of a `names` block share lines as long as there is room: marks those that do not.
  void fillNames(size_t open, size_t close, int indent);
  bool forced(size_t i) const { return filled[i]; }
  /// The names of adjacent scores get one width.
  void alignScores(size_t open, size_t close);

private:
  struct Open {
    int anchor, lineIndent;
    bool hanging; // nothing stands behind it in its line
  };
  struct State {
    std::vector<Open> open;
    int column = 0, lineStart = 0;
    int list = 0, value = 0; // where a line goes on outside of brackets: behind a comma, and else; value 0: as list
  };
  struct Candidate {
    size_t token = 0;
    int score = 0;
  };

  int blanksBefore(size_t i) const;
  /// What it costs to break before token i; -1 where no line may start.
  int penalty(size_t i, const State &state) const;
  bool mustBreak(size_t i, const State &state) const;
  bool justOpened(size_t i) const;
  int columnAfterBreak(size_t i, const State &state) const;
  void breakBefore(size_t i, State &state) const;
  void place(size_t i, State &state) const;
  size_t lineEnd(size_t begin, const State &atBegin) const;
  void writeLine(size_t begin, size_t end, State &state, bool opens);

  const std::vector<FormatToken> &tokens;
  FormatLines &lines;
  std::vector<unsigned> extra; // blanks before a token, for columns
  std::vector<bool> filled;    // a line starts here
  size_t first = 0, last = 0;
  int indent = 0;
  unsigned wordWidth = 0;
  bool blank = false;
  BlockKind kind = BlockKind::Top;
};

} // namespace tenon::syntax
