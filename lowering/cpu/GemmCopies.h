// Blocks of an operand of a contraction that are copied into scratch in rows: what lies evenly apart, and windows, with what is
// put around a tensor.
#pragma once
#include "lowering/cpu/GemmReads.h"

namespace tenon::cpu {

/// `count` places of the merged `run` from `first` on, for each of `lineCount` of the merged `lines` from `firstLine` on. Lines
/// are `pitch` elements apart in scratch, each with its places as neighbours.
struct BlockOfSide {
  llvm::ArrayRef<int64_t> lines, run;
  bool alongDepth = false; ///< the run is of steps of K, and scratch has room for a vector behind each line
  Value firstLine, lineCount, first, count, target, pitch;
};

class GemmCopies {
public:
  explicit GemmCopies(const SizesOfLabels &sizes) : sizes(sizes) {}

  /// Whether blocks of these lines and runs are such copies.
  bool mayCopy(const GemmSide &side, llvm::ArrayRef<int64_t> lines, llvm::ArrayRef<int64_t> run, bool alongDepth) const;
  /// `memory`: the tensor of a side that is in memory; `fixed`: indices of the labels of a batch.
  void copy(FunctionCode &code, const GemmSide &side, Value memory, const IndicesOfLabels &fixed, const BlockOfSide &block) const;

private:
  const SizesOfLabels &sizes;
};

} // namespace tenon::cpu
