// Rows of elements that lie evenly apart, copied into scratch, with a number put around them.
#pragma once
#include "lowering/cpu/Tier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::cpu {

struct CopyRows {
  Tier tier = Tier::Avx2;
  mlir::Type storage;
  int64_t step = 1;      ///< elements from one column of the source to the next, at most kMostStep
  bool overruns = false; ///< whether up to a vector may be written behind each row before the next one is
  static constexpr int64_t kMostStep = 2;
};

/// The private function that writes `rows` x `count` elements:
///   (rows, rowLow, rowHigh, count, low, high: i64, source: ptr, start, sourceStride: i64, target: ptr, targetStride: i64, fill)
/// Element (row, column) is source[start + row * sourceStride + column * step] in rows [rowLow, rowHigh) and columns [low, high),
/// and nothing else is read; elsewhere it is `fill`, of the type in memory. Bounds may lie outside of the rows and columns.
mlir::func::FuncOp getCopyRows(mlir::OpBuilder &builder, mlir::Location location, const CopyRows &copy);

} // namespace tenon::cpu
