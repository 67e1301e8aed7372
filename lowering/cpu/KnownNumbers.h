// A rule that cuts kernels, written once for sizes that are known, when kernels are chosen, and for those of a run, which the
// code evaluates: a template over the arithmetic.
#pragma once
#include "lowering/cpu/Emitter.h"

namespace tenon::cpu {

/// Arithmetic of `Emitter` on numbers that are known.
struct KnownNumbers {
  static int64_t constant(int64_t value) { return value; }
  static bool flag(bool value) { return value; }
  static int64_t add(int64_t a, int64_t b) { return a + b; }
  static int64_t mul(int64_t a, int64_t b) { return a * b; }
  static int64_t div(int64_t a, int64_t b) { return a / b; }
  static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
  static int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }
  static int64_t min(int64_t a, int64_t b) { return std::min(a, b); }
  static int64_t max(int64_t a, int64_t b) { return std::max(a, b); }
  static bool less(int64_t a, int64_t b) { return a < b; }
  static bool lessEqual(int64_t a, int64_t b) { return a <= b; }
  template <typename T> static T select(bool condition, T a, T b) { return condition ? a : b; }
};

template <class Numbers> struct NumbersOf { // by Emitter
  using Number = mlir::Value;
  using Condition = mlir::Value;
};
template <> struct NumbersOf<KnownNumbers> {
  using Number = int64_t;
  using Condition = bool;
};
template <class Numbers> using NumberOf = typename NumbersOf<Numbers>::Number;

} // namespace tenon::cpu
