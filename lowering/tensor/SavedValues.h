// Which forward values of a stack the reverse loop gets, and how: saved by depth, or computed again.
#pragma once
#include "dialect/TenonDialect.h"

namespace tenon {

/// `reversed` (built by differentiation) may refer to values of the body of `forward`. Makes each such reference legal: the depth
/// becomes the reverse loop's, cheap values are computed again inside it, all others become stacked results of `forward`.
/// `forward` is replaced by the wider op; its old results keep their users. `saveOperands`: what contractions read is saved,
/// however cheap it is: where making it again is a pass over memory.
void makeAvailable(StackOp forward, StackOp reversed, bool saveOperands = false);

/// The policy: true if the reverse loop computes `op` again instead of reading a saved result. Saved: operands and results of
/// contractions, attention and normalizers. Recomputed: sources, views, parameter reads, elementwise ops that no such op reads,
/// moves (tensors joined) that at most contractions read: those make the copy where they pack it, and activations whose sum is
/// saved; both but with `saveOperands`.
bool isRecomputed(mlir::Operation *op, bool saveOperands);

} // namespace tenon
