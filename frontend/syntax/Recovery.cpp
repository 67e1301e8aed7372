// Where lists end, and where parsing goes on after a mistake.
#include "frontend/syntax/Errors.h"

namespace tenon::syntax {
namespace {

/// Does the lexeme, behind a mistake in an element of the list, look like the start of the next element?
bool startsElement(const ParserState &state, ListKind kind, const Lexeme &l, int round) {
  if (l.kind != LexemeKind::Word && l.kind != LexemeKind::String)
    return false;
  bool fresh = firstOnLine(state.begin, l.begin);
  bool key = lex(l.end, state.end).is("=");
  std::string_view word = l.kind == LexemeKind::Word ? l.text() : std::string_view();
  bool statement = startsStatement(word) || startsMetric(l, state.end);
  switch (kind) {
  case ListKind::Statements:
    return statement && !key && (round == 0 || fresh) && (fresh || word != "in"); // for i in range(3)
  case ListKind::AttendItems:
    return fresh && (startsAttendItem(word) || (statement && !key));
  case ListKind::Settings:
    return fresh && (key || word == "bind" || word == "layer" || word == "fn");
  case ListKind::Items:
    return fresh && !key && (word == "layer" || word == "fn");
  }
  return false;
}

bool startsItem(const ParserState &state, const Lexeme &l) {
  if (l.kind != LexemeKind::Word || !firstOnLine(state.begin, l.begin))
    return false;
  Lexeme next = lex(l.end, state.end);
  return !next.is("=") && (startsOnlyItem(l.text()) || ((l.is("generate") || l.is("names")) && next.kind == LexemeKind::Word));
}

} // namespace

bool endsList(const ParserState &state, ListKind kind, const char *p) {
  Lexeme next = lex(p, state.end);
  if (next.kind == LexemeKind::End)
    return true;
  if (kind == ListKind::Items)
    return false;
  if (next.is("}"))
    return true;
  if (next.kind != LexemeKind::Word || !firstOnLine(state.begin, next.begin) || lex(next.end, state.end).is("="))
    return false;
  switch (kind) {
  case ListKind::Settings:
    return startsOnlyItem(next.text()) || next.is("layer") || next.is("fn");
  case ListKind::AttendItems:
    return isStart(next, state.end);
  default:
    return startsOnlyItem(next.text());
  }
}

const char *findBody(const ParserState &state, const char *where) {
  for (Lexeme l = lex(where, state.end); l.kind != LexemeKind::End && !l.is("}"); l = lex(l.end, state.end)) {
    if (l.is("{"))
      return l.end;
    if (isStart(l, state.end) && firstOnLine(state.begin, l.begin))
      break;
  }
  return nullptr;
}

const char *synchronize(const ParserState &state, ListKind kind, const char *start, const char *where) {
  const char *earliest = lex(where, state.end).begin;
  const char *begin = skipBlanks(start, state.end);
  if (earliest == state.end)
    return state.end;
  bool aligned = firstOnLine(state.begin, begin);
  unsigned column = indentation(state.begin, begin);
  int curly = 0, round = 0;
  for (Lexeme l = lex(start, state.end); l.kind != LexemeKind::End; l = lex(l.end, state.end)) {
    if (l.begin >= earliest && l.begin != begin) {
      bool outermost = l.begin == state.begin || l.begin[-1] == '\n';
      bool level = curly <= 0 || (kind == ListKind::Items && outermost);
      if (curly <= 0 && l.is("}") && kind != ListKind::Items)
        return l.begin;
      if (startsItem(state, l) && (kind != ListKind::Items || level))
        return l.begin;
      // A word where the lines of this list start is the next element even if it is misspelt.
      bool neighbour = aligned && l.kind == LexemeKind::Word && firstOnLine(state.begin, l.begin) &&
                       indentation(state.begin, l.begin) == column;
      if (level && (startsElement(state, kind, l, round) || neighbour))
        return l.begin;
    }
    if (l.is("{"))
      ++curly;
    else if (l.is("}") && curly > 0)
      --curly;
    else if (l.is("(") || l.is("["))
      ++round;
    else if ((l.is(")") || l.is("]")) && round > 0)
      --round;
  }
  return state.end;
}

} // namespace tenon::syntax
