// Random numbers: Philox 4x32-10 (Salmon et al. 2011).
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <array>

namespace tenon {

/// How the ten rounds are written. A loop is a tenth of the code for LLVM to select instructions for: half of the time in which
/// a model with dropout is compiled quickly. Where code is optimised with care the loop is unrolled there.
enum class PhiloxRounds { Loop, Straight };

/// Four 32-bit words; all operands i32 or vectors of i32.
std::array<mlir::Value, 4> emitPhilox(mlir::ImplicitLocOpBuilder &builder, std::array<mlir::Value, 4> counter,
                                      std::array<mlir::Value, 2> key, PhiloxRounds rounds = PhiloxRounds::Loop);

} // namespace tenon
