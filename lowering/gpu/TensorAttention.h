// Fused attention of bf16 and f16 by tensor cores: which ops have the kernel, and how it is cut.
#pragma once
#include "lowering/gpu/AttentionCode.h"

namespace tenon::gpu {

/// Queries of a block and of each of its warps, keys of a tile, and the registers that a thread may have.
struct TensorTile {
  int64_t rows, warpRows, keys, registers;
  int64_t threads() const { return rows / warpRows * 32; }
  /// Bytes of a block.
  int64_t shared(const AttentionOperands &operands) const;
};

/// Whether masks are bounds of the keys of a query.
bool boundsAll(llvm::ArrayRef<Mask> masks);

/// The name of the form in tenon.chosen.
constexpr llvm::StringLiteral kTensorForm = "mma";

/// What the tile of the kernel is chosen as; none: the op stays with the kernel of fused multiply-adds.
std::optional<TensorTile> tensorTile(const AttentionOperands &operands);
mlir::LogicalResult generateTensorAttention(AttentionOp op, const AttentionOperands &operands, TensorTile tile,
                                            LaunchSequence &sequence);

} // namespace tenon::gpu
