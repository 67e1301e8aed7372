// Transpositions in front of what reads any order of dimensions alike.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// Contractions read an operand in any order of its dimensions, elementwise ops do not. So a transposition in front of windows of
/// one place, which contractions alone read, goes behind them, into the labels; and what a loop carries from round to round has
/// the order in which it is made, where it was transposed at the end of each round. Images stay as a convolution makes them.
void addTransposedReads(mlir::RewritePatternSet &patterns);

} // namespace tenon
