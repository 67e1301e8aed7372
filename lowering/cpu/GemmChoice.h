// How a contraction is cut, chosen by its sizes and operands for each tier before memory is planned.
#pragma once
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/GemmAxes.h"
#include "lowering/cpu/Kernel.h"

namespace tenon::cpu {

/// B as it lies in memory.
GemmPanels panelsOfB(GemmOp op, const GemmAxes &axes);

/// What `tenon.chosen` of the op says. Fails where that is not legal, which is reported there.
mlir::FailureOr<GemmChoice> gemmChoiceOf(GemmOp op, const GemmAxes &axes, Tier tier);

/// The sides of a tile: entries of the batch, rows, columns.
llvm::SmallVector<CutSide> gemmSides(GemmOp op, const GemmAxes &axes, Tier tier, const GemmChoice &choice);

} // namespace tenon::cpu
