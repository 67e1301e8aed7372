// The only place where sizes from outside are computed: every overflow is seen (robustness: integer overflow in size arithmetic).
#pragma once
#include <cstdint>
#include <optional>
#include <span>

namespace tenon::runtime {

template <typename T> std::optional<T> checkedMultiply(T a, T b) {
  T result;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional<T>(result);
}
template <typename T> std::optional<T> checkedAdd(T a, T b) {
  T result;
  return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional<T>(result);
}
/// Product of unsigned sizes; nullopt on overflow. A zero anywhere gives 0 unless an earlier prefix overflows.
inline std::optional<uint64_t> checkedProduct(std::span<const uint64_t> sizes) {
  uint64_t product = 1;
  for (uint64_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  return product;
}
/// The same for signed sizes; a negative size gives nullopt.
inline std::optional<int64_t> checkedProduct(std::span<const int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  return product;
}
/// Next multiple of a power of two, nullopt on overflow.
inline std::optional<uint64_t> checkedAlign(uint64_t value, uint64_t alignment) {
  auto sum = checkedAdd(value, alignment - 1);
  return sum ? std::optional<uint64_t>(*sum & ~(alignment - 1)) : std::nullopt;
}

} // namespace tenon::runtime
