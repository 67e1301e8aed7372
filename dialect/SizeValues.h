// What a formula of sizes gives where the dims are known.
#pragma once
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace tenon {

inline int64_t floorOfQuotient(int64_t a, int64_t b) { return llvm::divideFloorSigned(a, b); }
inline double floorOfQuotient(double a, double b) { return std::floor(a / b); }

/// `dim` gives the value of a dim. A Number is int64_t, or double for products that leave the 64-bit integers.
template <class Number> Number valueOf(mlir::AffineExpr formula, llvm::function_ref<Number(unsigned)> dim) {
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(formula))
    return Number(constant.getValue());
  if (auto one = llvm::dyn_cast<mlir::AffineDimExpr>(formula))
    return dim(one.getPosition());
  auto pair = llvm::cast<mlir::AffineBinaryOpExpr>(formula);
  const Number left = valueOf(pair.getLHS(), dim), right = valueOf(pair.getRHS(), dim);
  switch (formula.getKind()) {
  case mlir::AffineExprKind::Add:
    return left + right;
  case mlir::AffineExprKind::Mul:
    return left * right;
  case mlir::AffineExprKind::Mod:
    return left - right * floorOfQuotient(left, right);
  case mlir::AffineExprKind::FloorDiv:
    return floorOfQuotient(left, right);
  default:
    return -floorOfQuotient(-left, right);
  }
}

} // namespace tenon
