// The statements of a body, layers and functions.
#include "frontend/syntax/Grammar.h"

namespace tenon::syntax {
namespace {

bool acceptsInitializer(const Lexeme &l, const char *) { return l.is("~") || l.is("="); }
bool acceptsDimOperator(const Lexeme &l, const char *) { return l.is("=") || l.is("<="); }
bool acceptsRepeat(const Lexeme &l, const char *) { return l.is("stack") || l.is("loop"); }
bool acceptsReturn(const Lexeme &l, const char *) { return l.is("return") || l.is("yield"); }
bool acceptsCallable(const Lexeme &l, const char *) { return l.is("layer") || l.is("fn"); }
bool acceptsOutHead(const Lexeme &l, const char *end) {
  if (!acceptsName(l, end))
    return false;
  Lexeme next = lex(l.end, end);
  return next.is("=") || next.is("(");
}

constexpr Class<Token> initializer(acceptsInitializer, "'~' or '='");
constexpr Class<Token> dimOperator(acceptsDimOperator, "'=' or '<='");
constexpr Class<Token> repeatKind(acceptsRepeat, "'stack' or 'loop'");
constexpr Class<Token> returnKind(acceptsReturn, "'return' or 'yield'");
constexpr Class<Token> callableKind(acceptsCallable, "'layer' or 'fn'");
constexpr Class<Token> outName(acceptsOutHead, "a name");
constexpr Class<Token> layerName(acceptsName, "the name of a layer");

struct ConfigTag : Annotate {};
struct DimTailTag {};
struct DimTag : Annotate {};
struct DimsTag : Annotate {};
struct RequireTag : Annotate {};
struct InTag : Annotate {};
struct ParamTag : Annotate {};
struct StateStatementTag : Annotate {};
struct NextTag : Annotate {};
struct RepeatTag {};
struct UseTag : Annotate {};
struct TargetsTag {};
struct AnnotationTag {}; // the type keeps its own place, without the colon
struct LetTag : Annotate {};
struct WalkedTag {};
struct OutHeadTag {};
struct OutTag : Annotate {};
struct LossTag : Annotate {};
struct MetricTag : Annotate {};
struct ReturnTag : Annotate {};
struct UntilTag : Annotate {};
struct CarryTag : Annotate {};
struct FormalTag {};
struct FormalsTag {};
struct OutputTag {};
struct GroupsTag {};
struct ResultsTag {};
struct CallableHeaderTag : Annotate {};
struct AnyStatementTag {};

const x3::rule<ConfigTag, Config> config = "'config'";
const x3::rule<DimTailTag, DimTail> dimTail = "'=' or '<='";
const x3::rule<DimTag, DimNode> dim = "a name";
const x3::rule<DimsTag, Dims> dims = "'dim'";
const x3::rule<RequireTag, Require> require = "'require'";
const x3::rule<InTag, In> in = "'in'";
const x3::rule<ParamTag, Param> param = "'param'";
const x3::rule<StateStatementTag, State> state = "'state'";
const x3::rule<NextTag, Next> next = "'next'";
const x3::rule<RepeatTag, RepeatNode> repeat = "'stack' or 'loop'";
const x3::rule<UseTag, Use> use = "'use'";
const x3::rule<TargetsTag, std::vector<Token>> targets = "a name or '('";
const x3::rule<AnnotationTag, TypeNode> annotation = "':'";
const x3::rule<LetTag, Let> let = "'let'";
const x3::rule<WalkedTag, std::vector<Token>> walked = "'('";
const x3::rule<OutHeadTag, OutHead> outHead = "a name";
const x3::rule<OutTag, Out> out = "'out'";
const x3::rule<LossTag, Loss> loss = "'loss'";
const x3::rule<MetricTag, Metric> metric = "'metric'";
const x3::rule<ReturnTag, Return> result = "'return' or 'yield'";
const x3::rule<UntilTag, Until> until = "'until'";
const x3::rule<CarryTag, Carry> carry = "'carry'";
const x3::rule<OutputTag, Token> output = "'->'";
const x3::rule<FormalTag, FormalNode> formal = "a name";
const x3::rule<FormalsTag, std::vector<FormalNode>> formals = "'['";
const x3::rule<GroupsTag, std::vector<Group>> groups = "a name";
const x3::rule<ResultsTag, std::vector<TypeNode>> results = "a type";
const x3::rule<CallableHeaderTag, CallableHeader> callableHeader = "a name";
const x3::rule<AnyStatementTag, Statement> anyStatement = "a statement";

const auto config_def = Keep("config", "'config'") > commaList(binding);
const auto dimTail_def = dimOperator > expression;
const auto dim_def = name >> -dimTail;
const auto dims_def = Keep("dim", "'dim'") > commaList(dim);
const auto require_def = Mark("require", "'require'") > expression > -text;
const auto in_def = Keep("in", "'in'") > commaList(group);
const auto param_def = Mark("param", "'param'") > commaList(group) > initializer > expression;
const auto state_def = Mark("state", "'state'") > commaList(group) > initializer > expression;
const auto next_def = Mark("next", "'next'") > name > equals > expression;
const auto repeat_def = repeatKind > squareOpen > expression > Mark("]", "']'");
const auto use_def = Mark("use", "'use'") > commaList(name) > equals > -repeat > layerName > -axisOps > -arguments;
const auto walked_def = roundOpen > commaList(name) > roundClose;
const auto targets_def = walked | x3::repeat(1)[name];
const auto annotation_def = colon > type;
const auto let_def = Mark("let", "'let'") > targets > -annotation > Mark("=", "'='") > expression;
const auto outHead_def = outName > -walked > equals;
const auto out_def = Mark("out", "'out'") > -outHead > commaList(name);
const auto loss_def = Mark("loss", "'loss'") > name > equals > expression;
const auto metric_def = Mark("metric", "'metric'") > name > equals > expression; // a word here only, a name elsewhere
const auto result_def = returnKind > commaList(expression);
const auto until_def = Keep("until", "'until'") > expression;
const auto carry_def = Mark("carry", "'carry'") > name > colon > type > equals > expression;

const auto output_def = arrow > name;
const auto formal_def = name >> -output;
const auto formals_def = squareOpen > commaList(formal) > Mark("]", "'->', ',' or ']'");
const auto groups_def = commaList(group);
const auto results_def = (roundOpen > commaList(type) > roundClose) | x3::repeat(1)[type];
const auto callableHeader_def = header[name > -formals > roundOpen > -groups > roundClose > arrow > results > curlyOpen];
const auto callable_def = nested[callableKind > callableHeader > *statement > curlyClose];
const auto anyStatement_def =
    config | dims | require | in | param | state | next | use | let | out | loss | metric | result | until | carry | callable;
const auto statement_def = resync(ListKind::Statements)[anyStatement];

} // namespace

BOOST_SPIRIT_DEFINE(config, dimTail, dim, dims, require, in, param, state, next, repeat, use, targets, annotation, let, walked,
                    outHead, out, loss, metric, result, until, carry, output, formal, formals, groups, results, callableHeader,
                    callable, anyStatement, statement)

BOOST_SPIRIT_INSTANTIATE(CallableRule, Iterator, Context)
BOOST_SPIRIT_INSTANTIATE(StatementRule, Iterator, Context)

} // namespace tenon::syntax
