// How the tiles of a kernel share out the parallel domain of its op: the check that they have all of it, and the two cuts that
// several kernels have. What is cut otherwise: GemmChoice.h, NestCut.h, Attention.h, OptimizerKernels.h.
#pragma once
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/TierChoice.h"

namespace tenon::cpu {

/// Bounds of a number that any value is legal for.
constexpr int64_t kAnyNumber = int64_t(1) << 40;

/// Reported at the op unless the sides have as many points together as its parallel domain.
mlir::LogicalResult checkCut(KernelOpInterface op, llvm::ArrayRef<CutSide> cut);
/// The blocks of all sides; nothing where a size is not known, or a block.
std::optional<int64_t> blocksOf(llvm::ArrayRef<CutSide> cut);

/// Rows of one length, of which a tile has several: `rows`, or, where the length is not known, `by_size` as many as have about so
/// many elements. Neither changes a bit of the result.
struct RowCut {
  mlir::AffineExpr rows = {}, length = {};
  mlir::DictionaryAttr choose() const;
  mlir::LogicalResult take(mlir::Operation *op, Tier tier);
  Value rowsOfTile(FunctionCode &code) const;
  CutSide side() const { return {rows, perTile}; }
  int64_t perTile = 0, elements = 0; // what is chosen; the other one is 0
};

/// Neighbours in memory, of which a tile has `columns`, whole vectors of them. They change no bit of the result.
struct ColumnCut {
  mlir::AffineExpr columns = {};
  mlir::DictionaryAttr choose() const;
  mlir::LogicalResult take(mlir::Operation *op, Tier tier);
  Value width(FunctionCode &code) const;
  Value strips(FunctionCode &code) const;
  CutSide side() const { return {columns, perTile}; }
  int64_t perTile = 0; // what is chosen
};

} // namespace tenon::cpu
