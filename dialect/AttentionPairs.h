// Scores of pairs that attention reads from memory, pair_scores: [B or P or 1, H or 1, I or 1, J], and their gradient,
// [B, H, I, J]. `batch`: the attribute pair_batch, (outer, inner).
#pragma once
#include "dialect/Build.h"

namespace tenon {

/// Whether `pairs` is such a tensor for these queries and keys: real of what they are computed in, or of 16 bits that are widened
/// to it.
bool isPairScores(mlir::Value pairs, std::optional<mlir::AffineMap> batch, mlir::Value query, mlir::Value key);
/// [B, H, I, J] of `element`.
mlir::RankedTensorType typeOfEveryPair(mlir::Value pairs, mlir::Value query, mlir::Value key, mlir::Type element);
/// Whether `gradient` has an element for every pair, of a type that pair_scores may have.
bool isGradientOfPairs(mlir::Value gradient, mlir::Value pairs, mlir::Value query, mlir::Value key);
/// The gradient of every pair as that of `pairs`: summed over what it has once.
mlir::Value sumOfPairs(mlir::OpBuilder &builder, mlir::Value gradient, mlir::Value pairs, std::optional<mlir::AffineMap> batch);
/// `pairs` repeated over `scores`, [B, I, H, J].
mlir::Value spreadPairs(mlir::OpBuilder &builder, mlir::Value pairs, std::optional<mlir::AffineMap> batch,
                        mlir::RankedTensorType scores);
/// A tensor [B, I, H, J] as `type`, [B, H, I, J].
mlir::Value asPairs(mlir::OpBuilder &builder, mlir::Value x, mlir::RankedTensorType type);

} // namespace tenon
