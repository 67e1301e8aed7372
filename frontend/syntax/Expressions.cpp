// expr, operand, primary, suffix, attend and scan.
#include "frontend/syntax/Grammar.h"

namespace tenon::syntax {
namespace {

bool acceptsOperator(const Lexeme &l, const char *) {
  static constexpr std::string_view operators[] = {
      "or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "mod", "div", "^"};
  for (std::string_view op : operators)
    if (l.is(op))
      return true;
  return false;
}
bool acceptsSign(const Lexeme &l, const char *) { return l.is("-") || l.is("not"); }
bool acceptsItemKind(const Lexeme &l, const char *) { return l.kind == LexemeKind::Word && startsAttendItem(l.text()); }

constexpr Class<Token> binaryOperator(acceptsOperator, "an operator");
constexpr Class<Token> sign(acceptsSign, "'-' or 'not'");
constexpr Class<Number> number(acceptsNumber, "a number");
constexpr Class<Reference> reference(acceptsName, "a name");
constexpr Class<Token> itemKind(acceptsItemKind, "'score', 'scale', 'mask', 'drop' or 'value'");

struct OperandTag : Annotate {};
struct PrimaryTag {};
struct SuffixTag {};
struct MemberTag : Annotate {};
struct ParenthesisTag : Annotate {};
struct IfTag : Annotate {};
struct ScanTag : Annotate {};
struct TailTag {};
struct AttendItemTag : Annotate {};
struct AttendEntryTag {};
struct AttendHeaderTag {};

const x3::rule<OperandTag, Operand> operand = "an expression";
const x3::rule<PrimaryTag, Primary> primary = "an expression";
const x3::rule<SuffixTag, Suffix> suffix = "'[', '(' or '.'";
const x3::rule<MemberTag, Member> member = "'.'";
const x3::rule<ParenthesisTag, Parenthesis> parenthesis = "'('";
const x3::rule<IfTag, If> conditional = "'if'";
const x3::rule<ScanTag, Scan> scan = "'scan'";
const x3::rule<TailTag, OperatorTail> tail = "an operator";
const x3::rule<AttendHeaderTag, std::vector<BinderNode>> attendHeader = "'('";
const x3::rule<AttendItemTag, AttendItemNode> attendItem = "'score', 'scale', 'mask', 'drop' or 'value'";
const x3::rule<AttendEntryTag, AttendEntry> attendEntry = "'score', 'scale', 'mask', 'drop' or 'value'";

constexpr Keep roundStart("(", "'('");
constexpr Keep dot(".", "'.'");

const auto expression_def = nested[operand >> *tail];
const auto tail_def = binaryOperator > operand;
const auto operand_def = *sign >> primary >> *suffix;
const auto primary_def = number | text | reference | parenthesis | conditional | attend | scan;
const auto suffix_def = member | axisOps | arguments;
const auto member_def = dot > name;
const auto parenthesis_def = roundStart > commaList(expression) > roundClose;
const auto conditional_def = Mark("if", "'if'") > expression > Mark("then", "'then'") > expression >
                             Mark("else", "'else'") > expression;
const auto binder_def = name > colon > name;
const auto attendHeader_def = header[roundOpen > commaList(binder) > roundClose > curlyOpen];
const auto attend_def = Mark("attend", "'attend'") > attendHeader > *attendEntry > curlyClose;
const auto attendItem_def = itemKind > -(scoreLabel > equals) > expression;
const auto attendEntry_def = resync(ListKind::AttendItems)[attendItem];
const auto scan_def = Mark("scan", "'scan'") > roundOpen > commaList(binder) > roundClose > curlyOpen > *statement > curlyClose;

} // namespace

BOOST_SPIRIT_DEFINE(expression, tail, operand, primary, suffix, member, parenthesis, conditional, binder, attendHeader, attend,
                    attendItem, attendEntry, scan)

BOOST_SPIRIT_INSTANTIATE(ExpressionRule, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(AttendRule, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(BinderRule, Iterator, Context)

} // namespace tenon::syntax
