// Operands of products by warpgroups: whether the engine of copies can bring boxes of them, their maps, and a stage of the ring:
// one step of 64 of the depth of a tile of both, which is brought by one thread and multiplied by warpgroups.
#pragma once
#include "lowering/gpu/GemmForm.h"
#include "lowering/gpu/Warpgroups.h"

namespace tenon::gpu {

class WarpgroupOperands {
public:
  static constexpr int64_t kLines = 64, kDepth = 64; // of a warpgroup, and of a piece of an operand; of a stage
  /// Where both operands can be brought: `rows` x `columns` of a tile.
  WarpgroupOperands(const GemmForm &form, int64_t rows, int64_t columns);
  static bool fit(const GemmForm &form);
  /// Whether they do, for what is chosen: else it is reported.
  static mlir::LogicalResult check(const GemmForm &form, llvm::StringRef chosen);
  llvm::SmallVector<TensorMap> maps() const;
  static constexpr int64_t bytesOfStage(int64_t rows, int64_t columns) { return (rows + columns) * kDepth * 2; }
  int64_t stageBytes() const { return bytesOfStage(lines[0], lines[1]); }
  Value stageAt(ImplicitLocOpBuilder &builder, Value memory, Value stage) const;
  /// One thread: a step of the tile to a stage; its bytes arrive at the barrier.
  void bring(KernelCode &code, GemmCode &gemm, Value stage, Value barrier, Value step) const;
  /// A warpgroup: adds the products of the steps from `first` on to sums of all columns and of 64 rows at a time, from piece
  /// number `piece` of these on (i64). While it multiplies a stage, the products of the one before end, which is given back then;
  /// the last one is not, and not waited for. `turn`: of the first step, then behind the last one.
  llvm::SmallVector<Value> multiplySteps(KernelCode &code, StageRing &ring, Value memory, std::pair<Value, Value> steps,
                                         StageRing::Turn &turn, Value piece, mlir::ValueRange sums) const;

  /// Dims of an operand that are neighbours in memory and of one part of the product are one dim of its map.
  struct Run {
    enum Part { Lines, Depth, Batch } part;
    Labels labels;
    mlir::AffineExpr stride; // of the last one
  };

private:
  llvm::SmallVector<Run> runsOfPart(int side, Run::Part part) const;
  int64_t piecesOf(int side) const;
  TensorMap mapOf(int side) const;
  llvm::SmallVector<Value> placesIn(KernelCode &code, int side, Run::Part part, Value number) const;
  void multiplyStage(ImplicitLocOpBuilder &builder, Value stage, Value piece, llvm::MutableArrayRef<Value> sums) const;
  void bringSide(KernelCode &code, GemmCode &gemm, int side, Value to, Value barrier, Value depth) const;
  const GemmForm &form;
  const int64_t lines[2];
  const GemmSide *const sides[2];
  const llvm::SmallVector<Run> runs[2];
  const WarpgroupOperand operands[2];
};

} // namespace tenon::gpu
