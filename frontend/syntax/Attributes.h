// What the X3 rules build: one struct per rule of the grammar, with pointers into the text as positions. Convert.h turns these
// into frontend/Ast.h, so nothing of Boost leaves this folder. Rules of X3 that shape these types: no struct with a single member
// (hence the tokens kept for nothing else), boost::optional, recursion through forward_ast, `Bad` first among statements.
#pragma once
#include <boost/fusion/include/adapt_struct.hpp>
#include <boost/optional.hpp>
#include <boost/spirit/home/x3/support/ast/variant.hpp>
#include <string_view>
#include <vector>

namespace tenon::syntax {

namespace x3 = boost::spirit::x3;
using boost::optional;

/// First and one-past-last character of what a rule matched, blanks around it excluded.
struct Located {
  const char *begin = nullptr;
  const char *end = nullptr;
};
struct Token : Located {
  std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
};
struct Number : Token {};
struct Text : Token {}; // with its quotes
struct Reference : Token {};

struct Parenthesis;
struct If;
struct Attend;
struct Scan;
struct AxisOps;
struct Arguments;

struct Primary : x3::variant<Number, Text, Reference, x3::forward_ast<Parenthesis>, x3::forward_ast<If>, x3::forward_ast<Attend>,
                             x3::forward_ast<Scan>> {
  using base_type::base_type;
  using base_type::operator=;
};
struct Member : Located {
  Token dot, name;
};
struct Suffix : x3::variant<Member, x3::forward_ast<AxisOps>, x3::forward_ast<Arguments>> {
  using base_type::base_type;
  using base_type::operator=;
};
struct Operand : Located {
  std::vector<Token> signs;
  Primary primary;
  std::vector<Suffix> suffixes;
};
struct OperatorTail {
  Token op;
  Operand operand;
};
/// operand { binop operand } as written; precedence is applied by the conversion.
struct Expression : Located {
  Operand first;
  std::vector<OperatorTail> rest;
};

struct Parenthesis : Located {
  Token open;
  std::vector<Expression> elements;
};
struct If : Located {
  Expression condition, yes, no;
};

struct AxisTail {
  Token op, name;
};
struct Axes {
  Token first;
  std::vector<AxisTail> rest;
};
struct HighEnd {
  Token dots;
  optional<Expression> end;
};
struct IndexRange {
  Expression low;
  optional<HighEnd> high;
};
struct AxisOpNode : Located {
  Axes from;
  optional<IndexRange> index;
  optional<Axes> to;
};
struct AxisOps : Located {
  Token open;
  std::vector<AxisOpNode> operations;
};
struct ArgumentNode {
  optional<Token> keyword;
  Expression value;
};
struct Arguments : Located {
  Token open;
  std::vector<ArgumentNode> list;
};

struct BinderNode {
  Token name, axis;
};
struct AttendItemNode : Located {
  Token kind;
  optional<Token> name;
  Expression value;
};
/// A statement, attend item, setting or top-level item of which nothing could be made; the mistake is already reported.
struct Bad : Located {};
struct AttendEntry : x3::variant<Bad, AttendItemNode> {
  using base_type::base_type;
  using base_type::operator=;
};
struct Attend : Located {
  std::vector<BinderNode> binders;
  std::vector<AttendEntry> items;
};

struct Shape : Located {
  Token open;
  std::vector<Token> axes;
};
struct TypeNode : Located {
  optional<Token> element;
  optional<Expression> bound;
  optional<Shape> shape;
};
struct Group {
  std::vector<Token> names;
  TypeNode type;
};
struct Binding {
  Token name;
  Expression value;
};
struct DimTail {
  Token op;
  Expression value;
};
struct DimNode : Located {
  Token name;
  optional<DimTail> tail;
};

struct Config : Located {
  Token keyword;
  std::vector<Binding> bindings;
};
struct Dims : Located {
  Token keyword;
  std::vector<DimNode> dims;
};
struct Require : Located {
  Expression condition;
  optional<Text> message;
};
struct In : Located {
  Token keyword;
  std::vector<Group> groups;
};
struct Param : Located {
  std::vector<Group> groups;
  Token op;
  Expression value;
};
struct State : Located {
  std::vector<Group> groups;
  Token op;
  Expression value;
};
struct Next : Located {
  Token name;
  Expression value;
};
struct RepeatNode {
  Token kind;
  Expression count;
};
struct Use : Located {
  std::vector<Token> names;
  optional<RepeatNode> repeat;
  Token layer;
  optional<AxisOps> operations;
  optional<Arguments> arguments;
};
struct Let : Located {
  std::vector<Token> names;
  optional<TypeNode> type;
  Expression value;
};
struct OutHead {
  Token name;
  std::vector<Token> walked;
};
struct Out : Located {
  optional<OutHead> head;
  std::vector<Token> names;
};
struct Loss : Located {
  Token name;
  Expression value;
};
struct Metric : Located {
  Token name;
  Expression value;
};
struct Return : Located {
  Token keyword; // return or yield
  std::vector<Expression> values;
};
struct Until : Located {
  Token keyword;
  Expression value;
};
struct Carry : Located {
  Token name;
  TypeNode type;
  Expression value;
};
struct CallableNode;
struct Statement : x3::variant<Bad, Config, Dims, Require, In, Param, State, Next, Use, Let, Out, Loss, Metric, Return, Until,
                               Carry, x3::forward_ast<CallableNode>> {
  using base_type::base_type;
  using base_type::operator=;
};
struct Scan : Located {
  std::vector<BinderNode> binders;
  std::vector<Statement> body;
};
struct FormalNode {
  Token name;
  optional<Token> output;
};
struct CallableHeader : Located {
  Token name;
  std::vector<FormalNode> formals;
  std::vector<Group> parameters;
  std::vector<TypeNode> results;
};
struct CallableNode : Located {
  Token kind;
  CallableHeader header;
  std::vector<Statement> body;
};

struct BindSetting : Located {
  Token keyword;
  std::vector<Binding> bindings;
};
struct KeySetting : Located {
  Token key; // a word, or a string with its quotes
  Expression value;
};
struct SettingNode : x3::variant<Bad, BindSetting, KeySetting> {
  using base_type::base_type;
  using base_type::operator=;
};
struct ImportNode : Located {
  Token keyword;
  Text path;
};
struct ModelNode : Located {
  Token name;
  std::vector<Statement> body;
};
struct RecipeHeader : Located {
  Token owner;
  optional<Token> name;
};
struct RecipeNode : Located {
  Token kind;
  RecipeHeader header;
  std::vector<SettingNode> settings;
};
struct TopItem : x3::variant<Bad, ImportNode, ModelNode, CallableNode, RecipeNode> {
  using base_type::base_type;
  using base_type::operator=;
};

} // namespace tenon::syntax

BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Member, dot, name)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Operand, signs, primary, suffixes)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::OperatorTail, op, operand)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Expression, first, rest)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Parenthesis, open, elements)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::If, condition, yes, no)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::AxisTail, op, name)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Axes, first, rest)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::HighEnd, dots, end)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::IndexRange, low, high)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::AxisOpNode, from, index, to)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::AxisOps, open, operations)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::ArgumentNode, keyword, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Arguments, open, list)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::BinderNode, name, axis)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::AttendItemNode, kind, name, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Attend, binders, items)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Shape, open, axes)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::TypeNode, element, bound, shape)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Group, names, type)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Binding, name, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::DimTail, op, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::DimNode, name, tail)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Config, keyword, bindings)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Dims, keyword, dims)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Require, condition, message)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::In, keyword, groups)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Param, groups, op, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::State, groups, op, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Next, name, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::RepeatNode, kind, count)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Use, names, repeat, layer, operations, arguments)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Let, names, type, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::OutHead, name, walked)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Out, head, names)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Loss, name, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Metric, name, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Return, keyword, values)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Until, keyword, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Carry, name, type, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::Scan, binders, body)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::FormalNode, name, output)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::CallableHeader, name, formals, parameters, results)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::CallableNode, kind, header, body)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::BindSetting, keyword, bindings)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::KeySetting, key, value)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::ImportNode, keyword, path)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::ModelNode, name, body)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::RecipeHeader, owner, name)
BOOST_FUSION_ADAPT_STRUCT(tenon::syntax::RecipeNode, kind, header, settings)
