// Finds and formats the page of an error code.
#include "frontend/Explain.h"
#include "frontend/Diagnostics.h"

namespace tenon {

std::vector<const ExplainPages *> explainAreas() {
  return {
      &explainSyntax(),
      &explainRecipes(),
  };
}

namespace {

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
  for (const ExplainPages *area : explainAreas())
    for (const ExplainPage &page : *area)
      if (page.code == code)
        return code + ": " + page.title + "\n\n" + page.cause + "\n" + example("Wrong:", page.wrong) + example("Right:", page.right);
  return {};
}

} // namespace tenon
