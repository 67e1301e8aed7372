#include "tools/compiler/Format.h"
#include "frontend/syntax/Format.h"
#include "frontend/syntax/Parse.h"
#include "runtime/base/File.h"
#include "tools/compiler/CommandLine.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <unistd.h>

namespace tenon::compiler {

namespace {

constexpr uint64_t kMostBytes =
    (uint64_t{16} << 20) + 1; // one more than the grammar takes, so that it is the grammar that refuses
constexpr const char *kStandardInput = "-";

int fail(const runtime::Status &status) {
  complain(status.message());
  return status.exitCode();
}

runtime::Expected<std::string> readText(const std::string &path) {
  if (path != kStandardInput)
    return runtime::readWholeFile(path, kMostBytes);
  std::string text;
  char buffer[65536];
  while (text.size() < kMostBytes) {
    size_t got = fread(buffer, 1, std::min<uint64_t>(sizeof buffer, kMostBytes - text.size()), stdin);
    if (got == 0)
      break;
    text.append(buffer, got);
  }
  if (ferror(stdin))
    return runtime::inputError("cannot read the standard input: ", std::string(strerror(errno)));
  return text;
}

/// The tree as text; nothing after its mistakes were said.
std::optional<std::string> treeOf(const std::string &path, const std::string &text) {
  SourceFiles sources;
  Diagnostics diagnostics;
  sources.files.push_back({path, text});
  ast::File tree = parse(sources, 0, diagnostics);
  showText(sources, diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  return print(tree);
}

/// What is promised of the result, so that a mistake of the formatter costs a message and no work of anybody's.
bool keepsAll(const std::string &path, const std::string &text, const std::string &tree, const std::string &formatted) {
  std::optional<std::string> again = treeOf(path, formatted);
  return again && *again == tree && commentsOf(formatted) == commentsOf(text) && format(formatted) == formatted;
}

int formatOne(const std::string &path, bool checkOnly) {
  const bool standard = path == kStandardInput;
  const std::string shown = standard ? "<standard input>" : path;
  auto text = readText(path);
  if (!text.ok())
    return fail(text.status());
  std::optional<std::string> tree = treeOf(shown, *text);
  if (!tree)
    return 1;
  std::string formatted = format(*text);
  if (formatted != *text && !keepsAll(shown, *text, *tree, formatted)) {
    complain(shown + ": the formatter would change more than the look of this file; it is left as it is");
    return 70;
  }
  if (checkOnly) {
    if (formatted != *text)
      printf("%s\n", printable(shown).c_str());
    return formatted != *text;
  }
  if (standard) {
    fwrite(formatted.data(), 1, formatted.size(), stdout);
    return 0;
  }
  if (formatted == *text)
    return 0;
  if (access(path.c_str(), W_OK) != 0) // the folder alone would let it be replaced
    return fail(runtime::fileError("write", path, errno));
  runtime::Status status = runtime::replaceFile(path, formatted);
  return status.ok() ? 0 : fail(status);
}

} // namespace

int runFormat(const std::vector<std::string> &paths, bool checkOnly) {
  if (std::count(paths.begin(), paths.end(), kStandardInput) > 1) {
    complain("the standard input can be read once");
    return 2;
  }
  int exitCode = 0;
  for (const std::string &path : paths)
    exitCode = std::max(exitCode, formatOne(path, checkOnly));
  return exitCode;
}

} // namespace tenon::compiler
