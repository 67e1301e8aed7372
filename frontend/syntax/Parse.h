// The border of the X3 grammar: text in, syntax tree out. Nothing of Boost is visible here and nothing is thrown across it.
#pragma once
#include "frontend/Ast.h"
#include "frontend/Diagnostics.h"

namespace tenon {

/// Parses file `file` of `sources`. Mistakes go to `diagnostics` (several per run: recovery at statement keywords); a tree is
/// always returned, with Stmt::Kind::Bad where nothing could be made of the text. Nesting limit 256 (T0009), size limit 16 MiB.
ast::File parse(const SourceFiles &sources, uint32_t file, Diagnostics &diagnostics);
/// Parses one expression, for `--set Block=Bottleneck(eps = 1)`. Null on error.
ast::ExprPtr parseExpression(const SourceFiles &sources, uint32_t file, Diagnostics &diagnostics);
/// `--emit=ast`: an indented text of the tree, stable for tests.
std::string print(const ast::File &file);

} // namespace tenon
