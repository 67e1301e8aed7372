// bf16 and f16 between memory and registers: in registers they are the i16 of their bits, and f32 where anything is computed.
#pragma once
#include "dialect/ElementModel.h"
#include "lowering/cpu/Tier.h"
#include "mlir/IR/Builders.h"

namespace tenon::cpu {

/// What an element is as a value of LLVM: i16 for short reals, the type itself else.
inline mlir::Type memoryType(mlir::Type element) {
  return isShortReal(element) ? mlir::IntegerType::get(element.getContext(), 16) : element;
}

/// The f32 that `bits` mean, exactly; i16 or a vector of them, of bf16 or f16 elements as `element` says.
mlir::Value widenBits(mlir::OpBuilder &builder, mlir::Location location, Tier tier, mlir::Type element, mlir::Value bits);

/// `real`, f32 or a vector of it, rounded to nearest even. Equal in all tiers and to `vcvtneps2bf16`, `vcvtps2ph`: what is
/// denormal as f32 becomes a zero of its sign, too large numbers become infinite, NaN stays NaN (quiet, upper bits kept).
mlir::Value narrowToBits(mlir::OpBuilder &builder, mlir::Location location, Tier tier, mlir::Type element, mlir::Value real);

} // namespace tenon::cpu
