// `compute = tf32` of a numerics policy.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tenon {

/// The attribute of a module whose contractions of f32 round their factors to tf32 where they multiply them. It is not a type of
/// theirs, since nothing lies in memory in it.
inline constexpr llvm::StringLiteral kRoundsFactors = "tenon.rounds_factors";

} // namespace tenon
