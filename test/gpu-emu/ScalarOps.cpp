// What one thread computes alone: approximations, conversions, questions about addresses.
#include "Fiber.h"
#include "Memory.h"
#include "Models.h"
#include <cmath>
#include <limits>

namespace tenon::emu {

float fromBf16(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t toBf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value))
    return 0x7fff;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

float fromF16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float size = exponent == 0 ? std::ldexp(float(fraction), -24)
                     : exponent == 31
                         ? (fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity())
                         : std::ldexp(float(fraction + 1024), exponent - 25);
  return bits >> 15 ? -size : size;
}

uint16_t toF16(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float size = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7fff;
  if (size == 0)
    return sign;
  if (size >= 65520)
    return sign | 0x7c00;
  int exponent;
  std::frexp(size, &exponent); // size = fraction * 2^exponent, fraction in [0.5, 1)
  const int unit = std::max(exponent - 11, -24);
  const float whole = std::nearbyint(std::ldexp(size, -unit)); // ties to even
  if (unit == -24)
    return sign | uint16_t(whole); // a rounding up to 1024 is the least normal number, as it should be
  return sign | uint16_t((unit + 24) * 1024 + int(whole));
}

template <typename T> static T approximate(int form, T x, T y) {
  switch (form) {
  case kEx2:
    return std::exp2(x);
  case kLg2:
    return std::log2(x);
  case kRcp:
    return T(1) / x;
  case kRsqrt:
    return T(1) / std::sqrt(x);
  case kSqrt:
    return std::sqrt(x);
  case kSin:
    return std::sin(x);
  case kCos:
    return std::cos(x);
  }
  return x / y;
}

void opMath(const Site &site, const uint64_t *arguments, void *result) {
  give(result, approximate(site.model->parameter, argument<float>(arguments, 0),
                           site.model->parameter == kDivide ? argument<float>(arguments, 1) : 1.0f));
}

void opMathF64(const Site &site, const uint64_t *arguments, void *result) {
  give(result, approximate(site.model->parameter, argument<double>(arguments, 0), 1.0));
}

// 1: nearest, ties to even; 0: ties away from zero.
void opToTf32(const Site &site, const uint64_t *arguments, void *result) {
  uint32_t bits = argument<uint32_t>(arguments, 0);
  if (std::isfinite(argument<float>(arguments, 0)))
    bits += site.model->parameter ? 0xfff + (bits >> 13 & 1) : 0x1000;
  give(result, bits & ~0x1fffu);
}

// The first argument goes to the upper half.
void opPairTo16(const Site &site, const uint64_t *arguments, void *result) {
  const auto to16 = site.model->parameter == kBf16 ? toBf16 : toF16;
  give(result, uint32_t(to16(argument<float>(arguments, 0))) << 16 | to16(argument<float>(arguments, 1)));
}

void opIsShared(const Site &, const uint64_t *arguments, void *result) { give(result, inArena(arguments[0])); }
void opIsGlobal(const Site &, const uint64_t *arguments, void *result) { give(result, isDeviceAddress(arguments[0])); }

void opPermute(const Site &, const uint64_t *arguments, void *result) {
  const uint64_t bytes = argument<uint32_t>(arguments, 0) | uint64_t(argument<uint32_t>(arguments, 1)) << 32;
  const uint32_t selector = argument<uint32_t>(arguments, 2);
  uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t choice = selector >> 4 * i & 15;
    uint32_t byte = bytes >> 8 * (choice & 7) & 255;
    if (choice & 8) // the sign of the byte, over all of its bits
      byte = byte & 128 ? 255 : 0;
    out |= byte << 8 * i;
  }
  give(result, out);
}

void opNothing(const Site &, const uint64_t *, void *) {}

} // namespace tenon::emu
