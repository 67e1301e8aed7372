// Scalar code that ops which read along rows share.
#pragma once
#include "dialect/TenonDialect.h"
#include "dialect/TensorSizes.h"

namespace tenon {

/// A fold over dimensions of the given sizes; `term` gets the fold's indices.
mlir::Value fold(mlir::OpBuilder &builder, mlir::Location location, Reduction kind, mlir::Type element,
                 llvm::ArrayRef<mlir::AffineExpr> sizes, unsigned dimCount,
                 llvm::function_ref<mlir::Value(mlir::ValueRange)> term);
/// A fold over the last dimension of `x`, rows given by `row`; `term` gets indices of `x`.
mlir::Value foldRow(mlir::OpBuilder &builder, mlir::Location location, Reduction kind, mlir::RankedTensorType x,
                    mlir::ValueRange row, llvm::function_ref<mlir::Value(mlir::ValueRange)> term);
/// A constant of the element type `type`.
mlir::Value real(mlir::OpBuilder &builder, mlir::Location location, mlir::Type type, double value);
/// `size`, a form over the dims of `type`, in the element type of `type`.
mlir::Value sizeAsReal(mlir::OpBuilder &builder, mlir::Location location, mlir::RankedTensorType type, mlir::AffineExpr size);

} // namespace tenon
