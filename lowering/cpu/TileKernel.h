// Contractions of bf16 by tiles: `tdpbf16ps` (AMX) adds to 16 x 16 sums the products of 16 rows and 16 columns over 32 steps of
// K.
#pragma once
#include "lowering/cpu/Tier.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon::cpu {

constexpr int64_t kTileRows = 16;  ///< and columns
constexpr int64_t kTileSteps = 32; ///< of K, in one instruction
constexpr int64_t kStripRows = 32; ///< of a strip: two tiles
constexpr int64_t kFewestRows = 8; ///< contractions with fewer rows multiply pairs: a tile of B is loaded for each 16 x 32 of it
constexpr int64_t kTileBytes = 64; ///< of a row of a tile

/// The private function that configures the eight tiles of the running thread for strips of `rows` rows, and clears them:
///   (rows: i64 in [1, kStripRows])
/// Sums are in tiles 0 to 3 (rows before columns), A in 4 and 5, B in 6 and 7; a strip of 16 rows or fewer uses those of its
/// first half alone. Whoever configures releases: `emitTileRelease`.
mlir::func::FuncOp getTileConfiguration(mlir::OpBuilder &builder, mlir::Location location, Tier tier);
void emitTileRelease(mlir::OpBuilder &builder, mlir::Location location);

/// Up to two tiles of rows and two of columns: C (+)= A B.
struct TileKernel {
  Tier tier;
  int64_t rowTiles, columnTiles;
  int64_t width; ///< columns of the panel of B, and of C
};

/// The private function of `kernel`:
///   (whole: i64, hasRest: i1, a: ptr, aRowBytes: i64, aRest: ptr, b: ptr, c: ptr, accumulate: i1)
/// A is row-major; of each row `whole` times 32 steps of K are read at `a`, and where `hasRest` 32 more at `aRest`
/// (kTileBytes from row to row). B is a panel of pairs, [16 (whole + hasRest)][width][2], C has `width` f32 per row. As many rows
/// are read and written as are configured. Of each 32 steps the even products are one chain of fused multiply-adds from zero and
/// the odd ones another; both are added, then that to the sum.
mlir::func::FuncOp getTileKernel(mlir::OpBuilder &builder, mlir::Location location, const TileKernel &kernel);

/// How the steps of a row of A lie in memory.
enum class FormOfRows {
  AlongDepth, ///< steps of K are neighbours
  AlongRows,  ///< rows are neighbours
  Strided
};

/// The private function that writes rows of A as getTileKernel reads them:
///   (rows: i64, k: i64, source: ptr, rowStride: i64, colStride: i64, target: ptr, pitch: i64)
/// bf16 [rows][pitch], a multiple of 32, each row ending in zeros up to the next 32 steps; there is room for whole tiles of
/// rows. Strides count elements.
mlir::func::FuncOp getTileRows(mlir::OpBuilder &builder, mlir::Location location, Tier tier, FormOfRows form);

} // namespace tenon::cpu
