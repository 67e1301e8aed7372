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

/// The private function that multiplies few rows of A with a row-major B that it reads once:
///   (rows: i64, k: i64, columns: i64, a: ptr, aRowStride: i64, aColStride: i64, b: ptr, bRowStride: i64, sums: ptr, pitch: i64)
/// `storage`: f32 or f64; bf16 where the tier multiplies pairs, A then with neighbours along K. Sums of f32 or f64, `pitch`
/// elements per row, aligned to 64 bytes with room for whole vectors; the order of additions is that of the micro-kernels.
mlir::func::FuncOp getStreamRows(mlir::OpBuilder &builder, mlir::Location location, Tier tier, mlir::Type storage);

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_STREAMROWS_H
