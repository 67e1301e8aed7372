#include "lowering/PassMessages.h"
#include "dialect/Refusal.h"
#include "frontend/Characters.h"
#include "lowering/Passes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <tuple>

using namespace mlir;

namespace tenon {

/// The character at a position: the last byte that is not behind it, found by halving.
static uint32_t offsetOf(const SourceFiles &sources, uint32_t file, unsigned line, unsigned column) {
  uint32_t low = 0, high = uint32_t(sources.files[file].text.size());
  while (low < high) {
    const uint32_t middle = high - (high - low) / 2;
    const SourceFiles::Position at = sources.position(file, middle);
    if (std::tie(at.line, at.column) <= std::tie(line, column))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// The range that a place in a source begins; it is one character wide.
static std::optional<ast::Range> rangeOf(Location location, const SourceFiles &sources) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  for (uint32_t file = 0; place && file < sources.files.size(); ++file)
    if (sources.files[file].path == place.getFilename().getValue()) {
      const uint32_t begin = offsetOf(sources, file, place.getLine(), place.getColumn());
      return ast::Range{file, begin, begin + 1};
    }
  return std::nullopt;
}

/// "place: severity: text", as MLIR's own handler has it, which would print the names and texts of a specification as they are.
/// No notes: one has the whole operation, which may be the module.
static std::string textOf(mlir::Diagnostic &diagnostic) {
  static const char *const severities[] = {"note", "warning", "error", "remark"};
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (!isa<UnknownLoc>(diagnostic.getLocation()))
    stream << diagnostic.getLocation() << ": ";
  stream << severities[static_cast<int>(diagnostic.getSeverity())] << ": " << diagnostic << "\n";
  return text;
}

PassMessages::PassMessages(MLIRContext &context, const SourceFiles &sources, Diagnostics &diagnostics, ast::Range fallback)
    : sources(sources), diagnostics(diagnostics), fallback(fallback),
      handler(&context, [this](mlir::Diagnostic &diagnostic) { take(diagnostic); }) {}

void PassMessages::take(mlir::Diagnostic &diagnostic) {
  std::optional<StringRef> code = refusalCode(diagnostic);
  if (!code) {
    fputs(printable(textOf(diagnostic), true).c_str(), stderr);
    return;
  }
  const std::string message = diagnostic.str();
  const ast::Range range = rangeOf(diagnostic.getLocation(), sources).value_or(fallback);
  auto isSame = [&](const tenon::Diagnostic &other) {
    return other.message == message && other.range.file == range.file && other.range.begin == range.begin;
  };
  if (llvm::none_of(diagnostics.all(), isSame)) // every entry would say it
    diagnostics.error(code->str(), range, message);
}

StageWarnings::StageWarnings(MLIRContext &context, const SourceFiles &sources, Diagnostics &diagnostics, const std::string &entry)
    : sources(sources), diagnostics(diagnostics), entry(entry),
      handler(&context, [this](mlir::Diagnostic &diagnostic) { return take(diagnostic); }) {}

LogicalResult StageWarnings::take(mlir::Diagnostic &diagnostic) {
  std::optional<ast::Range> range = rangeOf(diagnostic.getLocation(), sources);
  if (diagnostic.getSeverity() != DiagnosticSeverity::Warning || !range)
    return failure(); // to the handler before this one
  auto same = llvm::find_if(
      warnings, [&](const Warning &each) { return each.range.file == range->file && each.range.begin == range->begin; });
  if (same == warnings.end())
    same = warnings.insert(warnings.end(), {*range, {}});
  std::string reason = diagnostic.str();
  auto known = llvm::find_if(same->reasons, [&](auto &each) { return each.first == reason; });
  if (known == same->reasons.end())
    known = same->reasons.insert(known, {reason, {}});
  if (!llvm::is_contained(known->second, entry)) // the bodies of a stack with an `if depth` have one each
    known->second.push_back(entry);
  return success();
}

StageWarnings::~StageWarnings() {
  for (const Warning &warning : warnings) {
    const bool isOfTarget =
        llvm::all_of(warning.reasons, [](auto &each) { return llvm::StringRef(each.first).contains(kInSimplerOps); });
    auto &notes = (isOfTarget ? diagnostics.warning("T0903", warning.range, "the target has no kernel for this")
                              : diagnostics.warning("T0902", warning.range, "this attention stores its scores"))
                      .notes;
    for (auto &[reason, entries] : warning.reasons)
      notes.push_back({"note", (entries.size() == 1 ? "entry " : "entries ") + llvm::join(entries, ", ") + ": " + reason});
  }
}

} // namespace tenon
