// Errors by which a pass says that it cannot do something, which are mistakes in the reader's eyes and none of the compiler's:
// they carry their code.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace tenon {

inline constexpr const char *kNotSupported = "T0901", *kNoGradient = "T0626";

/// An error at the op, with a code of `tenon explain`, which is a string literal. Any other error of a pass is a bug of the
/// compiler.
inline mlir::InFlightDiagnostic refuse(mlir::Operation *op, const char *code) {
  mlir::InFlightDiagnostic diagnostic = op->emitError();
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument(llvm::StringRef(code)));
  return diagnostic;
}

/// "not supported yet: " and what follows.
inline mlir::InFlightDiagnostic notSupported(mlir::Operation *op) {
  mlir::InFlightDiagnostic diagnostic = refuse(op, kNotSupported);
  diagnostic << "not supported yet: ";
  return diagnostic;
}

/// The code of a refusal; nullopt for other errors.
inline std::optional<llvm::StringRef> refusalCode(mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error || diagnostic.getMetadata().empty())
    return std::nullopt;
  return diagnostic.getMetadata().front().getAsString();
}

} // namespace tenon
