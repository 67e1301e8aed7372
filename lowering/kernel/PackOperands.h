// Weights that every round of a loop reads, packed once in front of it: a part of tenon-panel-parameters.
#pragma once
#include "lowering/target/Target.h"

namespace tenon {

/// Behind the choice of parameters that lie in panels. A contraction of few rows in a loop, whose operand b is a parameter that
/// is the same in all rounds, reads it in panels along which its sums run, made in front of the outermost such loop.
void packInFrontOfLoops(mlir::ModuleOp module, const Target &target);

} // namespace tenon
