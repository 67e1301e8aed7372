#include "frontend/syntax/Foreign.h"
#include <algorithm>

namespace tenon::syntax {
namespace {

struct Remedy {
  std::string_view word;
  const char *help;
};

constexpr char kLet[] = "a value gets its name with: let y = ...";
constexpr char kRounds[] = "layers one behind the other are `use blocks = stack[N] Block`, rounds of one layer loop[N], and "
                           "scan(t: T) { .. } goes over the places of an axis";
/// First words of statements elsewhere.
constexpr Remedy kStatements[] = {
    {"def", "a function is written: fn f(x: [..]) -> [..] { return 2 * x }; one with parameters is a layer"},
    {"class", "a layer is written: layer Block[D](x: [.., D]) -> [.., D] { use up = Linear[D -> D] return up(x) }"},
    {"for", kRounds},
    {"while", "rounds that end early are those of `use steps = loop[8] Step`, whose layer says `until`"},
    {"if", "a choice is an expression: let y = if c then a else b; for each element where(c, a, b)"},
    {"print", "what is to be seen is an output: out y"},
    {"assert", "a condition on sizes and configs is written: require D mod H == 0"},
    {"from", "a file is imported whole: import \"bert.tn\""},
    {"self", "what a layer has is declared: use up = Linear[D -> D], param w: [D] = 1; its names need no `self`"},
    {"const", kLet},
    {"var", kLet},
    {"val", kLet},
    {"auto", kLet}};

/// Settings of a recipe that a model has no use for.
constexpr std::string_view kSettings[] = {"data",       "optimizer", "schedule", "clip", "accumulate",
                                          "checkpoint", "groups",    "seed",     "steps"};

bool isAdjacent(const Lexeme &left, const Lexeme &right) { return left.end == right.begin; }

/// The character before `p` that is no blank; 0: there is none on its line.
char before(const ParserState &state, const char *p) {
  while (p != state.begin && (p[-1] == ' ' || p[-1] == '\t'))
    --p;
  return p == state.begin ? '\0' : p[-1];
}

bool isInWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::string_view wordBefore(const ParserState &state, const char *p) {
  while (p != state.begin && (p[-1] == ' ' || p[-1] == '\t'))
    --p;
  const char *end = p;
  while (p != state.begin && isInWord(p[-1]))
    --p;
  return {p, size_t(end - p)};
}

/// Whether the bracket that `p` stands in is followed by arguments: sum[1](x).
bool isOfCall(const ParserState &state, const char *p) {
  int open = 1;
  for (Lexeme l = lex(p, state.end); l.kind != LexemeKind::End && !firstOnLine(state.begin, l.begin); l = lex(l.end, state.end)) {
    open += l.is("[") - l.is("]");
    if (open == 0)
      return lex(l.end, state.end).is("(");
  }
  return false;
}

/// Whether a number and a point stand in front of `p`.
bool followsPoint(const ParserState &state, const char *p) {
  while (p != state.begin && (p[-1] == ' ' || p[-1] == '\t'))
    --p;
  if (p == state.begin || p[-1] != '.')
    return false;
  const std::string_view number = wordBefore(state, p - 1);
  return !number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// `y += 1`: the operator of an assignment.
bool assignsWithOperator(const ParserState &state, const Lexeme &found) {
  const Lexeme op = lex(found.end, state.end), equals = lex(op.end, state.end);
  return (op.is("+") || op.is("-") || op.is("*") || op.is("/")) && equals.is("=") && isAdjacent(op, equals);
}

/// Behind what was taken for a whole statement.
std::string insteadOfMore(const ParserState &state, const Lexeme &found) {
  const Lexeme head = lex(startOfLine(state.begin, found.begin), state.end);
  if (found.is("if"))
    return "a choice is written: if c then a else b";
  if (found.is("is"))
    return "'==' compares two values; nothing is ever absent";
  if (head.is("use") && found.is("."))
    return "a layer is named without a module, its axes in brackets: use up = Linear[I -> O]";
  if (head.is("use") && found.is("*"))
    return "N layers one behind the other are written: use blocks = stack[N] Block";
  if (wordBefore(state, found.begin) == "lambda")
    return "a function has a name: fn f(x: [..]) -> [..] { return 2 * x }";
  if (found.kind == LexemeKind::String && found.begin != state.begin && found.begin[-1] == 'f')
    return "a text has no values in it: \"..\"";
  return "";
}

} // namespace

std::string insteadOfStatement(const ParserState &state, const Lexeme &found, bool fresh) {
  if (!fresh)
    return insteadOfMore(state, found);
  if (found.kind != LexemeKind::Word)
    return "";
  const Lexeme next = lex(found.end, state.end);
  if (assignsWithOperator(state, found))
    return "a name keeps its value: the new one has a name of its own, let y2 = y + 1";
  if (next.is("=") && std::find(std::begin(kSettings), std::end(kSettings), found.text()) != std::end(kSettings))
    return "a setting of training stands in a recipe: train Model as name { " + std::string(found.text()) +
           " = ... }; a value gets its name with let";
  if (next.is("="))
    return "";
  for (const Remedy &each : kStatements)
    if (found.is(each.word))
      return each.help;
  return next.is(":") ? "a value with a type is written: let y: [B, T] = ..." : "";
}

std::string insteadOfAxis(const ParserState &state, const Lexeme &found) {
  const char previous = before(state, found.begin);
  const bool isNumber = found.kind == LexemeKind::Number, isFirst = previous == '[';
  if (found.is(":") || found.is(".") || (found.is("]") && isFirst))
    return "axes that are not named stay whole: x[T: 0] takes one place of T, x[T: 1 .. T -> S] those from 1 on, called S";
  if (!isNumber && !found.is("-"))
    return "";
  if (isFirst && isOfCall(state, found.begin))
    return "axes have names and no numbers: sum[D](x); what the first layer of a stack gives is blocks[N](x)[N: 0]";
  if (isFirst || found.is("-"))
    return found.is("-") ? "a place stands behind its axis, and counts from 0: x[T: T - 1] takes the last one of T"
                         : "a place stands behind its axis: x[T: " + std::string(found.text()) + "]";
  return "axes are names; give the size one: dim C = " + std::string(found.text());
}

std::string insteadOfClosing(const ParserState &state, const Lexeme &found, char close, const char *bracket) {
  if (close == ')')
    return found.is(":") ? "a keyword argument is written: name = value" : "";
  if (close != ']' || !bracket)
    return "";
  if (bracket + 1 == found.begin && found.kind == LexemeKind::Number)
    return "axes are names; give the size one: config C = ...";
  if (found.is(":"))
    return "a slice is written with '..' and the axis that it forms: x[T: 1 .. T -> S]";
  if (found.is("."))
    return "axes that are not named stay whole: x[T: 0] takes one place of T";
  if (found.is("="))
    return "axes are named alone: mean[D](x)";
  if (found.kind == LexemeKind::Word && isInWord(before(state, found.begin)))
    return "axes are separated by ','; '*' merges two: x[H * E -> D]";
  return "";
}

std::string insteadOfPlain(const ParserState &state, const Lexeme &found, const std::string &expected) {
  const bool isExpression = expected == "an expression" || expected == "an argument";
  if (isExpression && found.is("="))
    return "'==' compares two values";
  if (isExpression && found.is("*"))
    return "a power is written with '^'";
  if (isExpression && found.is("/") && found.begin != state.begin && found.begin[-1] == '/')
    return "whole numbers are divided, rounding down, with 'div'";
  if (isExpression && found.is("."))
    return "a digit stands in front of the point: 0.5";
  if (isExpression && found.is(".."))
    return "a slice begins with a place: x[T: 0 .. n -> S]";
  if (isExpression && found.is("["))
    return "there are no lists: layers of one kind are stack[N] Block, a tensor of one number is full[B, T](0.0), and "
           "concat[A + B -> C](a, b) joins tensors";
  if (isExpression && (found.is("stack") || found.is("loop")))
    return "N layers are declared: use blocks = stack[N] Block; tensors are joined by concat[A + B -> C](a, b)";
  if (expected == "a name" && followsPoint(state, found.begin))
    return "a number has digits behind its point: 1.0";
  if (expected == "the name of a layer" && (found.is("(") || found.is("[")))
    return "the layer stands alone behind stack[N], its axes in brackets: use blocks = stack[N] Block[D]";
  if (expected == "a string" && found.kind == LexemeKind::Word)
    return "an import names a file: import \"bert.tn\"; functions and std.tn are there without one";
  if (expected == "'='" && found.is(",") && lex(startOfLine(state.begin, found.begin), state.end).is("let"))
    return "several names stand in parentheses: let (a, b) = ...";
  if (expected.find("'='") != std::string::npos && found.is("=="))
    return "'=' gives a value; '==' compares";
  if (expected.find("'='") != std::string::npos && found.is(":"))
    return "only let, in, param, state and carry declare a type with ':'";
  if (expected == "'~' or '='")
    return "its initial values stand behind the type: ~ normal(0.02), or = 0";
  if (expected == "'->'" && found.is("{"))
    return "layers and functions declare what they return: layer L(x: [B, T]) -> [B, T] { ... }";
  return "";
}

} // namespace tenon::syntax
