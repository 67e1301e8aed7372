// tenon-sema-test FILE [--model NAME] [--set A=1] [--bind T=8] [--recipe NAME] [--entry NAME] [--root DIR] [--check] [--brief]
// [--legal] [--count] Prints the checked entries (or, with --count, the number of parameter elements), and the mistakes as
// FILE:LINE:COL: CODE: message, with related places and notes; with --brief one line each, in the order of the text, and their
// number; with --legal none of what is only not supported yet.
#include "frontend/Sema.h"
#include "frontend/graph/Print.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <tuple>

using namespace tenon;

static bool isLater(const Diagnostic &mistake) { return mistake.code == "T0690" || mistake.code == "T0901"; }

static void report(const SourceFiles &sources, const Diagnostics &diagnostics, bool brief, bool legal = false) {
  auto place = [&](ast::Range range) {
    if (range.file >= sources.files.size())
      return std::string("?");
    auto at = sources.position(range.file, range.begin);
    return std::filesystem::path(sources.files[range.file].path).filename().string() + ":" + std::to_string(at.line) + ":" +
           std::to_string(at.column);
  };
  std::vector<Diagnostic> list = diagnostics.all();
  if (legal)
    std::erase_if(list, isLater);
  if (brief)
    std::sort(list.begin(), list.end(), [](const Diagnostic &a, const Diagnostic &b) {
      return std::tie(a.range.file, a.range.begin, a.code) < std::tie(b.range.file, b.range.begin, b.code);
    });
  for (auto &mistake : list) {
    if (brief) {
      std::printf("%s: %s: %s\n", place(mistake.range).c_str(), mistake.code.c_str(), mistake.message.c_str());
      continue;
    }
    std::printf("%s: %s: %s", place(mistake.range).c_str(), mistake.code.c_str(), mistake.message.c_str());
    if (!mistake.label.empty())
      std::printf(" | %s", mistake.label.c_str());
    std::printf("\n");
    for (auto &related : mistake.related)
      std::printf("  %s: %s\n", place(related.range).c_str(), related.label.c_str());
    for (auto &[kind, text] : mistake.notes)
      std::printf("  = %s: %s\n", kind.c_str(), text.c_str());
  }
  if (brief)
    std::printf("mistakes: %zu\n", list.size());
}

/// What to print of the file, besides its mistakes.
struct Asked {
  bool all = false, legal = false, count = false, params = false, brief = false;
};

/// Whether the command line is right.
static bool parseArguments(int argc, char **argv, CheckOptions &options, Asked &asked) {
  const std::pair<const char *, bool &> flags[] = {{"--check", asked.all},
                                                   {"--legal", asked.legal},
                                                   {"--brief", asked.brief},
                                                   {"--count", asked.count},
                                                   {"--params", asked.params}};
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto next = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    auto flag = std::find_if(std::begin(flags), std::end(flags), [&](auto &each) { return word == each.first; });
    if (flag != std::end(flags))
      flag->second = true;
    else if (word == "--model")
      options.model = next();
    else if (word == "--recipe")
      options.recipe = next();
    else if (word == "--entry")
      options.entries.push_back(next());
    else if (word == "--root")
      options.modelRoots.push_back(next());
    else if (word == "--set" || word == "--bind") {
      std::string text = next();
      size_t equals = text.find('=');
      if (equals == std::string::npos)
        return false;
      if (word == "--set")
        options.set.push_back({text.substr(0, equals), text.substr(equals + 1)});
      else
        options.bind.push_back({text.substr(0, equals), std::strtoll(text.c_str() + equals + 1, nullptr, 10)});
    } else
      options.path = word;
  }
  return true;
}

/// The number of elements of all parameters; with `each` a line for each of them, too.
static void printParameters(const Program &program, bool each) {
  int64_t total = 0;
  for (auto &param : program.params) {
    int64_t elements = 1;
    for (int64_t size : param.stackCounts)
      elements *= size;
    for (int64_t size : param.shape)
      elements *= size;
    total += elements;
    if (!each)
      continue;
    std::printf("%s %s(%g)", param.path.c_str(), param.init.kind.c_str(), param.init.a);
    for (auto &[scheme, names] : param.publicNames)
      if (!names.empty())
        std::printf(" %s=%s%s", scheme.c_str(), names.back().name.c_str(), names.back().transform.empty() ? "" : "*");
    std::printf("\n");
  }
  std::printf("parameters %lld\n", (long long)total);
}

int main(int argc, char **argv) {
  CheckOptions options;
  Asked asked;
  if (!parseArguments(argc, argv, options, asked))
    return 2;
  SourceFiles sources;
  Diagnostics diagnostics;
  if (asked.all) {
    bool ok = checkFile(options, sources, diagnostics);
    report(sources, diagnostics, asked.brief, asked.legal);
    return ok || (asked.legal && std::all_of(diagnostics.all().begin(), diagnostics.all().end(), isLater)) ? 0 : 1;
  }
  auto program = check(options, sources, diagnostics);
  report(sources, diagnostics, asked.brief);
  if (!program)
    return 1;
  if (asked.count || asked.params) {
    printParameters(*program, asked.params);
    return 0;
  }
  for (auto &entry : program->entries)
    std::printf("%s\n", print(*program, entry).c_str());
}
