// The rows of A that a tile of work reads, for one block of K after the other: where they are in memory, or in scratch.
#pragma once
#include "lowering/cpu/GemmPlan.h"
#include "lowering/cpu/GemmScratch.h"

namespace tenon::cpu {

class GemmLeft {
public:
  GemmLeft(Emitter &emit, const GemmSpec &spec, const GemmPlan &plan, const GemmScratch &scratch)
      : emit(emit), spec(spec), plan(plan), scratch(scratch) {}

  /// The rows of the tile (i64).
  void enterTile(mlir::Value first, mlir::Value count) { firstRow = first, rows = count; }
  /// Emits what brings them to where they are read, at `steps` steps of K from `start` on (i64); sets the values below.
  void stage(mlir::Value start, mlir::Value steps);

  GemmOperand memory;     ///< where micro-kernels do not read A in place: in scratch; with tiles, wherever they are
  mlir::Value wholeSteps; ///< with tiles: how often 32 steps of K are read there

  /// Whether strips read A where it is, in several ranges: none goes over the border of two.
  bool hasStripsInRanges() const;
  /// Calls `body` with the first row and the number of rows of each range's part of the tile.
  void forRanges(llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  /// Of a row of the tile in the current range, and a step of K.
  mlir::Value addressInRange(mlir::Value row, mlir::Value step);

private:
  void stageRows();
  void stageTiles();
  void stageRests(mlir::Value whole, mlir::Value steps);

  Emitter &emit;
  const GemmSpec &spec;
  const GemmPlan &plan;
  const GemmScratch &scratch;
  mlir::Value firstRow, rows, startDepth, depth;
  mlir::Value rangeRow, rangeBase; ///< of the current range: its first row in the tile, where that lies
};

} // namespace tenon::cpu
