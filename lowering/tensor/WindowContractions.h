// What contractions do with windows.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// The gradient of a contraction's windows: its terms, which lie apart until they are summed over the places of the windows, are
/// summed in the contraction, so that they are in no memory.
void addWindowContractions(mlir::RewritePatternSet &patterns);
/// Windows that are read backwards, to be summed with other factors: those are, and the windows stay a view.
void addFlippedWindows(mlir::RewritePatternSet &patterns);
/// Contractions of windows between whose elements zeros lie (the gradient of the input of a convolution with steps), by the
/// elements that meet the same ones: no zero is multiplied.
void addWindowPhases(mlir::RewritePatternSet &patterns);

} // namespace tenon
