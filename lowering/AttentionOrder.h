// The order of dimensions in which attention is fused: batch, query, head, width.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// attend with its query in another place of [.., .., .., ..] becomes one with the query second, and a transposition. Values that are written with the query in front
/// (relative ones) give [query, batch, head, width]. Before fusing and decomposing, so that both draw the same dropout: its numbers go by the place in this order.
void addAttentionOrder(mlir::RewritePatternSet &patterns);

} // namespace tenon
