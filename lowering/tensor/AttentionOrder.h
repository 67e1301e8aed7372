// The order of dimensions in which attention is fused: batches, query, heads, widths.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon {

/// What the dimensions of the result of an attend are to the fused op, each list in the order of the result, heads that the keys
/// have first. Heads that the keys lack share them (grouped queries).
struct AttentionRoles {
  llvm::SmallVector<int64_t> batches, heads, widths;
  int64_t query = 0;
  /// All of them: batches, query, heads, widths.
  llvm::SmallVector<int64_t> order() const;
};

/// Nothing if no dimension is known to be the query, or none is the value's alone. A dimension that a mask or a symbolic size has
/// is a batch; else those behind the query are heads; without any, the last of several before it.
std::optional<AttentionRoles> rolesOf(AttendOp attend);

/// attend with its dimensions in another order than that of their roles becomes one in that order, and a transposition. Before
/// fusing and decomposing, so that both draw the same dropout: its numbers go by the place in this order.
void addAttentionOrder(mlir::RewritePatternSet &patterns);

} // namespace tenon
