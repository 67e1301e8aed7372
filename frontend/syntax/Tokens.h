// Token primitives and directives of the grammar. Tokens skip blanks and comments themselves and leave the iterator alone when
// they do not match, so a rule ends exactly behind its last token. All carry a name: it is what an expectation point reports.
#pragma once
#include "frontend/syntax/Attributes.h"
#include "frontend/syntax/Errors.h"
#include <boost/spirit/home/x3.hpp>
#include <type_traits>

namespace tenon::syntax {

using Iterator = const char *;
struct StateTag;
using Context = x3::context<StateTag, ParserState>;

template <typename Value, typename Attribute> void assign(const Lexeme &lexeme, Attribute &attribute) {
  if constexpr (!std::is_same_v<std::remove_const_t<Attribute>, x3::unused_type>) {
    Value value;
    value.begin = lexeme.begin;
    value.end = lexeme.end;
    x3::traits::move_to(std::move(value), attribute);
  }
}

/// One given word or operator without a value: keyword("let"), mark("->").
struct Mark : x3::parser<Mark> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  const char *text;
  const char *phrase;
  constexpr Mark(const char *text, const char *phrase) : text(text), phrase(phrase) {}

  template <typename C, typename R, typename A> bool parse(Iterator &first, const Iterator &last, const C &, R &, A &) const {
    Lexeme lexeme = lex(first, last);
    if (!lexeme.is(text))
      return false;
    first = lexeme.end;
    return true;
  }
};

/// The same, with its place as value: X3 collapses structs with a single member, so such structs keep a keyword too.
struct Keep : x3::parser<Keep> {
  using attribute_type = Token;
  static constexpr bool has_attribute = true;
  const char *text;
  const char *phrase;
  constexpr Keep(const char *text, const char *phrase) : text(text), phrase(phrase) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &, R &, A &attribute) const {
    Lexeme lexeme = lex(first, last);
    if (!lexeme.is(text))
      return false;
    assign<Token>(lexeme, attribute);
    first = lexeme.end;
    return true;
  }
};

using Predicate = bool (*)(const Lexeme &lexeme, const char *end);

/// Any lexeme that the predicate accepts, with its place as value.
template <typename Value> struct Class : x3::parser<Class<Value>> {
  using attribute_type = Value;
  static constexpr bool has_attribute = true;
  Predicate accepts;
  const char *phrase;
  constexpr Class(Predicate accepts, const char *phrase) : accepts(accepts), phrase(phrase) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &, R &, A &attribute) const {
    Lexeme lexeme = lex(first, last);
    if (!accepts(lexeme, last))
      return false;
    assign<Value>(lexeme, attribute);
    first = lexeme.end;
    return true;
  }
};

/// subject { "," subject }; a comma without an element behind it is a mistake.
template <typename Subject> struct CommaList : x3::unary_parser<Subject, CommaList<Subject>> {
  using base_type = x3::unary_parser<Subject, CommaList<Subject>>;
  static constexpr bool has_attribute = true;
  static constexpr bool handles_container = true;
  constexpr CommaList(const Subject &subject) : base_type(subject) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext, A &attribute) const {
    for (bool start = true;; start = false) {
      typename A::value_type element{};
      if (!this->subject.parse(first, last, context, rcontext, element)) {
        if (start)
          return false;
        boost::throw_exception(x3::expectation_failure<Iterator>(first, x3::what(this->subject)));
      }
      attribute.push_back(std::move(element));
      Lexeme comma = lex(first, last);
      if (!comma.is(","))
        return true;
      first = comma.end;
    }
  }
};
template <typename Subject> constexpr auto commaList(const Subject &subject) {
  return CommaList<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject));
}

/// Counts how deep the grammar is inside itself.
template <typename Subject> struct Nested : x3::unary_parser<Subject, Nested<Subject>> {
  using base_type = x3::unary_parser<Subject, Nested<Subject>>;
  static constexpr bool is_pass_through_unary = true;
  constexpr Nested(const Subject &subject) : base_type(subject) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext, A &attribute) const {
    ParserState &state = x3::get<StateTag>(context);
    struct Level {
      unsigned &depth;
      ~Level() { --depth; }
    } level{++state.depth};
    if (state.depth > kNestingLimit)
      throw TooDeep{first};
    return this->subject.parse(first, last, context, rcontext, attribute);
  }
};
struct NestedMaker {
  template <typename Subject> constexpr auto operator[](const Subject &subject) const {
    return Nested<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject));
  }
};
constexpr NestedMaker nested;

/// One element of a list. A mistake in it is reported, the element becomes Bad, and the next one is looked for. X3's on_error is
/// not used: its iterator is already advanced when it is called, and `accept` without progress loops for ever.
template <typename Subject> struct Resync : x3::unary_parser<Subject, Resync<Subject>> {
  using base_type = x3::unary_parser<Subject, Resync<Subject>>;
  static constexpr bool is_pass_through_unary = true;
  ListKind kind;
  constexpr Resync(const Subject &subject, ListKind kind) : base_type(subject), kind(kind) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext, A &attribute) const {
    ParserState &state = x3::get<StateTag>(context);
    if (endsList(state, kind, first))
      return false;
    Iterator start = first;
    Iterator mistake = start;
    try {
      if (this->subject.parse(first, last, context, rcontext, attribute))
        return true;
      reportUnexpected(state, start, elementName(kind));
    } catch (const x3::expectation_failure<Iterator> &failure) {
      mistake = failure.where();
      reportUnexpected(state, mistake, failure.which());
    } catch (const TooDeep &failure) {
      mistake = failure.where;
      reportTooDeep(state, mistake);
    }
    first = synchronize(state, kind, start, mistake);
    Bad bad;
    bad.begin = skipBlanks(start, last);
    bad.end = first;
    attribute = bad;
    return true;
  }
};
struct ResyncMaker {
  ListKind kind;
  template <typename Subject> constexpr auto operator[](const Subject &subject) const {
    return Resync<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject), kind);
  }
};
constexpr ResyncMaker resync(ListKind kind) { return {kind}; }

/// What stands before the body of a block, its "{" included. A mistake in it is reported and the body is parsed all the same,
/// with a header that may be incomplete.
template <typename Subject> struct Header : x3::unary_parser<Subject, Header<Subject>> {
  using base_type = x3::unary_parser<Subject, Header<Subject>>;
  static constexpr bool is_pass_through_unary = true;
  constexpr Header(const Subject &subject) : base_type(subject) {}

  template <typename C, typename R, typename A>
  bool parse(Iterator &first, const Iterator &last, const C &context, R &rcontext, A &attribute) const {
    try {
      return this->subject.parse(first, last, context, rcontext, attribute);
    } catch (const x3::expectation_failure<Iterator> &failure) {
      ParserState &state = x3::get<StateTag>(context);
      reportUnexpected(state, failure.where(), failure.which());
      const char *body = findBody(state, failure.where());
      if (!body)
        throw;
      first = body;
      return true;
    }
  }
};
struct HeaderMaker {
  template <typename Subject> constexpr auto operator[](const Subject &subject) const {
    return Header<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject));
  }
};
constexpr HeaderMaker header;

/// Base of the rule tags whose attribute knows its place.
struct Annotate {
  template <typename Attribute, typename C>
  void on_success(const Iterator &first, const Iterator &last, Attribute &attribute, const C &) {
    if constexpr (std::is_base_of_v<Located, Attribute>) {
      attribute.begin = skipBlanks(first, last);
      attribute.end = last;
    }
  }
};

inline bool acceptsName(const Lexeme &l, const char *) { return l.kind == LexemeKind::Word && !isKeyword(l.text()); }
inline bool acceptsWord(const Lexeme &l, const char *) { return l.kind == LexemeKind::Word; }
inline bool acceptsNumber(const Lexeme &l, const char *) { return l.kind == LexemeKind::Number; }
inline bool acceptsString(const Lexeme &l, const char *) { return l.kind == LexemeKind::String; }
inline bool acceptsAxis(const Lexeme &l, const char *end) { return l.is("..") || acceptsName(l, end); }
inline bool acceptsKeyword(const Lexeme &l, const char *end) { return acceptsWord(l, end) && lex(l.end, end).is("="); }
inline bool acceptsAny(const Lexeme &l, const char *) { return l.kind != LexemeKind::Bad; }
inline bool acceptsLabel(const Lexeme &l, const char *end) { return acceptsName(l, end) && lex(l.end, end).is("="); }
inline bool acceptsKey(const Lexeme &l, const char *) { return l.kind == LexemeKind::Word || l.kind == LexemeKind::String; }

constexpr Class<Token> name(acceptsName, "a name");
constexpr Class<Token> word(acceptsWord, "a word");
constexpr Class<Token> axis(acceptsAxis, "an axis");
constexpr Class<Token> argumentKeyword(acceptsKeyword, "a keyword with '='");
constexpr Class<Token> anyToken(acceptsAny, "an argument"); // characters that make no token are worth a message of their own
constexpr Class<Token> scoreLabel(acceptsLabel, "a name with '='");
constexpr Class<Token> settingKey(acceptsKey, "a setting");
constexpr Class<Text> text(acceptsString, "a string");

constexpr Mark comma(",", "','");
constexpr Mark colon(":", "':'");
constexpr Mark equals("=", "'='");
constexpr Mark arrow("->", "'->'");
constexpr Mark roundOpen("(", "'('");
constexpr Mark roundClose(")", "',' or ')'");
constexpr Mark squareOpen("[", "'['");
constexpr Mark squareClose("]", "',' or ']'");
constexpr Mark curlyOpen("{", "'{'");
constexpr Mark curlyClose("}", "'}'");

} // namespace tenon::syntax

namespace boost::spirit::x3 {
template <> struct get_info<tenon::syntax::Mark> {
  using result_type = std::string;
  std::string operator()(const tenon::syntax::Mark &parser) const { return parser.phrase; }
};
template <> struct get_info<tenon::syntax::Keep> {
  using result_type = std::string;
  std::string operator()(const tenon::syntax::Keep &parser) const { return parser.phrase; }
};
template <typename Value> struct get_info<tenon::syntax::Class<Value>> {
  using result_type = std::string;
  std::string operator()(const tenon::syntax::Class<Value> &parser) const { return parser.phrase; }
};
template <typename Subject> struct get_info<tenon::syntax::CommaList<Subject>> {
  using result_type = std::string;
  std::string operator()(const tenon::syntax::CommaList<Subject> &parser) const { return x3::what(parser.subject); }
};
namespace traits {
template <typename Subject, typename Context> struct attribute_of<tenon::syntax::CommaList<Subject>, Context> {
  using type = std::vector<typename attribute_of<Subject, Context>::type>;
};
} // namespace traits
} // namespace boost::spirit::x3
