// Fused attention: its launches, and which ops have kernels.
#pragma once
#include "lowering/gpu/Attention.h"

namespace tenon::gpu {

/// The largest tiles of the kernels; none: heads are too wide.
std::optional<PairTile> forwardTile(const AttentionOperands &operands);
std::optional<PairTile> backwardTile(const AttentionOperands &operands);
/// The form of the kernels of fused multiply-adds in tenon.chosen, with tiles of at most `largest`.
constexpr llvm::StringLiteral kPairsForm = "pairs";
ChoiceForm pairsForm(PairTile largest);
/// A block of `threads` per row of the batch, one of `heads`, and `side` of `lines`; reads the operands, writes nothing yet.
Launch attentionLaunch(llvm::StringRef name, mlir::Location location, const AttentionOperands &operands, int64_t side,
                       int64_t threads, int64_t heads, mlir::AffineExpr lines);

/// The same for a gradient op, which reads more.
Launch gradientLaunch(llvm::StringRef name, AttentionGradOp op, const AttentionOperands &operands, PairTile tile, int64_t heads,
                      mlir::AffineExpr lines);

} // namespace tenon::gpu
