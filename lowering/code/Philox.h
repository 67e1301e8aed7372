// Random numbers: Philox 4x32-10 (Salmon et al. 2011).
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <array>

namespace tenon {

/// Four 32-bit words; all operands i32 or vectors of i32.
std::array<mlir::Value, 4> emitPhilox(mlir::ImplicitLocOpBuilder &builder, std::array<mlir::Value, 4> counter,
                                      std::array<mlir::Value, 2> key);

} // namespace tenon
