// Sizes of tensors as affine expressions over the dims of the entry: the one place that reads and writes the size map of a type.
#pragma once
#include "dialect/Sizes.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tenon {

/// The sizes of `type`, one expression per dimension; numbers for a static type.
llvm::SmallVector<mlir::AffineExpr> sizesOf(mlir::RankedTensorType type);
/// A tensor type of these sizes. `dimCount` is the number of symbolic dims of the entry; static sizes give a type without a map.
mlir::RankedTensorType tensorType(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::Type element, unsigned dimCount);
/// The number of dims of the size map; 0 for a static type (static and dynamic tensors mix freely within an entry).
unsigned dimCountOf(mlir::RankedTensorType type);
/// Whether the type says all its sizes: no `?` and no map, or a map whose numbers are exactly the static sizes.
bool hasSizes(mlir::RankedTensorType type);
/// Text of a size for messages: "d1 + 150".
std::string textOf(mlir::AffineExpr size);
/// Product of sizes, simplified; may be non-linear in the dims.
mlir::AffineExpr product(llvm::ArrayRef<mlir::AffineExpr> sizes, mlir::MLIRContext *context);
mlir::AffineExpr toAffine(const Size &size, mlir::MLIRContext *context);
/// An attribute that holds one size.
mlir::AffineMapAttr sizeAttribute(mlir::AffineExpr size, unsigned dimCount);
mlir::AffineMap sizeMap(llvm::ArrayRef<mlir::AffineExpr> sizes, unsigned dimCount, mlir::MLIRContext *context);
/// The size that is taken for every symbolic dim where sizes have to be compared: overlaps in memory, bytes in warnings.
constexpr int64_t kNominalDim = 64;
/// The value of an expression over the dims at nominal sizes.
int64_t nominalSize(mlir::AffineExpr expression, int64_t nominalDim = kNominalDim);

} // namespace tenon
