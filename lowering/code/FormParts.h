// Quotients and remainders in the integer forms of fused attention, of a number or of lanes.
#pragma once
#include "dialect/AttentionMasks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace tenon {

/// Towards minus infinity; shifts and masks where the divisor is a power of two, for which there are lanes on every machine.
inline mlir::Value partOfForm(mlir::ImplicitLocOpBuilder &builder, const MaskForm::Part &part, mlir::Value of) {
  namespace arith = mlir::arith;
  const mlir::Type type = of.getType(), element = mlir::getElementTypeOrSelf(type);
  auto number = [&](int64_t value) -> mlir::Value {
    mlir::IntegerAttr scalar = builder.getIntegerAttr(element, value);
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return arith::ConstantOp::create(builder, mlir::DenseElementsAttr::get(vector, llvm::ArrayRef<mlir::Attribute>(scalar)));
    return arith::ConstantOp::create(builder, scalar);
  };
  if (llvm::isPowerOf2_64(part.divisor))
    return part.isQuotient ? builder.createOrFold<arith::ShRSIOp>(of, number(llvm::Log2_64(part.divisor)))
                           : builder.createOrFold<arith::AndIOp>(of, number(part.divisor - 1));
  mlir::Value divisor = number(part.divisor), zero = number(0), rest = builder.createOrFold<arith::RemSIOp>(of, divisor);
  mlir::Value below = builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, rest, zero);
  if (!part.isQuotient)
    return builder.createOrFold<arith::AddIOp>(rest, builder.createOrFold<arith::SelectOp>(below, divisor, zero));
  return builder.createOrFold<arith::AddIOp>(builder.createOrFold<arith::DivSIOp>(of, divisor),
                                             builder.createOrFold<arith::SelectOp>(below, number(-1), zero));
}

} // namespace tenon
