// Rules that verifiers of several ops share. Each emits its message at the op.
#pragma once
#include "dialect/TenonDialect.h"

namespace tenon {

/// Linear forms over the dims of the entry around `op`: no symbols, and as many dims as it has (a map of numbers may have none).
mlir::LogicalResult verifyForms(mlir::Operation *op, mlir::AffineMap forms);
/// The same for one form.
mlir::LogicalResult verifyForm(mlir::Operation *op, mlir::AffineMap form);
/// Whether the entry around `op` has this number of dims, or does not say how many; 0 fits all.
bool fitsEntry(mlir::Operation *op, unsigned dimCount);
/// What each dim of the entry around `op` is the product of ("B*T" of "B" and "T"), by position; itself alone, where the caller
/// says it. Empty where no entry says its dims.
llvm::SmallVector<llvm::SmallVector<unsigned>> factorsOfDims(mlir::Operation *op);
/// `block` takes as many indices and then values of the types `further`.
mlir::LogicalResult verifyArguments(mlir::Operation *op, mlir::Block &block, unsigned indices, mlir::TypeRange further);
/// The sizes of a loop: forms as above, no number below 0, and `block` takes an index for each.
mlir::LogicalResult verifyLoop(mlir::Operation *op, mlir::AffineMap sizes, mlir::Block &block);
/// The first op of a block but its end that is no scalar code: it has a region, an effect, or something that is no number, truth
/// value or index. Null: there is none.
mlir::Operation *findNoScalarCode(mlir::Block &block);
/// The labels of a contraction: one per dimension, different, from 0 on, with one size; those below `rank` in an operand, the
/// others in both. Gives the sizes of the labels below `rank`.
mlir::FailureOr<llvm::SmallVector<mlir::AffineExpr>> verifyLabels(mlir::Operation *op, mlir::RankedTensorType a,
                                                                  mlir::RankedTensorType b, llvm::ArrayRef<int64_t> aLabels,
                                                                  llvm::ArrayRef<int64_t> bLabels, int64_t rank);

} // namespace tenon
