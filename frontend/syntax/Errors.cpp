// Messages for text that the grammar does not accept. Where parsing goes on behind it: Recovery.cpp.
#include "frontend/syntax/Errors.h"
#include "frontend/syntax/Foreign.h"
#include <algorithm>

namespace tenon::syntax {
namespace {

const std::vector<std::string> kStatementWords = {"config", "dim",   "require", "in",    "param", "state",
                                                  "next",   "use",   "let",     "out",   "loss",  "metric",
                                                  "return", "until", "carry",   "yield", "layer", "fn"};
const std::vector<std::string> kItemWords = {"model", "layer", "fn", "train", "generate", "names", "import"};
const std::vector<std::string> kAttendWords = {"score", "scale", "mask", "drop", "value"};

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string describe(const Lexeme &found) {
  switch (found.kind) {
  case LexemeKind::End:
    return "the end of the file";
  case LexemeKind::Word:
    return (isKeyword(found.text()) ? "the keyword " : "") + quoted(found.text());
  case LexemeKind::String:
    return "a string";
  case LexemeKind::Number:
    return "the number " + std::string(found.text());
  default:
    return quoted(found.text());
  }
}

std::string listed(const std::vector<std::string> &words) {
  std::string result;
  for (size_t i = 0; i < words.size(); ++i)
    result += (i == 0 ? "'" : i + 1 == words.size() ? " or '" : ", '") + words[i] + "'";
  return result;
}

void suggest(Diagnostic &diagnostic, const Lexeme &found, const std::vector<std::string> &words) {
  if (found.kind != LexemeKind::Word)
    return;
  std::string near = nearest(std::string(found.text()), words);
  if (!near.empty())
    diagnostic.notes.push_back({"help", "did you mean " + quoted(near) + "?"});
}

void help(Diagnostic &diagnostic, std::string text) {
  if (!text.empty())
    diagnostic.notes.push_back({"help", std::move(text)});
}

struct Suggestion {
  std::string_view text, help;
};
/// Operators of other languages, longest first.
constexpr Suggestion kForeign[] = {{"&&", "'and' joins two conditions"},
                                   {"&", "'and' joins two conditions"},
                                   {"||", "'or' joins two conditions"},
                                   {"|", "'or' joins two conditions"},
                                   {"!", "'not' negates a condition"},
                                   {"%", "the remainder is written 'mod'"},
                                   {";", "statements need no ';' between them"},
                                   {"'", "strings stand in double quotes"},
                                   {"@", "products are written dot[axes](a, b)"},
                                   {"\\", "a statement may go on in the next line as it is"},
                                   {"?", "a choice is written: if c then a else b"}};

/// A lexeme that is no token: says what is wrong with the characters themselves.
void reportBadLexeme(ParserState &state, const Lexeme &found) {
  ast::Range range = state.range(found.begin, found.end);
  char first = *found.begin;
  if (first == '"') {
    bool zero = found.end != state.end && *found.end == '\0';
    if (zero)
      state.mistake("T0003", state.range(found.end, found.end + 1), "a string contains a zero byte");
    else
      state.mistake("T0005", range, "this string is not closed on its line", "expected '\"' before the end of the line");
  } else if (first >= '0' && first <= '9') {
    state.mistake("T0012", range, "this is not a number", "letters and '_' cannot stand here")
        .notes.push_back({"help", "numbers look like 12, 30_522, 0.1 or 2.5e-4; '_' stands between two digits"});
  } else if (first == '\0') {
    state.mistake("T0003", range, "the file contains a zero byte", "this is not text");
  } else if (utf8Length(found.begin, state.end) == 0) {
    state.mistake("T0004", range, "the file is not valid UTF-8 here");
  } else {
    Diagnostic &diagnostic = state.mistake("T0002", range, "the character " + quoted(found.text()) + " has no meaning here");
    std::string_view rest(found.begin, static_cast<size_t>(state.end - found.begin));
    for (const Suggestion &entry : kForeign)
      if (rest.substr(0, entry.text.size()) == entry.text) {
        diagnostic.notes.push_back({"help", std::string(entry.help)});
        break;
      }
  }
}

struct Bracket {
  const char *place;
  unsigned indentation; // of its line
};
struct OpenBrackets {
  std::vector<Bracket> stack;
  std::vector<const char *> suspects; // '{' still open at a '}' that is aligned with an outer one: probably never closed
};

OpenBrackets openBrackets(const ParserState &state, const char *where) {
  OpenBrackets result;
  std::vector<Bracket> &stack = result.stack;
  const char *line = state.begin; // the line is followed along: looking back from every bracket is quadratic in a long line
  const char *seen = state.begin;
  for (Lexeme l = lex(state.begin, where); l.kind != LexemeKind::End; l = lex(l.end, where)) {
    for (; seen != l.begin; ++seen)
      if (*seen == '\n')
        line = seen + 1;
    unsigned column = 0;
    while (line + column < l.begin && (line[column] == ' ' || line[column] == '\t'))
      ++column;
    if (l.is("(") || l.is("[") || l.is("{")) {
      stack.push_back({l.begin, column});
    } else if (l.is("}")) {
      while (!stack.empty() && *stack.back().place != '{')
        stack.pop_back();
      auto aligned = [&](const Bracket &bracket) { return *bracket.place == '{' && bracket.indentation == column; };
      if (firstOnLine(state.begin, l.begin) && std::any_of(stack.begin(), stack.end(), aligned))
        for (; !aligned(stack.back()); stack.pop_back())
          if (*stack.back().place == '{')
            result.suspects.push_back(stack.back().place);
      if (!stack.empty())
        stack.pop_back();
    } else if (l.is(")") || l.is("]")) {
      char open = l.is(")") ? '(' : '[';
      if (!stack.empty() && *stack.back().place == open)
        stack.pop_back();
    }
  }
  return result;
}

/// "expected ')'" where the bracket is open: says where it was opened, or that it never ends.
void reportClosing(ParserState &state, const Lexeme &found, const char *where, const std::string &expected) {
  ast::Range place = found.kind == LexemeKind::End ? state.range(where, where) : state.range(found.begin, found.end);
  char close = expected[expected.size() - 2];
  char open = close == ')' ? '(' : close == ']' ? '[' : '{';
  OpenBrackets brackets = openBrackets(state, found.begin);
  const char *bracket = nullptr;
  auto fresh = [&](const char *place) {
    return std::find(state.reportedBrackets.begin(), state.reportedBrackets.end(), place) == state.reportedBrackets.end();
  };
  for (size_t i = brackets.stack.size(); i-- > 0 && !bracket;)
    if (*brackets.stack[i].place == open && fresh(brackets.stack[i].place))
      bracket = brackets.stack[i].place;
  if (open == '{')
    for (size_t i = brackets.suspects.size(); i-- > 0;)
      if (fresh(brackets.suspects[i]))
        bracket = brackets.suspects[i];
  // A new line that is not indented further than the line of the bracket is hardly meant to stand inside it.
  bool newLine = firstOnLine(state.begin, found.begin);
  bool outside = newLine && bracket && indentation(state.begin, found.begin) <= indentation(state.begin, bracket);
  bool ended = found.kind == LexemeKind::End || found.is("}") || outside || (isStart(found, state.end) && newLine);
  if (bracket && (open == '{' || ended)) {
    state.reportedBrackets.push_back(bracket);
    Diagnostic &diagnostic = state.mistake("T0006", state.range(bracket, bracket + 1), quoted({&open, 1}) + " is never closed",
                                           "no " + quoted({&close, 1}) + " for this one");
    diagnostic.related.push_back({place, describe(found) + (found.kind == LexemeKind::End ? "" : " cannot stand inside it")});
    return;
  }
  Diagnostic &diagnostic = state.mistake("T0020", place, "expected " + expected + ", found " + describe(found));
  if (bracket)
    diagnostic.related.push_back({state.range(bracket, bracket + 1), "opened here"});
  help(diagnostic, insteadOfClosing(state, found, close, bracket));
}

static bool followsBrace(const char *begin, const char *at) {
  while (at != begin && (at[-1] == ' ' || at[-1] == '\t'))
    --at;
  return at != begin && at[-1] == '{';
}

/// An element of a list is expected: a statement, an item, a setting, a line of attend.
void reportElement(ParserState &state, const Lexeme &found, const std::string &expected) {
  ast::Range place = state.range(found.begin, found.end);
  bool fresh = firstOnLine(state.begin, found.begin);
  if (expected == elementName(ListKind::Items)) {
    if (found.is("}")) {
      state.mistake("T0015", place, "'}' closes nothing", "no '{' is open here");
      return;
    }
    Diagnostic &diagnostic =
        state.mistake("T0013", place, "expected " + listed(kItemWords) + ", found " + describe(found),
                      isStart(found, state.end) ? "this can only stand inside a model, a layer or a function" : "");
    if (std::string_view rest(found.begin, size_t(state.end - found.begin)); rest.starts_with("//") || rest.starts_with("/*"))
      diagnostic.notes.push_back({"help", "comments begin with '#'"});
    else if (std::string instead = insteadOfStatement(state, found, fresh); !instead.empty())
      help(diagnostic, instead);
    else
      suggest(diagnostic, found, kItemWords);
  } else if (expected == elementName(ListKind::Settings)) {
    state.mistake("T0016", place, "expected a setting or '}', found " + describe(found), "settings are written: key = value");
  } else if (expected == elementName(ListKind::AttendItems)) {
    Diagnostic &diagnostic = state.mistake("T0014", place, "expected " + listed(kAttendWords) + ", found " + describe(found));
    if (found.is("dropout"))
      diagnostic.notes.push_back({"help", "did you mean 'drop', the rate at which weights are dropped: drop 0.1?"});
    else
      suggest(diagnostic, found, kAttendWords);
  } else {
    bool first = followsBrace(state.begin, found.begin);
    fresh |= first;
    Diagnostic &diagnostic = state.mistake("T0007", place, "expected a statement, found " + describe(found),
                                           fresh ? "no statement starts like this" : "the statement before it has ended");
    if (std::string_view rest(found.begin, size_t(state.end - found.begin)); rest.starts_with("//") || rest.starts_with("/*"))
      diagnostic.notes.push_back({"help", "comments begin with '#'"});
    else if (found.is("="))
      diagnostic.notes.push_back({"help", "'==' compares; '=' stands only behind the name that is given a value"});
    else if (std::string instead = insteadOfStatement(state, found, fresh); !instead.empty())
      return help(diagnostic, instead);
    else if (fresh && lex(found.end, state.end).is("="))
      diagnostic.notes.push_back({"help", "a value gets its name with: let " + std::string(found.text()) + " = ..."});
    else if (!fresh && found.is(","))
      diagnostic.notes.push_back({"help", "what follows is a statement of its own: repeat its keyword instead of the ','"});
    else if (!fresh && lex(startOfLine(state.begin, found.begin), state.end).is("out"))
      diagnostic.notes.push_back({"help", "`out` takes names of values: let y = ..., then out y"});
    else if (!fresh && !isKeyword(found.text()))
      diagnostic.notes.push_back({"help", "is an operator or a ',' missing before it?"});
    // `let q = 1 +` and then `retrun x`: the misspelt keyword was taken for an operand.
    Lexeme head = first ? found : lex(startOfLine(state.begin, found.begin), state.end);
    if (!isKeyword(head.text()))
      suggest(diagnostic, head, kStatementWords);
  }
}

const char *codeFor(const std::string &expected) {
  static const std::pair<const char *, const char *> codes[] = {
      {"an expression", "T0017"}, {"an argument", "T0017"},   {"a name", "T0018"},
      {"an axis", "T0018"},       {"a type", "T0019"},        {"'='", "T0021"},
      {"'{'", "T0022"},           {"':'", "T0023"},           {"'->'", "T0024"},
      {"'then'", "T0025"},        {"'else'", "T0025"},        {"a string", "T0026"},
      {"'~' or '='", "T0021"},    {"a name or '('", "T0018"}, {"the name of a layer", "T0018"}};
  for (auto &[phrase, code] : codes)
    if (expected == phrase)
      return code;
  return "T0001";
}

bool isElement(const std::string &expected) {
  return expected == elementName(ListKind::Statements) || expected == elementName(ListKind::Items) ||
         expected == elementName(ListKind::Settings) || expected == elementName(ListKind::AttendItems);
}

bool isClosing(const std::string &expected) {
  size_t size = expected.size();
  return size >= 3 && (expected[size - 2] == ')' || expected[size - 2] == ']' || expected[size - 2] == '}');
}

void reportPlain(ParserState &state, const Lexeme &found, const char *where, const std::string &expected) {
  ast::Range place = found.kind == LexemeKind::End ? state.range(where, where) : state.range(found.begin, found.end);
  std::string code = codeFor(expected);
  bool keyword = found.kind == LexemeKind::Word && isKeyword(found.text());
  if (code == "T0018" && keyword && !firstOnLine(state.begin, found.begin)) {
    state.mistake("T0008", place, describe(found) + " cannot be a name", "expected " + expected);
    return;
  }
  Diagnostic &diagnostic = state.mistake(code.c_str(), place, "expected " + expected + ", found " + describe(found));
  help(diagnostic, expected == "an axis" ? insteadOfAxis(state, found) : insteadOfPlain(state, found, expected));
}

} // namespace

Diagnostic &ParserState::mistake(const char *code, ast::Range range, std::string message, std::string label) {
  if (++mistakes > kMistakeLimit)
    throw TooManyMistakes{};
  return diagnostics->error(code, range, std::move(message), std::move(label));
}

void reportUnexpected(ParserState &state, const char *where, const std::string &expected) {
  Lexeme found = lex(where, state.end);
  if (found.begin == state.lastMistake)
    return;
  state.lastMistake = found.begin;
  if (found.kind == LexemeKind::Bad)
    reportBadLexeme(state, found);
  else if (isClosing(expected))
    reportClosing(state, found, where, expected);
  else if (isElement(expected))
    reportElement(state, found, expected);
  else
    reportPlain(state, found, where, expected);
}

void reportTooDeep(ParserState &state, const char *where) {
  Lexeme found = lex(where, state.end);
  if (found.begin == state.lastMistake)
    return;
  state.lastMistake = found.begin;
  state
      .mistake("T0009", state.range(found.begin, found.end), "this text is nested too deeply",
               "more than " + std::to_string(kNestingLimit) + " levels")
      .notes.push_back({"help", "name a part of it with 'let' and use the name"});
}

const char *elementName(ListKind kind) {
  switch (kind) {
  case ListKind::Statements:
    return "a statement";
  case ListKind::Items:
    return "an item";
  case ListKind::Settings:
    return "a setting";
  case ListKind::AttendItems:
    return "an attend item";
  }
  return "";
}

} // namespace tenon::syntax
