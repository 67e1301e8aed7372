// From the attributes of the X3 rules to the syntax tree. Applies operator precedence and the checks that the grammar leaves out.
#pragma once
#include "frontend/syntax/Attributes.h"
#include "frontend/syntax/Errors.h"

namespace tenon::syntax {

ast::File convertFile(ParserState &state, const std::vector<TopItem> &items);
/// Null after a mistake.
ast::ExprPtr convertExpression(ParserState &state, const Expression &expression);

} // namespace tenon::syntax
