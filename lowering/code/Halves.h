// An f32 in two halves of 16 bits; joinHalves (dialect/ElementModel.h) puts them together again.
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tenon {

/// The halves of `real`, f32 or a vector of it, that joinHalves puts together again, bit for bit: i16 of the bf16 nearest to it,
/// ties away from zero, and of what is left. A NaN becomes a quiet one with an upper half alone.
std::pair<mlir::Value, mlir::Value> splitHalves(mlir::ImplicitLocOpBuilder &builder, mlir::Value real);

} // namespace tenon
