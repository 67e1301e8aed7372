// The examples on the pages of the grammar are true: the wrong one gives the code of its page, the right one parses.
#include "frontend/explain/Explain.h"
#include "frontend/syntax/Parse.h"
#include <gtest/gtest.h>

using namespace tenon;

namespace {

std::vector<Diagnostic> mistakes(const std::string &text) {
  SourceFiles sources;
  sources.files.push_back({"example.tn", text});
  Diagnostics diagnostics;
  parse(sources, 0, diagnostics);
  return diagnostics.all();
}

/// Examples are items of a file, statements, expressions or lines of attend; each is tried where it can stand.
std::vector<std::string> placed(const std::string &example) {
  return {example + "\n", "model M {\n" + example + "\n}\n", "model M {\nlet v = " + example + "\n}\n",
          "model M {\nlet v = attend(j: S) {\n" + example + "\n}\n}\n"};
}

TEST(ExplainSyntax, ExamplesShowTheMistake) {
  unsigned examples = 0;
  for (const ExplainPage &page : explainSyntax()) {
    if (!*page.wrong)
      continue;
    ++examples;
    bool shown = false;
    for (const std::string &text : placed(page.wrong)) {
      std::vector<Diagnostic> found = mistakes(text);
      shown |= !found.empty() && found.front().code == page.code;
    }
    EXPECT_TRUE(shown) << page.code << ": " << page.wrong;
  }
  EXPECT_GE(examples, 20u);
}

TEST(ExplainSyntax, CorrectedExamplesParse) {
  for (const ExplainPage &page : explainSyntax()) {
    bool right = false;
    for (const std::string &text : placed(page.right))
      right |= mistakes(text).empty();
    EXPECT_TRUE(right) << page.code << ": " << page.right;
  }
}

/// The checks above are able to fail.
TEST(ExplainSyntax, ChecksTellRightFromWrong) {
  for (const std::string &text : placed("let x = "))
    EXPECT_FALSE(mistakes(text).empty());
  EXPECT_TRUE(mistakes(placed("let x = 1")[1]).empty());
}

} // namespace
