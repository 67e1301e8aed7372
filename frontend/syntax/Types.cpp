// type, shape, axis operations, arguments, groups and bindings.
#include "frontend/syntax/Grammar.h"

namespace tenon::syntax {
namespace {

bool acceptsAxisOperator(const Lexeme &l, const char *) { return l.is("*") || l.is("+"); }
bool acceptsTypeStart(const Lexeme &l, const char *end) { return l.is("[") || acceptsName(l, end); }

constexpr Class<Token> axisOperator(acceptsAxisOperator, "'*' or '+'");
constexpr Class<Token> typeStart(acceptsTypeStart, "a type");
constexpr Keep squareStart("[", "'['");
constexpr Keep roundStart("(", "'('");
constexpr Keep dots("..", "'..'");
constexpr Mark rangeClose("]", "'..', '->', ',' or ']'");

struct BoundTag {};
struct AxisTailTag {};
struct AxesTag {};
struct HighTag {};
struct IndexTag {};
struct TargetTag {};
struct AxisOpTag : Annotate {};
struct ArgumentTag {};
struct AxisListTag {};
struct ArgumentListTag {};

const x3::rule<ShapeTag, Shape> shape = "'['";
const x3::rule<AxisListTag, std::vector<Token>> axisList = "an axis";
const x3::rule<BoundTag, Expression> bound = "'('";
const x3::rule<AxisTailTag, AxisTail> axisTail = "'*' or '+'";
const x3::rule<AxesTag, Axes> axes = "an axis";
const x3::rule<HighTag, HighEnd> high = "'..'";
const x3::rule<IndexTag, IndexRange> index = "':'";
const x3::rule<TargetTag, Axes> target = "'->'";
const x3::rule<AxisOpTag, AxisOpNode> axisOp = "an axis";
const x3::rule<ArgumentTag, ArgumentNode> argument = "an argument";
const x3::rule<ArgumentListTag, std::vector<ArgumentNode>> argumentList = "an argument";

const auto axisList_def = commaList(axis);
const auto shape_def = squareStart > -axisList > squareClose;
const auto bound_def = roundOpen > expression > Mark(")", "')'");
const auto type_def = &typeStart >> -name >> -bound >> -shape;
const auto group_def = commaList(name) > colon > type;
const auto binding_def = name > equals > expression;
const auto axisTail_def = axisOperator > axis;
const auto axes_def = axis >> *axisTail;
const auto high_def = dots > -expression;
const auto index_def = colon > expression > -high;
const auto target_def = arrow > axes;
const auto axisOp_def = axes >> -index >> -target;
const auto axisOps_def = squareStart > commaList(axisOp) > rangeClose;
const auto argument_def = -(argumentKeyword > equals > &anyToken) >> expression;
const auto argumentList_def = commaList(argument);
const auto arguments_def = roundStart > -argumentList > roundClose;

} // namespace

BOOST_SPIRIT_DEFINE(axisList, shape, bound, type, group, binding, axisTail, axes, high, index, target, axisOp, axisOps, argument,
                    argumentList, arguments)

BOOST_SPIRIT_INSTANTIATE(TypeRule, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(GroupRule, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(BindingRule, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(AxisOpsRule, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(ArgumentsRule, Iterator, Context)

} // namespace tenon::syntax
