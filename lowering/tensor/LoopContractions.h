// Contractions that a loop repeats, as one.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// Before differentiation: what is contracted at each place of a recurrence alone, without what it carries, is contracted for all
/// places before it. After it: a sum over a loop of contractions of few rows is one contraction over what the loop collects; the
/// gradient of a recurrent weight is read and written once, not at every place. What it reads transposed is transposed before it.
void addLoopContractions(mlir::RewritePatternSet &patterns, bool afterDifferentiation);

} // namespace tenon
