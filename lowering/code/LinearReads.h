// Code of an operand's element that only reads: one tensor at places linear in the element's own, or several, joined along one
// dimension.
#pragma once
#include "dialect/TenonDialect.h"
#include <optional>

namespace tenon {

struct LinearRead {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> strides; ///< elements, by argument of the block
  mlir::AffineExpr offset;                     ///< of the element with all arguments 0, maybe in front of the tensor
};

/// Of block argument `dim`: no other values are asked for.
struct Interval {
  unsigned dim;
  mlir::AffineExpr low, high; ///< [low, high)
};

/// `value` as a read of `element` at places linear in the arguments of `block`; clamps that change nothing inside of `interval`
/// are left out. Nothing where it is anything else.
std::optional<LinearRead> linearRead(mlir::Value value, mlir::Block &block, mlir::Type element, std::optional<Interval> interval);

/// A sum of block arguments times forms, and a form.
struct LinearForm {
  llvm::SmallVector<mlir::AffineExpr> factors; ///< by number of the argument
  mlir::AffineExpr rest;
};

/// A linear read where all of some linear forms are at least 0, and a number elsewhere: windows and what is put around a tensor.
struct GuardedRead {
  LinearRead read; ///< its places are those of the tensor where the conditions hold
  llvm::SmallVector<LinearForm> conditions;
  mlir::TypedAttr fill;
};
/// `value` as such a read of `element`; clamps that a condition makes superfluous are left out.
std::optional<GuardedRead> guardedRead(mlir::Value value, mlir::Block &block, mlir::Type element);

/// Whether a form is at least 0 for all dims, which are natural numbers, as far as that can be seen.
bool isNatural(mlir::AffineExpr form);

/// Reads that are joined along `dim`: [starts[i], starts[i + 1]) in reads[i]; the last start is the size.
struct JoinedReads {
  unsigned dim;
  llvm::SmallVector<LinearRead> reads;
  llvm::SmallVector<mlir::AffineExpr> starts;
};

/// `value` as two reads or more, chosen by one argument of `block` (an index per dimension of `type`) against bounds in ascending
/// order, each of which reads linearly what is chosen of it.
std::optional<JoinedReads> joinedReads(mlir::Value value, mlir::Block &block, mlir::RankedTensorType type);

/// What `index` grows by with argument number `label` of `block`; nothing if that is not a form of the sizes.
std::optional<mlir::AffineExpr> growthOf(mlir::Value index, int64_t label, mlir::Block &block);

} // namespace tenon
