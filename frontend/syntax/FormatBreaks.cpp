// Where a logical line is broken, and how far the rest of it is moved in.
#include "frontend/syntax/FormatLines.h"
#include <algorithm>

namespace tenon::syntax {

void LineBreaker::begin(size_t begin, size_t end, int indentation, unsigned width, bool blankBefore, BlockKind blockKind) {
  first = begin;
  last = end;
  indent = indentation;
  bool callable = tokens[begin].is("layer") || tokens[begin].is("fn");
  wordWidth = callable ? 0 : width;
  blank = blankBefore;
  kind = blockKind;
}

int LineBreaker::blanksBefore(size_t i) const {
  const FormatToken &token = tokens[i];
  if (i == first + 1 && wordWidth > 0)
    return static_cast<int>(std::max(wordWidth, tokens[first].width) - tokens[first].width) + 1;
  if (token.attached)
    return 0;
  bool apart = token.starts && !tokens[i - 1].is("{"); // elements that share a line
  return (apart ? 2 : 1) + static_cast<int>(extra[i]);
}

int LineBreaker::penalty(size_t i, const State &state) const {
  const FormatToken &token = tokens[i], &before = tokens[i - 1];
  int depth = 10 * static_cast<int>(state.open.size());
  if (token.is("{") || token.is(",") || before.comment)
    return -1;
  if (token.closes())
    return -1;
  if (token.starts || before.is(","))
    return depth;
  if (token.is("->"))
    return depth + (state.open.empty() ? 1 : 5);
  if (token.is("then") || token.is("else") || token.kind == LexemeKind::String)
    return token.attached || before.is("=") || before.is("import") ? -1 : depth + 1;
  if (before.binary)
    return depth + (before.is("or") || before.is("and") ? 1 : before.is("^") ? 5 : before.is("*") || before.is("/") ? 3 : 2);
  if ((before.is("=") || before.is("~")) && state.open.empty())
    return depth + 6;
  return before.opens() ? depth + 8 : -1;
}

/// Does token i follow the bracket that was opened last, but for a comment?
bool LineBreaker::justOpened(size_t i) const {
  return tokens[i - 1].opens() || (tokens[i - 1].comment && i >= 2 && tokens[i - 2].opens());
}

/// Where the author broke, if a line may start there, and behind comments.
bool LineBreaker::mustBreak(size_t i, const State &state) const {
  if (tokens[i - 1].comment || filled[i])
    return true;
  if (tokens[i].newlines == 0)
    return false;
  if (tokens[i].closes())
    return !state.open.empty() && state.open.back().hanging;
  return tokens[i].binary || penalty(i, state) >= 0;
}

int LineBreaker::columnAfterBreak(size_t i, const State &state) const {
  const FormatToken &token = tokens[i], &before = tokens[i - 1];
  constexpr int narrow = kFormatColumns - 40; // less room than this is too little
  if (token.starts || token.is("{"))
    return indent;
  int column = state.value ? state.value : state.list;
  if (!state.open.empty()) {
    const Open &open = state.open.back();
    bool hangs = open.hanging || justOpened(i);
    column = !hangs ? open.anchor : token.closes() ? open.lineIndent : open.lineIndent + 2;
  } else if (before.is(",")) {
    column = state.list;
  } else if (before.is("=") || before.is("~")) {
    column = indent + 4;
  }
  return column > narrow ? indent + 4 : column;
}

void LineBreaker::breakBefore(size_t i, State &state) const {
  int column = columnAfterBreak(i, state);
  if (!state.open.empty() && justOpened(i))
    state.open.back().hanging = true;
  state.column = state.lineStart = column;
}

/// `state.column` is where the token stands; afterwards, where it ends.
void LineBreaker::place(size_t i, State &state) const {
  const FormatToken &token = tokens[i];
  state.column += static_cast<int>(token.width);
  if (token.opens() || token.is("{"))
    state.open.push_back({state.column + token.is("{"), state.lineStart, false});
  else if ((token.closes() || token.is("}")) && !state.open.empty())
    state.open.pop_back();
  bool head = kind == BlockKind::Top || token.is("layer") || token.is("fn");
  if (i == first)
    state.list =
        head || !token.starts ? indent + 4 : state.column + static_cast<int>(std::max(wordWidth, token.width) - token.width) + 1;
  else if (token.starts)
    state.list = indent, state.value = 0;
  if (state.open.empty() && (token.is("=") || token.is("~")))
    state.value = state.column + 1;
}

std::vector<size_t> LineBreaker::overlongBraces() {
  State state;
  state.column = state.lineStart = indent;
  std::vector<size_t> result, inLine;
  auto endLine = [&] {
    if (state.column > kFormatColumns)
      result.insert(result.end(), inLine.begin(), inLine.end());
    inLine.clear();
  };
  int braces = 0;
  for (size_t i = first; i < last; ++i) {
    if (tokens[i].comment)
      continue;
    if (i > first && mustBreak(i, state)) {
      endLine();
      breakBefore(i, state);
    } else if (i > first) {
      state.column += blanksBefore(i);
    }
    if (tokens[i].is("{") && braces++ == 0 && tokens[i].match < last)
      inLine.push_back(i);
    braces -= tokens[i].is("}") && braces > 0;
    place(i, state);
  }
  endLine();
  return result;
}

/// The end of the line that starts with token `begin`.
size_t LineBreaker::lineEnd(size_t begin, const State &atBegin) const {
  State state = atBegin;
  Candidate best;
  constexpr int little = 20; // a line that much longer than what the next is moved in is no gain
  for (size_t i = begin; i < last; ++i) {
    if (i > begin) {
      if (tokens[i].comment || mustBreak(i, state))
        return i;
      int score = penalty(i, state);
      int gain = state.column - columnAfterBreak(i, state);
      if (score >= 0 && gain > 0) {
        if (state.column > kFormatColumns && best.token == 0)
          return i;
        score += gain < little ? 1000 : 0;
        if (best.token == 0 || score <= best.score)
          best = {i, score};
      }
      state.column += blanksBefore(i);
    }
    place(i, state);
    if (state.column > kFormatColumns && best.token)
      return best.token;
  }
  return last;
}

void LineBreaker::writeLine(size_t begin, size_t end, State &state, bool opens) {
  std::string code(static_cast<size_t>(state.column), ' ');
  for (size_t i = begin; i < end; ++i) {
    if (i > begin) {
      int blanks = blanksBefore(i);
      state.column += blanks;
      code.append(static_cast<size_t>(blanks), ' ');
    }
    code.append(tokens[i].text);
    place(i, state);
  }
  lines.addCode(std::move(code), blank, opens && end == last, begin == first && end == last);
  blank = false;
}

void LineBreaker::write(bool opens) {
  State state;
  state.column = state.lineStart = indent;
  size_t next = first; // behind the comments at i
  for (size_t i = first; i < last;) {
    if (tokens[i].comment) {
      if (tokens[i].newlines == 0) {
        lines.addComment(tokens[i].text, tokens[i].column);
      } else {
        for (next = std::max(next, i); tokens[next].comment;)
          ++next;
        lines.addOwnComment(columnAfterBreak(next, state), tokens[i].text, false);
      }
      ++i;
      continue;
    }
    if (i > first)
      breakBefore(i, state);
    size_t end = lineEnd(i, state);
    writeLine(i, end, state, opens);
    i = end;
  }
}

void LineBreaker::fillNames(size_t open, size_t close, int indentation) {
  int column = 0;
  for (size_t i = open + 1; i < close;) {
    size_t end = i + 1;
    int width = static_cast<int>(tokens[i].width);
    for (; end < close && !tokens[end].starts; ++end)
      width += tokens[end].comment ? 0 : (tokens[end].attached ? 0 : 1) + static_cast<int>(tokens[end].width);
    bool fresh = i == open + 1 || tokens[i].newlines > 0 || tokens[i - 1].comment;
    filled[i] = !fresh && column + 2 + width > kFormatColumns;
    column = fresh || filled[i] ? indentation + width : column + 2 + width;
    i = end;
  }
}

void LineBreaker::alignScores(size_t open, size_t close) {
  std::vector<size_t> group; // names
  auto finish = [&] {
    unsigned most = 0;
    for (size_t name : group)
      most = std::max(most, tokens[name].width);
    for (size_t name : group)
      extra[name + 1] = most - tokens[name].width;
    group.clear();
  };
  for (size_t i = open + 1; i < close; ++i) {
    if (tokens[i].is("{"))
      i = tokens[i].match;
    else if (tokens[i].comment || tokens[i].starts) {
      bool named =
          tokens[i].is("score") && tokens[i + 2].is("=") && tokens[i + 1].kind == LexemeKind::Word && !tokens[i + 1].comment;
      if (!named || tokens[i].newlines == 2)
        finish();
      if (named)
        group.push_back(i + 1);
    }
  }
  finish();
}

} // namespace tenon::syntax
