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
  /// `memory`: the tensor of a side that is in memory; `indices`: of the labels that are not in the run.
  void read(FunctionCode &code, LaneCode &lanes, const GemmSide &side, Value memory, const IndicesOfLabels &indices,
            const Run &run) const;
  /// Where lines [low, high) of the merged `lines` lie, of which the first is at `address`.
  using LinesInRange = llvm::function_ref<void(Value low, Value high, Value address)>;
  /// Calls `body` for the lines of [first, end) that lie in one of the side's ranges, in order; the last label of `lines` is the
  /// one that is joined. Calls may be for no line. `indices`: of the other labels but those whose neighbours make a line.
  void visitRanges(FunctionCode &code, LaneCode &lanes, const GemmSide &side, llvm::ArrayRef<int64_t> lines,
                   const IndicesOfLabels &indices, Value first, Value end, LinesInRange body) const;
  /// Rows [low, high) of the merged `rows` of a side in memory, each with all of `depth`, to `target`, where row 0 begins.
  void order(FunctionCode &code, LaneCode &lanes, const GemmSide &side, Value memory, llvm::ArrayRef<int64_t> rows, Value low,
             Value high, llvm::ArrayRef<int64_t> depth, Value target) const;
  /// One element of a computed side, or neighbours.
  LaneValue elementAt(const GemmSide &side, LaneCode &lanes, const IndicesOfLabels &indices) const;

private:
  Labels piecesOf(const GemmSide &side, const Run &run, const LaneCode &lanes) const;
  void readRanges(FunctionCode &code, LaneCode &lanes, const GemmSide &side, const IndicesOfLabels &indices,
                  const Run &run) const;
  /// The parts of a run within one place each of its `outer` labels: places from `from` on of the others.
  void forPieces(FunctionCode &code, const Run &run, size_t outer, Type element,
                 llvm::function_ref<void(Value number, Value from, Value count, Value target)> body) const;
  Value startOf(FunctionCode &code, const GemmSide &side, const IndicesOfLabels &indices) const;

  const SizesOfLabels &sizes;
};

} // namespace tenon::cpu
