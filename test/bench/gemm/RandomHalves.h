// Operands and verdict of a comparison of an instruction on bf16 with its definition.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace tenon::test {

/// A bf16 of any exponent, or (`narrow`) of one whose sums cancel and round.
inline uint16_t randomHalf(std::mt19937 &random, bool narrow) {
  const auto bits = static_cast<uint32_t>(random());
  return static_cast<uint16_t>(narrow ? (bits & 0x807f) | ((119 + (bits >> 20) % 16) << 7) : bits);
}

/// Equal bits, or NaN of any bits on both sides.
inline bool agree(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

} // namespace tenon::test
