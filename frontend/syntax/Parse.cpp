// The border of the grammar: exceptions live and die here.
#include "frontend/syntax/Parse.h"
#include "frontend/syntax/Convert.h"
#include "frontend/syntax/Grammar.h"
#include <algorithm>

namespace tenon {
namespace {

using namespace syntax;

constexpr size_t kSizeLimit = size_t{16} << 20;

/// The state over the text of the file; false after a report when it is too large. A byte order mark is skipped.
bool open(ParserState &state, const SourceFiles &sources, uint32_t file, Diagnostics &diagnostics) {
  const std::string &text = sources.files[file].text;
  state.begin = text.data();
  state.end = text.data() + text.size();
  state.file = file;
  state.diagnostics = &diagnostics;
  if (text.size() <= kSizeLimit)
    return true;
  diagnostics.error("T0010", {file, 0, 0},
                    "this file is too large for a specification: " + std::to_string(text.size()) + " bytes",
                    "the limit is 16 MiB");
  return false;
}

const char *textStart(const ParserState &state) {
  bool mark = state.end - state.begin >= 3 && std::string_view(state.begin, 3) == "\xEF\xBB\xBF";
  return state.begin + (mark ? 3 : 0);
}

} // namespace

ast::File parse(const SourceFiles &sources, uint32_t file, Diagnostics &diagnostics) {
  ParserState state;
  ast::File result;
  result.file = file;
  Diagnostics found;
  if (!open(state, sources, file, diagnostics))
    return result;
  state.diagnostics = &found;
  try {
    std::vector<TopItem> items;
    const char *first = textStart(state);
    x3::parse(first, state.end, x3::with<StateTag>(state)[syntax::file], items);
    result = convertFile(state, items);
  } catch (const TooManyMistakes &) {
    found.error("T0099", state.range(state.lastMistake, state.lastMistake),
                "too many mistakes; the rest of this file is not checked");
  }
  // Mistakes that only the conversion sees come last; people read a file from the top.
  std::vector<Diagnostic> sorted = found.all();
  std::sort(sorted.begin(), sorted.end(), [](const Diagnostic &a, const Diagnostic &b) { return a.range.begin < b.range.begin; });
  for (Diagnostic &diagnostic : sorted)
    diagnostics.report(std::move(diagnostic));
  return result;
}

ast::ExprPtr parseExpression(const SourceFiles &sources, uint32_t file, Diagnostics &diagnostics) {
  ParserState state;
  if (!open(state, sources, file, diagnostics))
    return nullptr;
  try {
    Expression attribute;
    const char *first = textStart(state);
    if (!x3::parse(first, state.end, x3::with<StateTag>(state)[expression], attribute))
      reportUnexpected(state, first, "an expression");
    else if (lex(first, state.end).kind != LexemeKind::End)
      reportUnexpected(state, first, "the end of the expression");
    else
      return convertExpression(state, attribute);
  } catch (const x3::expectation_failure<Iterator> &failure) {
    reportUnexpected(state, failure.where(), failure.which());
  } catch (const TooDeep &failure) {
    reportTooDeep(state, failure.where);
  } catch (const TooManyMistakes &) {
    // At most one mistake was reported above this limit; nothing more to say about one expression.
  }
  return nullptr;
}

} // namespace tenon
