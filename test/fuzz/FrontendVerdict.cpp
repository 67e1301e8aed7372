#include "test/fuzz/FrontendVerdict.h"
#include "frontend/Sema.h"
#include "frontend/explain/Explain.h"
#include "frontend/graph/Print.h"
#include "frontend/mlirgen/MlirGen.h"
#include "frontend/syntax/Format.h"
#include "frontend/syntax/Lexer.h"
#include "frontend/syntax/Parse.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include <algorithm>
#include <fstream>
#include <set>

namespace tenon::fuzz {

namespace {

void examine(const SourceFiles &sources, const Diagnostics &diagnostics, bool withoutPage = false) {
  if (diagnostics.all().size() > Diagnostics::kMostMistakes + 60) // and warnings
    fail("more mistakes than a reader wants");
  for (const Diagnostic &diagnostic : diagnostics.all()) {
    if (explanation(diagnostic.code).empty() || withoutPage)
      fail("a mistake without a page");
    if (diagnostic.message.empty() || diagnostic.range.file >= sources.files.size() ||
        diagnostic.range.begin > diagnostic.range.end || diagnostic.range.end > sources.files[diagnostic.range.file].text.size())
      fail("a mistake without a place");
  }
  if (diagnostics.hasErrors() && (renderText(sources, diagnostics, true).empty() || renderJson(sources, diagnostics).empty()))
    fail("a mistake without a text");
}

/// What `tenon compile` would take: the last model, and the last train block of it.
struct Target {
  bool hasModel = false;
  std::string recipe;
};

Target targetOf(const std::string &text) {
  SourceFiles sources;
  sources.files.push_back({"input.tn", text});
  Diagnostics diagnostics;
  const ast::File file = parse(sources, 0, diagnostics);
  Target target;
  std::string model;
  for (const ast::Item &item : file.items)
    if (item.model) {
      target.hasModel = true;
      model = item.model->name.text;
    }
  for (const ast::Item &item : file.items)
    if (item.recipe && item.recipe->kind == ast::Recipe::Kind::Train && item.recipe->owner.text == model)
      target.recipe = item.recipe->name.text;
  return target;
}

/// What the checker may leave to what comes after it: what is not supported yet (of a recipe only where it is chosen), and what
/// is too much.
bool isDocumentedRefusal(const Diagnostics &diagnostics) {
  static const std::set<std::string> codes = {"T0901", "T0690", "T0418", "T0419", "T0221"};
  return diagnostics.hasErrors() &&
         std::all_of(diagnostics.all().begin(), diagnostics.all().end(), [](const Diagnostic &diagnostic) {
           return diagnostic.severity != Diagnostic::Severity::Error || codes.count(diagnostic.code) > 0;
         });
}

std::string firstMistake(const Diagnostics &diagnostics) {
  for (const Diagnostic &diagnostic : diagnostics.all())
    if (diagnostic.severity == Diagnostic::Severity::Error)
      return diagnostic.code + " " + diagnostic.message;
  return "no mistake";
}

std::vector<std::string> sentencesOf(const Diagnostics &diagnostics) {
  std::vector<std::string> sentences;
  for (const Diagnostic &diagnostic : diagnostics.all())
    sentences.push_back(diagnostic.code + " " + diagnostic.message);
  return sentences;
}

/// Whether a module came out.
bool generate(const Program &program, const SourceFiles &sources, const std::string &plant) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string words;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { words += diagnostic.str(); });
  Diagnostics diagnostics;
  auto module = generateModule(program, sources, ModuleTypes{mlir::Float32Type::get(&context)}, diagnostics);
  if (plant == "refuse") {
    diagnostics.error("T0401", {}, "a planted refusal");
    module = nullptr;
  }
  examine(sources, diagnostics);
  if (!module && !isDocumentedRefusal(diagnostics))
    fail(("the checker says right, the generation refuses: " + firstMistake(diagnostics)).c_str());
  if (!module)
    return false;
  if (plant == "verifier")
    module->getBody()->back().getRegion(0).front().back().erase();
  if (mlir::failed(mlir::verify(*module)))
    fail(("the checker says right, the verifier refuses: " + words).c_str());
  return true;
}

std::vector<std::string> tokensOf(const std::string &text) {
  std::vector<std::string> tokens;
  const char *end = text.data() + text.size();
  for (syntax::Lexeme each = syntax::lex(text.data(), end); each.kind != syntax::LexemeKind::End;
       each = syntax::lex(each.end, end))
    tokens.emplace_back(each.text());
  return tokens;
}

} // namespace

Verdict Judge::compile(const std::string &text) const {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  CheckOptions options;
  options.path = path;
  options.modelRoots = roots;
  SourceFiles sources;
  Diagnostics diagnostics;
  Verdict verdict;
  verdict.isRight = checkFile(options, sources, diagnostics);
  examine(sources, diagnostics, plant == "page");
  verdict.mistakes = sentencesOf(diagnostics);
  if (verdict.isRight == diagnostics.hasErrors())
    fail("the verdict is not that of the mistakes");
  const Target target = targetOf(text);
  options.recipe = target.recipe;
  SourceFiles again;
  Diagnostics mistakes;
  std::optional<Program> program = check(options, again, mistakes);
  if (plant == "recipe" && verdict.isRight) {
    mistakes.error("T0401", {}, "a planted mistake");
    program.reset();
  }
  examine(again, mistakes);
  if (program.has_value() == mistakes.hasErrors())
    fail("a program is missing without a mistake, or there is one with a mistake");
  if (verdict.isRight && !program && target.hasModel && !isDocumentedRefusal(mistakes))
    fail(("tenon check says right, tenon compile refuses: " + firstMistake(mistakes)).c_str());
  if (!program)
    return verdict;
  for (const Entry &entry : program->entries)
    if (print(*program, entry).empty())
      fail("an entry without a text");
  verdict.generates = generate(*program, again, plant);
  return verdict;
}

void Judge::format(const std::string &text, const Verdict &verdict) const {
  SourceFiles sources;
  sources.files.push_back({path, text});
  Diagnostics diagnostics;
  (void)parse(sources, 0, diagnostics);
  if (diagnostics.hasErrors())
    return;
  std::string formatted = tenon::format(text);
  if (plant == "format")
    formatted += " ";
  if (tenon::format(formatted) != formatted)
    fail(("formatted twice, the text is another one than formatted once:\n" + formatted).c_str());
  if (plant == "token")
    formatted += "fn more() -> [] { return 1 }\n";
  if (tokensOf(formatted) != tokensOf(text) || commentsOf(formatted) != commentsOf(text))
    fail("the formatter changes tokens or comments");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << formatted;
  CheckOptions options;
  options.path = path;
  options.modelRoots = roots;
  SourceFiles files;
  Diagnostics found;
  checkFile(options, files, found);
  std::vector<std::string> mistakes = sentencesOf(found);
  if (plant == "meaning")
    mistakes.push_back("T0401 a planted mistake");
  if (mistakes != verdict.mistakes)
    fail("the formatted text has other mistakes");
}

} // namespace tenon::fuzz
