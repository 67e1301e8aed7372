// What passes say through MLIR, as messages of the compiler.
#pragma once
#include "frontend/Diagnostics.h"
#include "mlir/IR/Diagnostics.h"

namespace tenon {

/// Takes the diagnostics of a context while it lives. An error with a code (dialect/Refusal.h) becomes one of the specification,
/// once for a place and a text, at `fallback` where it names no place: exit code 1. Any other error is a bug of the compiler,
/// whatever its text says: it is printed and leaves `diagnostics` as they are, so that the compilation ends with exit code 70.
class PassMessages {
public:
  PassMessages(mlir::MLIRContext &context, const SourceFiles &sources, Diagnostics &diagnostics, ast::Range fallback);

private:
  void take(mlir::Diagnostic &diagnostic);

  const SourceFiles &sources;
  Diagnostics &diagnostics;
  ast::Range fallback;
  mlir::ScopedDiagnosticHandler handler;
};

/// Takes the warnings of one stage while it lives; then they become one of the compiler for each place, with a note for each
/// reason and the entries that have it. `entry` is the one that the passes are at.
class StageWarnings {
public:
  StageWarnings(mlir::MLIRContext &context, const SourceFiles &sources, Diagnostics &diagnostics, const std::string &entry);
  ~StageWarnings();

private:
  struct Warning {
    ast::Range range;
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons; // and the entries
  };
  mlir::LogicalResult take(mlir::Diagnostic &diagnostic);

  const SourceFiles &sources;
  Diagnostics &diagnostics;
  const std::string &entry;
  std::vector<Warning> warnings;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tenon
