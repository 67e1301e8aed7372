// Pairs of bf16 along K in 32 bits, as `vdpbf16ps` reads them: the even step below, the odd one above, zero behind an odd K.
#pragma once
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Pack.h"

namespace tenon::cpu {

/// Packs columns [0, columns) of B[K, ..] into a panel [(K + 1) / 2][width][2], zero beyond `columns`, with the arguments of
/// getPackPanel. The panel has room for 16 pairs of steps more; in a tier that multiplies tiles it ends in zeros up to the next
/// 16 pairs.
mlir::func::FuncOp getPackPairs(mlir::OpBuilder &builder, mlir::Location location, Tier tier, int64_t width, LayoutOfB layout);

/// Pairs (below[i], above[i]) of the lower or upper half of two vectors of 16 bits.
mlir::Value interleavePairs(Emitter &emit, mlir::Value below, mlir::Value above, bool upper);

/// The rows of A for a block of K in scratch, where K is not its contiguous direction:
///   (rows: i64, k: i64, source: ptr, rowStride: i64, colStride: i64, target: ptr, pitch: i64)
/// `neighbours` (rowStride is 1): pairs [(K + 1) / 2][pitch], aligned to 64 bytes; what lies behind `rows` is zero or garbage.
/// Otherwise bf16 [rows][2 * pitch], zero behind an odd K.
mlir::func::FuncOp getPairRows(mlir::OpBuilder &builder, mlir::Location location, Tier tier, bool neighbours);

} // namespace tenon::cpu
