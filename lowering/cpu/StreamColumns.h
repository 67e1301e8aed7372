#ifndef TENON_LOWERING_CPU_STREAMCOLUMNS_H
#define TENON_LOWERING_CPU_STREAMCOLUMNS_H

#include "lowering/cpu/StreamRows.h"

namespace tenon::cpu {

/// The private function that multiplies few rows of A with a transposed B ([N, K], a table of symbols) that it reads once, in
/// squares that are transposed in registers:
///   (rows: i64, k: i64, columns: i64, a: ptr, aRowStride: i64, aColStride: i64, b: ptr, bColStride: i64, sums: ptr, pitch: i64)
/// Types, sums and the order of additions are those of getStreamRows.
mlir::func::FuncOp getStreamColumns(mlir::OpBuilder &builder, mlir::Location location, Tier tier, const StreamedMatrix &matrix);

} // namespace tenon::cpu

#endif // TENON_LOWERING_CPU_STREAMCOLUMNS_H
