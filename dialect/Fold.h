// What folders share: constants of the dialect as numbers of their element type.
#pragma once
#include "dialect/TenonDialect.h"
#include "llvm/ADT/APFloat.h"

namespace tenon {

/// The value of `tenon.constant` as a folder gets it is an f64 attribute whatever the element type. Null for anything else.
inline mlir::FloatAttr constantOf(mlir::Attribute attribute) { return llvm::dyn_cast_or_null<mlir::FloatAttr>(attribute); }
/// Whether `attribute` is the number `value`, sign of zero included.
bool isNumber(mlir::Attribute attribute, double value);
/// Whether `attribute` is a zero of either sign.
bool isZero(mlir::Attribute attribute);
/// `value` for a constant: an f64 attribute.
mlir::FloatAttr numberAttr(double value, mlir::MLIRContext *context);
mlir::Type elementOf(mlir::Value tensor);

using FoldReals = llvm::function_ref<std::optional<llvm::APFloat>(llvm::ArrayRef<llvm::APFloat>)>;
using FoldIntegers = llvm::function_ref<std::optional<llvm::APInt>(llvm::ArrayRef<llvm::APInt>)>;
/// The result of an elementwise op on constants, computed in the precision of the operands (`element`), hence the bits that the
/// machine gives: only f32, f64 and integers. Null where an operand is no constant, where the function gives nothing, and for NaN
/// and integers that f64 cannot hold.
mlir::Attribute foldConstants(llvm::ArrayRef<mlir::Attribute> operands, mlir::Type element, FoldReals reals,
                              FoldIntegers integers);

} // namespace tenon
