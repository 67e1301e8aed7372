#ifndef TENON_LOWERING_CPU_STREAMROWS_H
#define TENON_LOWERING_CPU_STREAMROWS_H

#include "lowering/cpu/Tier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::cpu {

/// Rows of C up to which a row-major B is read where it is, row by row, instead of panel by panel: one row of a text that is
/// generated reads each weight once, so that memory alone counts, and rows follow each other in it.
constexpr int64_t kFewRows = 4;
/// Bytes of sums in a row of a tile of such a contraction, 1,536 columns of f32: rows of B are read in pieces as long as that,
/// since the processor reads on behind the end of each, and the sums of the rows stay in the nearest cache.
constexpr int64_t kStreamedBytes = 6144;

/// The matrix B that few rows read where it is.
struct StreamedMatrix {
  mlir::Type storage;       ///< in memory
  mlir::Type rounding = {}; ///< bf16 or f16, to which f32 is rounded on its way; null: it is multiplied as it is
  bool isWidened = false;   ///< A is of what sums are of, and 16 bits of B are widened; else A is stored as B, and bf16
                            ///< multiplies pairs, where the tier does
  bool multipliesPairs(Tier tier) const { return !isWidened && cpu::multipliesPairs(tier, storage); }
  mlir::Type storageOfA() const { return isWidened ? elementModel(storage).compute : storage; }
  /// The part of a function's name that says all this and the tier.
  std::string name(Tier tier) const;
};

/// The private function that multiplies few rows of A with a row-major B that it reads once:
///   (rows: i64, k: i64, columns: i64, a: ptr, aRowStride: i64, aColStride: i64, b: ptr, bRowStride: i64, sums: ptr, pitch: i64)
/// B is f32 or f64, bf16 where the tier multiplies pairs, A then with neighbours along K; bf16 and f16 where they are widened.
/// Sums of f32 or f64, `pitch` elements per row, aligned to 64 bytes with room for whole vectors; the order of additions is that
/// of the micro-kernels. `adds`: to what is there.
mlir::func::FuncOp getStreamRows(mlir::OpBuilder &builder, mlir::Location location, Tier tier, const StreamedMatrix &matrix,
                                 bool adds = false);

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_STREAMROWS_H
