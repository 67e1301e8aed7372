// The scratch of a worker while it makes a tile of a contraction (gemmScratchBytes).
#pragma once
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"

namespace tenon::cpu {

/// Addresses in it, one part behind the other.
struct GemmScratch {
  /// `base`: 64-byte aligned.
  GemmScratch(Emitter &emit, const GemmSpec &spec, mlir::Value base);

  mlir::Value packed;    ///< a panel of B
  mlir::Value sums;      ///< of all panels of the tile
  mlir::Value staged;    ///< rows of A
  mlir::Value computedB; ///< a panel of B as computed
  mlir::Value computedA; ///< rows of A as computed
  mlir::Value runs;      ///< memory of the rows of a run
};

/// Elements (i64) from one line to the next where lines of `steps` elements are in scratch.
mlir::Value pitchInScratch(Emitter &emit, mlir::Value steps);

/// Lines [first, first + lines) of an operand that is computed, rows of A or columns of B, at `steps` steps of K from `start` on
/// (i64), into `target`, `pitch` elements apart (null: as above). Strides are those of a line and of a step.
GemmOperand computeLines(Emitter &emit, const GemmElements &elements, mlir::Type storage, mlir::Value first, mlir::Value lines,
                         mlir::Value start, mlir::Value steps, mlir::Value target, mlir::Value pitch = {});

} // namespace tenon::cpu
