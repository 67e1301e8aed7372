// i64 arithmetic, addresses and sizes in generated code; constants fold. The one place that says how: `cpu::Emitter` is a shorter
// spelling of it.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include <optional>

namespace tenon {

/// Where code is emitted: a builder with its location, made of either kind of builder.
struct EmitAt {
  EmitAt(mlir::ImplicitLocOpBuilder &builder) : builder(builder), location(builder.getLoc()) {}
  EmitAt(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}
  template <typename Op> mlir::Value fold(mlir::Value a, mlir::Value b) const { return builder.createOrFold<Op>(location, a, b); }
  mlir::OpBuilder &builder;
  mlir::Location location;
};

inline mlir::Value constant(EmitAt emit, int64_t value) {
  return mlir::arith::ConstantOp::create(emit.builder, emit.location, emit.builder.getI64IntegerAttr(value));
}
inline std::optional<int64_t> asConstant(mlir::Value value) {
  llvm::APInt number;
  if (value && mlir::matchPattern(value, mlir::m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}
inline mlir::Value add(EmitAt emit, mlir::Value a, mlir::Value b) { return emit.fold<mlir::arith::AddIOp>(a, b); }
inline mlir::Value subtract(EmitAt emit, mlir::Value a, mlir::Value b) { return emit.fold<mlir::arith::SubIOp>(a, b); }
inline mlir::Value multiply(EmitAt emit, mlir::Value a, mlir::Value b) { return emit.fold<mlir::arith::MulIOp>(a, b); }
/// Both operands are at least 0, the divisor at least 1.
inline mlir::Value divide(EmitAt emit, mlir::Value a, mlir::Value b) { return emit.fold<mlir::arith::DivUIOp>(a, b); }
inline mlir::Value remainder(EmitAt emit, mlir::Value a, mlir::Value b) { return emit.fold<mlir::arith::RemUIOp>(a, b); }
inline mlir::Value minimum(EmitAt emit, mlir::Value a, mlir::Value b) { return emit.fold<mlir::arith::MinSIOp>(a, b); }
inline mlir::Value maximum(EmitAt emit, mlir::Value a, mlir::Value b) { return emit.fold<mlir::arith::MaxSIOp>(a, b); }
inline mlir::Value ceilDivide(EmitAt emit, mlir::Value a, mlir::Value b) {
  return divide(emit, add(emit, a, subtract(emit, b, constant(emit, 1))), b);
}
inline mlir::Type pointer(EmitAt emit) { return mlir::LLVM::LLVMPointerType::get(emit.builder.getContext()); }
/// base + index elements of `element`, inside of the object that `base` points into, or right behind it.
inline mlir::Value elementAddress(EmitAt emit, mlir::Value base, mlir::Type element, mlir::Value index) {
  std::optional<int64_t> known = asConstant(index);
  if (known == 0)
    return base;
  // What a constant index of the op has no room for it would cut off.
  const bool isShort = known && llvm::isInt<mlir::LLVM::kGEPConstantBitWidth>(*known);
  mlir::LLVM::GEPArg argument = isShort ? mlir::LLVM::GEPArg(static_cast<int32_t>(*known)) : mlir::LLVM::GEPArg(index);
  return mlir::LLVM::GEPOp::create(emit.builder, emit.location, base.getType(), element, base,
                                   llvm::ArrayRef<mlir::LLVM::GEPArg>{argument}, mlir::LLVM::GEPNoWrapFlags::inbounds);
}
inline mlir::Value byteAddress(EmitAt emit, mlir::Value base, mlir::Value bytes) {
  return elementAddress(emit, base, emit.builder.getI8Type(), bytes);
}
/// A size for given dims (i64).
mlir::Value evaluateSize(mlir::ImplicitLocOpBuilder &builder, mlir::AffineExpr expression, llvm::ArrayRef<mlir::Value> dims);

} // namespace tenon
