// tenon-parse-test FILE...: prints the syntax tree of each file, or its mistakes on stderr (exit code 1).
//   --json    mistakes as JSON      --expression  the file is one expression
//   --again   parses the printed tree once more and requires the same text
//   --ranges  prints kind, place and text of every node instead of the tree
//   --explain CODE
#include "frontend/syntax/Parse.h"
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace tenon;

namespace {

int report(const SourceFiles &sources, const Diagnostics &diagnostics, bool json) {
  std::string text = json ? renderJson(sources, diagnostics) : renderText(sources, diagnostics, false);
  std::fputs(text.c_str(), stderr);
  return diagnostics.hasErrors() ? 1 : 0;
}

int parseAgain(const std::string &text) {
  SourceFiles sources;
  sources.files.push_back({"printed", text});
  Diagnostics diagnostics;
  std::string again = print(parse(sources, 0, diagnostics));
  if (diagnostics.hasErrors())
    return report(sources, diagnostics, false);
  if (again == text)
    return 0;
  std::fprintf(stderr, "the printed tree has another tree:\n%s\n", again.c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  bool json = false, again = false, expression = false;
  SourceFiles sources;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json")) {
      json = true;
    } else if (!std::strcmp(argv[i], "--again")) {
      again = true;
    } else if (!std::strcmp(argv[i], "--expression")) {
      expression = true;
    } else if (!std::strcmp(argv[i], "--explain") && i + 1 < argc) {
      std::string page = explanation(argv[++i]);
      std::fputs(page.c_str(), stdout);
      return page.empty() ? 1 : 0;
    } else {
      std::ifstream stream(argv[i], std::ios::binary);
      if (!stream) {
        std::fprintf(stderr, "cannot read %s\n", argv[i]);
        return 2;
      }
      sources.files.push_back({argv[i], std::string(std::istreambuf_iterator<char>(stream), {})});
    }
  }
  Diagnostics diagnostics;
  int result = 0;
  for (uint32_t file = 0; file < sources.files.size(); ++file) {
    if (expression) {
      result |= parseExpression(sources, file, diagnostics) ? 0 : 1;
      continue;
    }
    std::string text = print(parse(sources, file, diagnostics));
    std::fputs(text.c_str(), stdout);
    if (again && !diagnostics.hasErrors())
      result |= parseAgain(text);
  }
  return report(sources, diagnostics, json) | result;
}
