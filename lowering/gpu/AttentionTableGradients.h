// What the kernels for gradients of tables share: a block has a batch, a head and a tile of their rows, and sums over tiles of
// queries what these give by query and row.
#pragma once
#include "lowering/gpu/AttentionGradient.h"

namespace tenon::gpu {

class TableGradients : protected AttentionGradient {
protected:
  TableGradients(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile);

  void enter();
  Values none() { return on.zeros(int64_t(sums.count())); }
  /// The sums behind a tile of queries: those before it, and what `scores` and `weights` have of it.
  Values sumTile(Value firstQuery, llvm::ArrayRef<Value> before);
  void finish(llvm::ArrayRef<Value> after);

  size_t ofTable, ofKeyTable, ofScores, ofValues;
  Value firstPlace;
  SharedRows queryRows, dyRows;
  SharedRows scores, weights; // by query and row of the tables: gradients of scores, probabilities
};

} // namespace tenon::gpu
