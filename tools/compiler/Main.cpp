// The compiler as a library: one C function that `tenon` opens when a specification has to be read.
#include "frontend/Characters.h"
#include "frontend/ElementTypes.h"
#include "frontend/explain/Explain.h"
#include "frontend/graph/Print.h"
#include "frontend/syntax/Parse.h"
#include "lowering/Compile.h"
#include "runtime/device/Cpu.h"
#include "tools/compiler/CommandLine.h"
#include "tools/compiler/Format.h"
#include "tools/compiler/Reproducer.h"
#include "tools/compiler/Sources.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::compiler {

void complain(const std::string &message) { tenon::complain(message); }

namespace fs = std::filesystem;

void showText(const SourceFiles &sources, const Diagnostics &diagnostics) {
  if (!diagnostics.all().empty())
    fputs(renderText(sources, diagnostics, isatty(STDERR_FILENO) && !(getenv("NO_COLOR") && *getenv("NO_COLOR"))).c_str(),
          stderr);
}

namespace {

ReadSources readSources; // of the last artifact

/// 2 if all that is wrong is what options name: a model, config, dim, entry or recipe that is not there, or the text of a --set.
int exitCodeOf(const CommandLine &line, const SourceFiles &sources, const Diagnostics &diagnostics) {
  std::set<std::string> ofOptions = {"T0108", "T0111", "T0624"};
  if (!line.check.model.empty()) // else it is the file that has no model
    ofOptions.insert("T0107");
  for (const Diagnostic &mistake : diagnostics.all()) {
    bool inOption = mistake.range.file < sources.files.size() && sources.files[mistake.range.file].path.starts_with("--");
    if (mistake.severity == Diagnostic::Severity::Error && !inOption && !ofOptions.count(mistake.code))
      return 1;
  }
  return 2;
}

/// Prints what was found; true if there are errors.
bool show(const CommandLine &line, const SourceFiles &sources, const Diagnostics &diagnostics) {
  if (line.jsonDiagnostics)
    printf("%s\n", renderJson(sources, diagnostics).c_str());
  else
    showText(sources, diagnostics);
  return diagnostics.hasErrors();
}

int runCheck(const CommandLine &line) {
  SourceFiles sources;
  Diagnostics diagnostics;
  bool right = checkFile(line.check, sources, diagnostics);
  // A file is checked as a whole; what options pick from it has to be there.
  if (right && !(line.check.model.empty() && line.check.recipe.empty() && line.check.entries.empty())) {
    sources = {};
    diagnostics = {};
    check(line.check, sources, diagnostics);
  }
  if (show(line, sources, diagnostics))
    return exitCodeOf(line, sources, diagnostics);
  if (!line.jsonDiagnostics)
    printf("%s: no mistakes\n", printable(line.check.path).c_str());
  return 0;
}

int runExplain(const CommandLine &line) {
  std::string code = line.code;
  if (!code.empty() && code[0] == 't')
    code[0] = 'T';
  std::string page = explanation(code);
  if (page.empty()) {
    complain("there is no error code '" + line.code + "'; codes look like T0207");
    return 2;
  }
  printf("%s\n", page.c_str());
  return 0;
}

bool readSource(const std::string &path, SourceFiles &sources) {
  FILE *file = fopen(path.c_str(), "rb");
  if (!file)
    return false;
  std::string text;
  char buffer[65536];
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
    text.append(buffer, got);
  bool whole = !ferror(file);
  fclose(file);
  sources.files.emplace_back(path, std::move(text));
  return whole;
}

int emitTree(const CommandLine &line) {
  SourceFiles sources;
  Diagnostics diagnostics;
  if (!readSource(line.check.path, sources)) {
    complain("cannot read " + line.check.path);
    return 3;
  }
  ast::File tree = parse(sources, 0, diagnostics);
  if (show(line, sources, diagnostics))
    return 1;
  printf("%s", print(tree).c_str());
  return 0;
}

int emitChecked(const CommandLine &line) {
  SourceFiles sources;
  Diagnostics diagnostics;
  std::optional<Program> program = check(line.check, sources, diagnostics);
  if (show(line, sources, diagnostics) || !program)
    return exitCodeOf(line, sources, diagnostics);
  if (line.emit.front() == "graph")
    fputs(drawGraph(*program).c_str(), stdout);
  else
    for (const Entry &entry : program->entries)
      fputs(print(*program, entry).c_str(), stdout);
  return 0;
}

/// The names of the train recipes of the model that will be compiled, which `model` is set to: the given one, else the last of
/// the file, or in a file of recipes for imported models the last that they name.
std::vector<std::string> recipesOf(const CommandLine &line, std::string &model) {
  SourceFiles sources;
  Diagnostics ignored;
  std::vector<std::string> recipes;
  if (!readSource(line.check.path, sources))
    return recipes; // check will say so
  ast::File tree = parse(sources, 0, ignored);
  std::vector<std::string> own, named;
  for (const ast::Item &item : tree.items)
    if (item.model)
      own.push_back(item.model->name.text);
    else if (item.recipe && item.recipe->kind != ast::Recipe::Kind::Names &&
             std::find(named.begin(), named.end(), item.recipe->owner.text) == named.end())
      named.push_back(item.recipe->owner.text);
  const std::vector<std::string> &models = own.empty() ? named : own;
  model = !line.check.model.empty() || models.empty() ? line.check.model : models.back();
  for (const ast::Item &item : tree.items)
    if (item.recipe && item.recipe->kind == ast::Recipe::Kind::Train && item.recipe->owner.text == model)
      recipes.push_back(item.recipe->name.text);
  return recipes;
}

/// Without --recipe: the model's only one, if it has one. Where it has several, training asks which (false after a message), and
/// an artifact is made without a training step.
bool chooseRecipe(CommandLine &line) {
  const bool isArtifact = line.emit.empty() && !line.gradient && line.check.entries.empty();
  if (!line.check.recipe.empty() || line.noRecipe || !(line.defaultRecipe || isArtifact))
    return true;
  std::string model, names;
  const std::vector<std::string> recipes = recipesOf(line, model);
  for (const std::string &recipe : recipes)
    names += (names.empty() ? "" : ", ") + recipe;
  if (recipes.size() == 1)
    line.check.recipe = recipes[0];
  else if (recipes.size() > 1 && line.defaultRecipe)
    complain(model + " has several train recipes; pass --recipe with one of " + names);
  if (line.defaultRecipe || recipes.empty())
    return recipes.size() <= 1;
  if (recipes.size() == 1)
    fprintf(stderr, "tenon: with the training step of %s, the only recipe of %s; --no-recipe leaves it out\n",
            printable(names).c_str(), printable(model).c_str());
  else
    fprintf(stderr, "tenon: without a training step: %s has several recipes, and --recipe chooses one of %s\n",
            printable(model).c_str(), printable(names).c_str());
  return true;
}

int runCompile(CommandLine &line) {
  if (!chooseRecipe(line))
    return 2;
  if (line.emit == std::vector<std::string>{"ast"})
    return emitTree(line);
  if (line.emit == std::vector<std::string>{"checked"} || line.emit == std::vector<std::string>{"graph"})
    return emitChecked(line);
  SourceFiles sources;
  Diagnostics diagnostics;
  CompileRequest request;
  request.check = line.check;
  request.outputDirectory = line.output;
  request.name = artifactName(line);
  request.dtype = line.doublePrecision ? kWideRealWord : kUsualRealWord;
  request.numerics = line.numerics;
  request.target = line.target;
  request.kernelDirectory = line.kernelDirectory;
  request.grad = line.gradient;
  request.decomposed = line.decomposed;
  request.simpleKernels = line.simpleKernels;
  request.quick = line.quick;
  request.variants = line.tiers;
  request.machineVariant = runtime::nameOf(runtime::machineTier());
  request.emit = line.emit;
  request.mlirFlags = line.mlirFlags;
  int code = compile(request, sources, diagnostics);
  readSources.take(sources, line.check.modelRoots);
  return show(line, sources, diagnostics) ? exitCodeOf(line, sources, diagnostics) : code;
}

} // namespace

} // namespace tenon::compiler

static std::string writtenManifest;
static bool writtenJson = false;

extern "C" __attribute__((visibility("default"))) const char *tn_compiler_artifact(int *json) {
  *json = writtenJson;
  return writtenManifest.empty() ? nullptr : writtenManifest.c_str();
}

extern "C" __attribute__((visibility("default"))) int tn_compiler_sources(const TnCompilerSource **sources) {
  *sources = tenon::compiler::readSources.list().data();
  return static_cast<int>(tenon::compiler::readSources.list().size());
}

extern "C" __attribute__((visibility("default"))) int tn_compiler_roots(const char *const **roots) {
  *roots = tenon::compiler::readSources.roots().data();
  return static_cast<int>(tenon::compiler::readSources.roots().size());
}

extern "C" __attribute__((visibility("default"))) int tn_compiler_main(int argc, const char **argv) {
  using namespace tenon::compiler;
  CommandLine line;
  int exitCode = 0;
  readSources.clear();
  if (!parseCommandLine(argc, argv, tenon::targetsText(), line, exitCode))
    return exitCode;
  bool readsFile = line.command == CommandLine::Command::Check || line.command == CommandLine::Command::Compile;
  struct stat information{};
  if (readsFile && (access(line.check.path.c_str(), R_OK) != 0 || stat(line.check.path.c_str(), &information) != 0)) {
    complain("cannot read " + line.check.path + ": " + strerror(errno));
    return 3;
  }
  if (readsFile && !S_ISREG(information.st_mode)) { // a pipe or device may have no end
    complain("cannot read " + line.check.path + ": it is " +
             (S_ISDIR(information.st_mode) ? "a directory" : "no regular file; a specification is one"));
    return 3;
  }
  if (line.check.modelRoots.empty())
    line.check.modelRoots = modelRoots();
  CrashGuard guard(argc, argv, line.check.path);
  switch (line.command) {
  case CommandLine::Command::Check:
    exitCode = runCheck(line);
    break;
  case CommandLine::Command::Compile:
    exitCode = runCompile(line);
    break;
  case CommandLine::Command::Format:
    exitCode = runFormat(line.files, line.checkOnly);
    break;
  default:
    exitCode = runExplain(line);
  }
  fflush(stdout);
  if (exitCode == 70)
    CrashGuard::report();
  // A tool that reads the diagnostics gets nothing else, unless it asks.
  bool isArtifact =
      line.command == CommandLine::Command::Compile && exitCode == 0 && line.emit.empty() && (line.json || !line.jsonDiagnostics);
  writtenManifest = isArtifact ? line.output + "/" + artifactName(line) + ".json" : "";
  writtenJson = line.json;
  return exitCode;
}
