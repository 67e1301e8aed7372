// Elements of an operand of a contraction, in the order of merged labels, from memory or from code.
#pragma once
#include "lowering/cpu/GemmSide.h"
#include "lowering/cpu/LaneCode.h"

namespace tenon::cpu {

using IndicesOfLabels = llvm::DenseMap<int64_t, LaneValue>;

class GemmReads {
public:
  explicit GemmReads(const SizesOfLabels &sizes) : sizes(sizes) {}

  /// The number of places of the merged labels.
  Value sizeOf(FunctionCode &code, llvm::ArrayRef<int64_t> labels) const;

  /// The index of each label from the number of a place in the merged dimension.
  template <typename Indices>
  void split(FunctionCode &code, llvm::ArrayRef<int64_t> labels, LaneValue number, LaneCode &lanes, Indices &indices) const {
    for (size_t i = labels.size(); i-- > 0;) {
      LaneValue size = LaneValue::uniform(code.size(sizes.lookup(labels[i])));
      indices[labels[i]] = i == 0 ? number : lanes.divide(number, size, true);
      if (i > 0)
        number = lanes.divide(number, size, false);
    }
  }

  /// Where elements go, and how: `count` of them along `labels` from place `first` on, which is a multiple of `multiple`.
  struct Run {
    llvm::ArrayRef<int64_t> labels;
    Value first, count, target;
    int64_t multiple = 1;
  };
  /// `memory`: the tensor of a side that is in memory; `indices`: of the labels that are not in the run. False: its code has
  /// something that is not supported (reported).
  bool read(FunctionCode &code, LaneCode &lanes, const GemmSide &side, Value memory, const IndicesOfLabels &indices,
            const Run &run) const;
  /// Rows [low, high) of the merged `rows` of a side in memory, each with all of `depth`, to `target`, where row 0 begins.
  void order(FunctionCode &code, LaneCode &lanes, const GemmSide &side, Value memory, llvm::ArrayRef<int64_t> rows, Value low,
             Value high, llvm::ArrayRef<int64_t> depth, Value target) const;
  /// One element of a computed side, or neighbours.
  std::optional<LaneValue> elementAt(const GemmSide &side, LaneCode &lanes, const IndicesOfLabels &indices) const;

private:
  Labels piecesOf(const GemmSide &side, const Run &run, const LaneCode &lanes) const;

  const SizesOfLabels &sizes;
};

} // namespace tenon::cpu
