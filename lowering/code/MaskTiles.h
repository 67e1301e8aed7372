// Which tiles of queries x keys the masks of fused attention hide: interval arithmetic over the tile. What it cannot tell counts
// as visible.
#pragma once
#include "dialect/AttentionMasks.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>
#include <optional>

namespace tenon {

/// Neighbouring queries or keys, or the values of a form over them: [low, high], i64.
struct Interval {
  mlir::Value low, high;
};

/// What is known of the pairs of a tile; i1.
struct TileVisibility {
  mlir::Value some; // false: none is visible
  mlir::Value all;  // true: all are
};

/// The labels of index operands, by which a test depends on the query, the key, or neither.
using OperandLabels = llvm::ArrayRef<llvm::SmallVector<int64_t>>;

/// Whether `MaskTiles` may find that no pair of a tile is visible; `negated`: that all are. `readsPairs`: it has `ofPairs`.
bool decidesTiles(OperandLabels labels, const Mask &mask, bool negated = false, bool readsPairs = false);
/// Whether the operand has a number for each query and key, keys beside each other, the same for all rows of the batch.
bool isOfPairs(OperandLabels labels, int64_t operand);

/// Code for one row of the batch.
class MaskTiles {
public:
  using OfPairs = std::function<TileVisibility(int64_t operand, Interval queries, Interval keys)>;
  /// `size` gives the value of a formula over the dims, `ofBatch` that of an operand of neither query nor key, i64; `ofPairs`
  /// reads the truth values of an operand of both; null: they are not read.
  MaskTiles(mlir::ImplicitLocOpBuilder &builder, OperandLabels labels, std::function<mlir::Value(mlir::AffineExpr)> size,
            std::function<mlir::Value(int64_t)> ofBatch, OfPairs ofPairs = {})
      : builder(builder), labels(labels), size(std::move(size)), ofBatch(std::move(ofBatch)), ofPairs(std::move(ofPairs)) {}

  /// Of pairs for which all of the masks hold.
  TileVisibility over(llvm::ArrayRef<Mask> masks, Interval queries, Interval keys) const;

private:
  TileVisibility over(const Mask &mask, Interval queries, Interval keys) const;
  TileVisibility joined(bool isAnd, llvm::ArrayRef<Mask> masks, Interval queries, Interval keys) const;
  /// The least and the largest value at most; nothing where an operand depends on the query or the key.
  std::optional<Interval> over(const MaskForm &form, Interval queries, Interval keys) const;
  Interval ofPart(const MaskForm::Part &part, Interval queries, Interval keys) const;

  mlir::ImplicitLocOpBuilder &builder;
  const OperandLabels labels;
  const std::function<mlir::Value(mlir::AffineExpr)> size;
  const std::function<mlir::Value(int64_t)> ofBatch;
  const OfPairs ofPairs;
};

} // namespace tenon
