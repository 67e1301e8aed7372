// Fused attention of bf16 and f16 by warpgroups of an H100: which ops have the kernel, and how it is cut.
#pragma once
#include "lowering/gpu/AttentionCode.h"

namespace tenon::gpu {

/// Queries of a block, 64 of each warpgroup; keys of a tile; stages of the rings; the registers that a thread may have.
struct WarpgroupAttentionTile {
  int64_t rows, keys, stages, registers;
  int64_t consumers() const; // threads
  int64_t threads() const;
  int64_t shared(const AttentionOperands &operands) const; // bytes
};

/// What the tile of the kernel is chosen as; none: the op is none for it.
std::optional<WarpgroupAttentionTile> warpgroupAttentionTile(const AttentionOperands &operands);
/// Whether it is chosen, where there is one, before the kernel for warps.
bool prefersWarpgroupAttention();
ChoiceForm warpgroupAttentionForm();
mlir::DictionaryAttr choiceOf(mlir::MLIRContext *context, const WarpgroupAttentionTile &tile);
mlir::LogicalResult generateWarpgroupAttention(AttentionOp op, const AttentionOperands &operands, const Choice &choice,
                                               LaunchSequence &sequence);

} // namespace tenon::gpu
