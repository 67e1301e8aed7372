// How a matrix lies in panels, in which contractions read it: the attribute `tenon.panels` of parameters and of contractions.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace tenon {

/// Of a parameter (each stack element by itself): itself in memory, as far as contractions read it. Of a `gemm`: its operand b.
/// An array of the four numbers below.
inline constexpr llvm::StringLiteral kPanels = "tenon.panels";

/// The tensor is the matrix of its first `leading` dimensions by the others. Its columns, or its rows where it is `transposed`,
/// are cut into panels of `width`, one behind the other. Lines of a panel are those of the other direction; `steps` of them lie
/// side by side, element by element: [panels][lines / steps][width][steps].
struct Panels {
  int64_t leading, width, steps;
  bool transposed;
  bool operator==(const Panels &) const = default;

  /// Those of a verified parameter or `gemm`.
  static std::optional<Panels> of(mlir::Operation *op);
  void set(mlir::Operation *op) const;

  /// Of a tensor of these sizes, stacks not among them: lines of a panel, and columns of all panels together.
  int64_t linesOf(llvm::ArrayRef<int64_t> sizes) const { return product(sizes, !transposed); }
  int64_t columnsOf(llvm::ArrayRef<int64_t> sizes) const { return product(sizes, transposed); }

private:
  int64_t product(llvm::ArrayRef<int64_t> sizes, bool first) const;
};

/// An operand that may lie in panels, as a matrix of which one side is contracted.
struct PanelRead {
  mlir::Value operand;
  int64_t leading;             ///< so many of its dimensions stand for the first side
  bool firstIsSummed;          ///< which is contracted; else the second one is
  std::optional<int64_t> rows; ///< of the other factor, where that is known
};

/// Constraints of the attribute (TenonDialect.td, E12).
mlir::LogicalResult verifyPanels(mlir::Operation *op, mlir::Attribute value);

} // namespace tenon
