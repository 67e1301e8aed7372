#ifndef TENON_LOWERING_CPU_PACK_H
#define TENON_LOWERING_CPU_PACK_H

#include "lowering/cpu/Tier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::cpu {

/// Layout in memory of the matrix B[K,N] that is packed.
enum class LayoutOfB {
  RowMajor,   ///< [K,N]: rows of the panel are copied
  Transposed, ///< [N,K], e.g. Linear weights [O,I]: squares of lanes x lanes are transposed in registers
  Strided     ///< any strides: element by element
};

/// In which order steps of K are written, and so added.
enum class DepthOrder {
  Ascending,
  OddFirst ///< of each two steps the second one first, as `vdpbf16ps` adds them; a step of zeros completes an odd K
};

/// The private function that packs columns [0, columns) of B[K, ..] into a panel of `width` columns, K-major, zero beyond
/// `columns`:
///   (k: i64, columns: i64 in [1, width], source: ptr, rowStride: i64, colStride: i64, panel: ptr)
/// `storage`: of B in memory; bf16 and f16 become f32 in the panel. The panel is aligned to 64 bytes and has room for K rounded
/// up to whole vectors of rows (the transposing form writes zero rows behind the last one). `width` is a multiple of the tier's
/// lanes. `rounding`: bf16 or f16, to which f32 is rounded on its way; null: as it is.
mlir::func::FuncOp getPackPanel(mlir::OpBuilder &builder, mlir::Location location, Tier tier, mlir::Type storage, int64_t width,
                                LayoutOfB layout, DepthOrder order = DepthOrder::Ascending, mlir::Type rounding = {});

/// Elements from one row of A in scratch to the next: whole vectors and one more, so that rows of a power of two do not share the
/// sets of a cache.
constexpr int64_t kStagedPad = 32;
constexpr int64_t stagedPitch(int64_t columns) { return (columns + kStagedPad - 1) / kStagedPad * kStagedPad + kStagedPad; }

/// A matrix that is widened, rows and columns being those of the function below.
enum class FormOfA {
  AlongDepth, ///< columns are steps of K and neighbours
  AlongRows,  ///< rows are steps of K, columns are neighbours
  Strided     ///< columns are steps of K, any strides
};

/// The private function that writes a matrix of bf16 or f16 as f32:
///   (rows: i64, columns: i64, source: ptr, rowStride: i64, colStride: i64, target: ptr, pitch: i64)
/// The target is row-major with `pitch` elements per row, aligned to 64 bytes; what lies behind `columns` in a row, and behind
/// its zero for an odd K, is zero or garbage.
mlir::func::FuncOp getWidenRows(mlir::OpBuilder &builder, mlir::Location location, Tier tier, mlir::Type storage, FormOfA form,
                                DepthOrder order);

/// Transposes `rows` (lanes vectors of lanes elements each) in registers.
llvm::SmallVector<mlir::Value> emitTranspose(mlir::OpBuilder &builder, mlir::Location location, llvm::ArrayRef<mlir::Value> rows);

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_PACK_H
