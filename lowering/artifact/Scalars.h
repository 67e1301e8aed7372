// i64 arithmetic, addresses and sizes in generated code; constants fold.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include <optional>

namespace tenon {

inline mlir::Value constant(mlir::ImplicitLocOpBuilder &builder, int64_t value) {
  return mlir::arith::ConstantOp::create(builder, builder.getI64IntegerAttr(value));
}
inline std::optional<int64_t> asConstant(mlir::Value value) {
  llvm::APInt number;
  if (value && mlir::matchPattern(value, mlir::m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}
inline mlir::Value add(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) {
  return builder.createOrFold<mlir::arith::AddIOp>(a, b);
}
inline mlir::Value subtract(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) {
  return builder.createOrFold<mlir::arith::SubIOp>(a, b);
}
inline mlir::Value multiply(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) {
  return builder.createOrFold<mlir::arith::MulIOp>(a, b);
}
/// Both operands are at least 0, the divisor at least 1.
inline mlir::Value divide(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) {
  return builder.createOrFold<mlir::arith::DivUIOp>(a, b);
}
inline mlir::Value remainder(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) {
  return builder.createOrFold<mlir::arith::RemUIOp>(a, b);
}
inline mlir::Value minimum(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) {
  return builder.createOrFold<mlir::arith::MinSIOp>(a, b);
}
inline mlir::Value maximum(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) {
  return builder.createOrFold<mlir::arith::MaxSIOp>(a, b);
}
inline mlir::Value ceilDivide(mlir::ImplicitLocOpBuilder &builder, mlir::Value a, mlir::Value b) {
  return divide(builder, add(builder, a, subtract(builder, b, constant(builder, 1))), b);
}
inline mlir::Type pointer(mlir::ImplicitLocOpBuilder &builder) { return mlir::LLVM::LLVMPointerType::get(builder.getContext()); }
/// base + index elements of `element`.
inline mlir::Value elementAddress(mlir::ImplicitLocOpBuilder &builder, mlir::Value base, mlir::Type element, mlir::Value index) {
  if (asConstant(index) == 0)
    return base;
  return mlir::LLVM::GEPOp::create(builder, pointer(builder), element, base, mlir::ValueRange{index});
}
inline mlir::Value byteAddress(mlir::ImplicitLocOpBuilder &builder, mlir::Value base, mlir::Value bytes) {
  return elementAddress(builder, base, builder.getI8Type(), bytes);
}
/// A size for given dims (i64).
mlir::Value evaluateSize(mlir::ImplicitLocOpBuilder &builder, mlir::AffineExpr expression, llvm::ArrayRef<mlir::Value> dims);

} // namespace tenon
