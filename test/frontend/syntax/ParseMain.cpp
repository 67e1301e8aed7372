// tenon-parse-test FILE...: prints the syntax tree of each file, or its mistakes on stderr (exit code 1).
//   --json    mistakes as JSON      --expression  the file is one expression
//   --again   parses the printed tree once more and requires the same text
//   --ranges  prints kind, place and text of every node instead of the tree
//   --explain CODE prints a page, --codes all codes with their titles
#include "frontend/explain/Explain.h"
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

/// Prints place and source text of every name, type and expression, outermost first.
class RangePrinter {
public:
  explicit RangePrinter(const SourceFiles &sources) : sources(sources) {}

  void file(const ast::File &file) {
    for (const ast::Item &item : file.items) {
      if (item.model) {
        show("model", item.model->range);
        body(item.model->body);
      }
      if (item.callable)
        callable(*item.callable);
      if (item.recipe) {
        show("recipe", item.recipe->range);
        for (const ast::Setting &setting : item.recipe->settings) {
          show("setting", setting.range);
          if (setting.value)
            expression(*setting.value);
        }
      }
    }
  }

private:
  void show(const char *what, const ast::Range &range) {
    SourceFiles::Position begin = sources.position(range.file, range.begin), end = sources.position(range.file, range.end);
    std::string text = sources.files[range.file].text.substr(range.begin, range.end - range.begin);
    for (char &c : text)
      c = c == '\n' ? ' ' : c;
    std::printf("%s %u:%u-%u:%u %s\n", what, begin.line, begin.column, end.line, end.column, text.c_str());
  }
  void body(const std::vector<ast::StmtPtr> &statements) {
    for (const ast::StmtPtr &statement : statements) {
      show("statement", statement->range);
      if (!statement->name.text.empty())
        show("name", statement->name.range);
      for (const ast::Name &name : statement->names)
        show("name", name.range);
      if (statement->type)
        type(*statement->type);
      if (statement->value)
        expression(*statement->value);
      for (const ast::ExprPtr &value : statement->values)
        expression(*value);
      if (statement->count)
        expression(*statement->count);
      axisOps(statement->axisOps);
      for (const ast::Argument &argument : statement->arguments)
        expression(*argument.value);
      if (statement->callable)
        callable(*statement->callable);
    }
  }
  void callable(const ast::Callable &node) {
    show("callable", node.range);
    show("name", node.name.range);
    for (const ast::Typed &parameter : node.parameters) {
      show("name", parameter.name.range);
      type(parameter.type);
    }
    for (const ast::Type &result : node.results)
      type(result);
    body(node.body);
  }
  void type(const ast::Type &type) {
    show("type", type.range);
    for (const ast::Name &axis : type.axes)
      show("axis", axis.range);
  }
  void axisOps(const std::vector<ast::AxisOp> &list) {
    for (const ast::AxisOp &op : list) {
      show("operation", op.range);
      if (op.low)
        expression(*op.low);
      if (op.high)
        expression(*op.high);
      for (const ast::AxisTerm &term : op.to)
        show("axis", term.name.range);
    }
  }
  void expression(const ast::Expr &node) {
    show("expression", node.range);
    if (node.kind == ast::Expr::Kind::Binary || node.kind == ast::Expr::Kind::Member)
      show("operator", node.opRange);
    for (const ast::ExprPtr &operand : node.operands)
      expression(*operand);
    axisOps(node.axisOps);
    for (const ast::Argument &argument : node.arguments)
      expression(*argument.value);
    for (const ast::AttendItem &item : node.items) {
      show("item", item.range);
      expression(*item.value);
    }
    body(node.body);
  }

  const SourceFiles &sources;
};

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
  bool json = false, again = false, expression = false, ranges = false;
  SourceFiles sources;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--json")) {
      json = true;
    } else if (!std::strcmp(argv[i], "--again")) {
      again = true;
    } else if (!std::strcmp(argv[i], "--ranges")) {
      ranges = true;
    } else if (!std::strcmp(argv[i], "--expression")) {
      expression = true;
    } else if (!std::strcmp(argv[i], "--codes")) {
      for (ExplainPages area : explainAreas())
        for (const ExplainPage &page : area)
          std::printf("%s %s\n", page.code, page.title);
      return 0;
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
    ast::File tree = parse(sources, file, diagnostics);
    if (ranges)
      RangePrinter(sources).file(tree);
    std::string text = ranges ? "" : print(tree);
    std::fputs(text.c_str(), stdout);
    if (again && !ranges && !diagnostics.hasErrors())
      result |= parseAgain(text);
  }
  return report(sources, diagnostics, json) | result;
}
