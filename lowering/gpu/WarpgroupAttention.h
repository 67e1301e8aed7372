// Fused attention of bf16 and f16 by warpgroups of an H100: which ops have the kernel, and how it is cut.
#pragma once
#include "lowering/gpu/AttentionCode.h"
#include "lowering/gpu/Warpgroups.h"

namespace tenon::gpu {

/// Queries that a block has at a time, 64 of each warpgroup; keys of a tile; stages of the rings; registers of a thread of these
/// warpgroups, a multiple of 8; the most blocks that a launch has.
struct WarpgroupAttentionTile {
  int64_t rows, keys, stages, registers, blocks;
  int64_t consumers() const; // threads
  int64_t threads() const;
  RegisterShares shares() const;
  int64_t shared(const AttentionOperands &operands) const; // bytes
};

/// What the tile of the kernel is chosen as; none: the op is none for it.
std::optional<WarpgroupAttentionTile> warpgroupAttentionTile(const AttentionOperands &operands);
ChoiceForm warpgroupAttentionForm();
mlir::DictionaryAttr choiceOf(mlir::MLIRContext *context, const WarpgroupAttentionTile &tile);
mlir::LogicalResult generateWarpgroupAttention(AttentionOp op, const AttentionOperands &operands, const Choice &choice,
                                               LaunchSequence &sequence);

} // namespace tenon::gpu
