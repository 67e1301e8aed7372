// One operand of a contraction: where its elements lie by label, in one place or in several, or the code that computes them.
#pragma once
#include "lowering/code/LinearReads.h"
#include "lowering/cpu/Kernel.h"
#include <vector>

namespace tenon::cpu {

using Labels = llvm::SmallVector<int64_t, 4>;
using SizesOfLabels = llvm::DenseMap<int64_t, mlir::AffineExpr>;

struct GemmSide {
  /// `code` (null: none) that only reads a tensor at places linear in its own, as windows do that stay inside, is no code: the
  /// operand is that tensor with other strides. Code that joins such reads along one dimension has `ranges`.
  GemmSide(Value operand, mlir::RankedTensorType type, llvm::ArrayRef<int64_t> labels, mlir::Block *code);

  bool has(int64_t label) const { return llvm::is_contained(labels, label); }
  /// Elements between neighbours; 0 for labels that it lacks.
  mlir::AffineExpr strideOf(int64_t label) const;
  /// The stride of the last of `run` that has neighbours.
  mlir::AffineExpr strideOf(const Labels &run, const SizesOfLabels &sizes) const;
  /// The longest run at the end of `list` that is one strided dimension: any, where elements are computed.
  Labels runOf(llvm::ArrayRef<int64_t> list, const SizesOfLabels &sizes) const;
  /// Which of `candidates` has neighbours that lie, or are read, side by side or at least evenly apart; the longest of these. -1:
  /// none is known.
  int64_t contiguous(llvm::ArrayRef<int64_t> candidates, const SizesOfLabels &sizes) const;

  Value tensor; ///< null: computed
  mlir::RankedTensorType type;
  llvm::ArrayRef<int64_t> labels;
  mlir::Block *element; ///< its code; null: it is in memory
  llvm::SmallVector<mlir::AffineExpr> strides;
  mlir::AffineExpr offset;            ///< of its first element in the tensor
  std::optional<GuardedRead> guarded; ///< what its code is, if it reads one tensor where linear conditions hold

  /// Places of label `joined` that lie in one tensor each: [starts[i], starts[i + 1]) in ranges[i], an operand in memory with the
  /// labels of this one; the last start is the size. Empty: not several.
  std::vector<GemmSide> ranges;
  llvm::SmallVector<mlir::AffineExpr> starts;
  int64_t joined = -1;
  /// Whether lines along `lines`, whose last label is the one that is joined, lie evenly apart in each range, with neighbours of
  /// `inner` side by side.
  bool hasLinesInRanges(const Labels &lines, const Labels &inner, const SizesOfLabels &sizes) const;

  /// One in memory as ranges of its own: what lies evenly apart along `label` alone, all `size` places of it.
  void readInRanges(int64_t label, mlir::AffineExpr size);

private:
  void findRanges(Value element);
  mlir::AffineExpr zero() const { return mlir::getAffineConstantExpr(0, type.getContext()); }
};

inline bool isOneElement(mlir::AffineExpr size) {
  auto number = mlir::dyn_cast<mlir::AffineConstantExpr>(size);
  return number && number.getValue() == 1;
}

} // namespace tenon::cpu
