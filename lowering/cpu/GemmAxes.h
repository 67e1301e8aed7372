// The labels of tenon.gemm as rows, columns, depth and batch of a packed contraction (Gemm.h), and how its operands are read.
#pragma once
#include "lowering/cpu/GemmSide.h"

namespace tenon::cpu {

struct GemmAxes {
  explicit GemmAxes(GemmOp op);

  /// Whether blocks of an operand are computed into scratch, where they are not read in ranges.
  bool computesA() const { return (a.element || where || isCopied) && !hasRowsInRanges; }
  bool computesB() const { return (b.element && !hasStepsInRanges) || isGathered; }
  /// Random bits that are drawn for runs of columns: where neighbouring columns are neighbouring elements of the site.
  llvm::SmallVector<RandomKeepOp> keptRuns() const;

  GemmSide a, b; ///< b is the side whose columns are vectors, not always the op's
  SizesOfLabels sizes;
  Labels rows, columns, depth, batch;
  /// A is brought in order first, or B: before that it is `inMemory`, afterwards it has the labels `ordering`.
  bool isReordered = false, isOfB = false;
  GemmSide inMemory = a;
  Labels ordering;
  bool isGathered = false; ///< B is copied into scratch in its order there, and packed from that
  bool isCopied = false;   ///< A is copied into scratch by each tile, though it is in memory
  /// A condition without which an operand is 0, or null: of rows, or else of steps of K, those where it is true are listed and
  /// only they are read.
  Value where;
  Labels whereLabels;
  bool listsRows() const { return where && whereLabels.front() < rank; }
  bool listsSteps() const { return where && !listsRows(); }
  const Labels &listed() const { return listsRows() ? rows : depth; }
  /// Of A rows, of B steps lie in several ranges, and are read there.
  bool hasRowsInRanges = false, hasStepsInRanges = false;

private:
  int64_t contiguousLabel() const;
  void sort();
  void findCondition();
  void findRanges();
  bool isSlice(const Labels &lines) const;
  bool isRun(const GemmSide &side, const Labels &labels) const;
  void setDepth();
  Labels columnsOfResult(Labels labels) const;
  void joinColumns(const Labels &onlyB);
  void joinRows(const Labels &onlyA);
  std::optional<int64_t> placesOf(const Labels &labels) const;
  bool isScattered(const Labels &onlyA, const Labels &onlyB) const;
  void reorder(GemmSide &side, const Labels &outer);

  mlir::Block &block;
  int64_t rank;
};

} // namespace tenon::cpu
