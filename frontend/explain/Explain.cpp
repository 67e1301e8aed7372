// Finds and formats the page of an error code.
#include "frontend/explain/Explain.h"

namespace tenon {

std::vector<ExplainPages> explainAreas() {
  return {explainSyntax(), explainScopes(),  explainValues(),          explainLayers(),     explainAttend(), explainCompiler(),
          explainShapes(), explainRecipes(), explainRecipesAsAWhole(), explainParameters(), explainNames()};
}

namespace {

/// Breaks prose at blanks before column 100; line breaks of the source mean nothing.
std::string wrapped(const std::string &text) {
  std::string result, word;
  size_t column = 0;
  auto flush = [&] {
    if (word.empty())
      return;
    const bool fits = column == 0 || column + 1 + word.size() <= 100;
    result += (column == 0 ? "" : fits ? " " : "\n") + word;
    column = fits ? column + (column > 0) + word.size() : word.size();
    word.clear();
  };
  for (char c : text)
    if (c == ' ' || c == '\n')
      flush();
    else
      word += c;
  flush();
  return result;
}

std::string example(const char *title, std::string text) {
  if (text.empty())
    return {};
  std::string result = std::string("\n") + title + "\n\n    ";
  for (char c : text)
    result += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return result + "\n";
}

} // namespace

std::string explanation(const std::string &code) {
  for (ExplainPages area : explainAreas())
    for (const ExplainPage &page : area)
      if (page.code == code)
        return code + ": " + page.title + "\n\n" + wrapped(page.cause) + "\n" + example("Wrong:", page.wrong) +
               example("Right:", page.right);
  return {};
}

} // namespace tenon
