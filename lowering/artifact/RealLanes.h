// How elementary functions and conversions between reals are written.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tenon {

/// Arithmetic on values of one shape: a scalar or a vector.
class Lanes {
public:
  Lanes(mlir::ImplicitLocOpBuilder &builder, mlir::Value like) : builder(builder), shape(like.getType()) {}

  mlir::Type shaped(mlir::Type element) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(shape);
    return vector ? mlir::Type(mlir::VectorType::get(vector.getShape(), element)) : element;
  }
  mlir::Value splat(mlir::Type element, mlir::Attribute value) {
    mlir::Type type = shaped(element);
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return mlir::arith::ConstantOp::create(builder, mlir::DenseElementsAttr::get(vector, value));
    return mlir::arith::ConstantOp::create(builder, mlir::cast<mlir::TypedAttr>(value));
  }
  mlir::Value real(double value) { return splat(builder.getF32Type(), builder.getF32FloatAttr(float(value))); }
  mlir::Value wide(double value) { return splat(builder.getF64Type(), builder.getF64FloatAttr(value)); }
  mlir::Value integer(int32_t value) { return splat(builder.getI32Type(), builder.getI32IntegerAttr(value)); }
  mlir::Value longer(int64_t value) { return splat(builder.getI64Type(), builder.getI64IntegerAttr(value)); }
  mlir::Value bits(mlir::Value x) { return mlir::arith::BitcastOp::create(builder, shaped(builder.getI32Type()), x); }
  mlir::Value asReal(mlir::Value x) { return mlir::arith::BitcastOp::create(builder, shaped(builder.getF32Type()), x); }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) { return mlir::math::FmaOp::create(builder, a, b, c); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return mlir::arith::MulFOp::create(builder, a, b); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return mlir::arith::AddFOp::create(builder, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return mlir::arith::SubFOp::create(builder, a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return mlir::arith::DivFOp::create(builder, a, b); }
  mlir::Value addI(mlir::Value a, mlir::Value b) { return mlir::arith::AddIOp::create(builder, a, b); }
  mlir::Value subI(mlir::Value a, mlir::Value b) { return mlir::arith::SubIOp::create(builder, a, b); }
  mlir::Value shl(mlir::Value a, mlir::Value b) { return mlir::arith::ShLIOp::create(builder, a, b); }
  mlir::Value shr(mlir::Value a, mlir::Value b) { return mlir::arith::ShRSIOp::create(builder, a, b); }
  mlir::Value andI(mlir::Value a, mlir::Value b) { return mlir::arith::AndIOp::create(builder, a, b); }
  mlir::Value orI(mlir::Value a, mlir::Value b) { return mlir::arith::OrIOp::create(builder, a, b); }
  mlir::Value xorI(mlir::Value a, mlir::Value b) { return mlir::arith::XOrIOp::create(builder, a, b); }
  mlir::Value select(mlir::Value c, mlir::Value a, mlir::Value b) { return mlir::arith::SelectOp::create(builder, c, a, b); }
  mlir::Value less(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpFOp::create(builder, mlir::arith::CmpFPredicate::OLT, a, b);
  }
  mlir::Value greater(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpFOp::create(builder, mlir::arith::CmpFPredicate::OGT, a, b);
  }
  mlir::Value equal(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpFOp::create(builder, mlir::arith::CmpFPredicate::OEQ, a, b);
  }
  mlir::Value equalI(mlir::Value a, mlir::Value b) {
    return mlir::arith::CmpIOp::create(builder, mlir::arith::CmpIPredicate::eq, a, b);
  }
  /// c[0] x^n + ... + c[n], Horner with fma.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients) {
    mlir::Value y = real(coefficients[0]);
    for (double c : coefficients.drop_front())
      y = fma(y, x, real(c));
    return y;
  }
  mlir::Value widePolynomial(mlir::Value x, llvm::ArrayRef<double> coefficients) {
    mlir::Value y = wide(coefficients[0]);
    for (double c : coefficients.drop_front())
      y = add(mul(y, x), wide(c)); // no fma: code for processors without it would call libm for each lane
    return y;
  }

  mlir::ImplicitLocOpBuilder &builder;
  mlir::Type shape;
};

} // namespace tenon
