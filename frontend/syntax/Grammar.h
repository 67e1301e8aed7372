// The rules that more than one translation unit of the grammar needs. The EBNF stands in frontend/README.md; rules are defined in
// Expressions.cpp, Types.cpp, Statements.cpp and Items.cpp (four units: half the time and memory of an incremental build in one).
#pragma once
#include "frontend/syntax/Tokens.h"

namespace tenon::syntax {

struct ExpressionTag : Annotate {};
struct AxisOpsTag : Annotate {};
struct ArgumentsTag : Annotate {};
struct AttendTag : Annotate {};
struct BinderTag {};
struct BindingTag {};
struct ShapeTag : Annotate {};
struct TypeTag : Annotate {};
struct GroupTag {};
struct CallableTag : Annotate {};
struct StatementTag {};
struct FileTag {};

using ExpressionRule = x3::rule<ExpressionTag, Expression>;
using AxisOpsRule = x3::rule<AxisOpsTag, AxisOps>;
using ArgumentsRule = x3::rule<ArgumentsTag, Arguments>;
using AttendRule = x3::rule<AttendTag, Attend>;
using BinderRule = x3::rule<BinderTag, BinderNode>;
using BindingRule = x3::rule<BindingTag, Binding>;
using TypeRule = x3::rule<TypeTag, TypeNode>;
using GroupRule = x3::rule<GroupTag, Group>;
using CallableRule = x3::rule<CallableTag, CallableNode>;
using StatementRule = x3::rule<StatementTag, Statement>;
using FileRule = x3::rule<FileTag, std::vector<TopItem>>;

const ExpressionRule expression = "an expression";
const AxisOpsRule axisOps = "'['";
const ArgumentsRule arguments = "'('";
const AttendRule attend = "'attend'";
const BinderRule binder = "a name";
const BindingRule binding = "a name";
const TypeRule type = "a type";
const GroupRule group = "a name";
const CallableRule callable = "'layer' or 'fn'";
const StatementRule statement = "a statement";
const FileRule file = "a file";

BOOST_SPIRIT_DECLARE(ExpressionRule, AxisOpsRule, ArgumentsRule, AttendRule, BinderRule, BindingRule, TypeRule, GroupRule,
                     CallableRule, StatementRule, FileRule)

} // namespace tenon::syntax
