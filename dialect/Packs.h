// Weights that are packed once for many contractions: results that lie in panels (Panels.h).
#pragma once
#include "dialect/TenonDialect.h"
#include "llvm/Support/MathExtras.h"

#define GET_OP_CLASSES
#include "dialect/PackOps.h.inc"

namespace tenon {

/// Of the result of a `pack`. Nothing: the tensor is no such result.
std::optional<Panels> packedPanels(mlir::Value tensor);
/// What such a result has room for, of a matrix of these sizes: both up to the next multiple of the width.
inline int64_t roomForLines(const Panels &panels, llvm::ArrayRef<int64_t> sizes) {
  return int64_t(llvm::alignTo(uint64_t(panels.linesOf(sizes)), uint64_t(panels.width)));
}
inline int64_t roomForColumns(const Panels &panels, llvm::ArrayRef<int64_t> sizes) {
  return int64_t(llvm::alignTo(uint64_t(panels.columnsOf(sizes)), uint64_t(panels.width)));
}
/// The panels, as an attribute, in which the op of a use takes the tensor to lie. Null: row-major.
mlir::Attribute panelsTaken(mlir::OpOperand &use);

} // namespace tenon
