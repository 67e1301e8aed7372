// How the results of a stack are read, and what an op reads of its operands to make rows of its results.
#pragma once
#include "dialect/TenonDialect.h"
#include "llvm/ADT/MapVector.h"

namespace tenon {

/// Which rows of a tensor are read: along `dim` those that `result` of the stack is read at, an own list for each index of
/// `batch` (dimensions of the tensor).
struct Rows {
  unsigned result = 0;
  int64_t dim = 0;
  llvm::SmallVector<int64_t> batch;
  bool operator==(const Rows &other) const = default;
};

/// A gather or slice that picks rows along one dimension and keeps the order of the others.
struct Pick {
  mlir::Operation *op;
  int64_t dim;
  int64_t rows;
  bool keepsDim; // false: `rows` is 1, and the dimension is gone
  GatherOp gather() const { return mlir::dyn_cast<GatherOp>(op); }
};

/// How a result of a stack is read.
struct LayerReading {
  enum Kind { Whole, Nowhere, InRows } kind = Whole;
  Rows rows;
  llvm::SmallVector<Pick> picks;
  /// Ops through which picks read it (a final norm), all of which can be computed at these rows of their results alone.
  llvm::MapVector<mlir::Operation *, Rows> between;
  int64_t count = 0; // rows of all picks

  /// Of the result of the stack, or of an op between.
  Rows rowsOf(mlir::Value value) const {
    const auto *it = between.find(value.getDefiningOp());
    return it == between.end() ? rows : it->second;
  }
};
/// In rows: by picks along one dimension, of a known number of rows, at most half of all.
LayerReading readingOf(mlir::OpResult result);

/// Which rows a pick reads, and what the dimensions of this index are: places in the batch of `rows`, or behind it.
std::pair<mlir::Value, llvm::SmallVector<int64_t>> indexOf(mlir::OpBuilder &builder, const Pick &pick, const Rows &rows);

enum class Need { Whole, Rows, Unknown };
/// What the op of an operand, computed at `rows` of its results, reads of it: all where it has no such rows, or `needed` of it.
/// Unknown: the op mixes rows, asks where its elements stand, or does not say.
Need needOf(mlir::OpOperand &operand, const Rows &rows, Rows &needed);

/// Whether `rows` of its results are all the same, and made for nothing.
bool isRepeated(mlir::Operation *op, const Rows &rows);
/// Whether an op can be computed at `rows` of its results alone: they are made of rows of operands, or are repeated.
bool isOfRows(mlir::Operation *op, const Rows &rows);

} // namespace tenon
