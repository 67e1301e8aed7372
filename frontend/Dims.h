// Dims of an entry that are products of others.
#pragma once
#include "frontend/Program.h"

namespace tenon {

/// A product of more dims is no size: products of primes (sema::nominalDims) have to stay exact.
constexpr size_t kMostFactors = 4;

inline bool isProduct(const Entry &entry, unsigned dim) {
  return dim < entry.dimFactors.size() && !entry.dimFactors[dim].empty();
}
/// The dims that a dim is the product of: itself, where whoever calls says its size.
inline std::vector<unsigned> factorsOf(const Entry &entry, unsigned dim) {
  return isProduct(entry, dim) ? entry.dimFactors[dim] : std::vector<unsigned>{dim};
}
/// Whether a size changes with a dim, also with products of it.
inline bool dependsOn(const Entry &entry, const Size &size, unsigned dim) {
  return std::any_of(size.coefficients().begin(), size.coefficients().end(), [&](const auto &term) {
    const std::vector<unsigned> factors = factorsOf(entry, term.first);
    return std::find(factors.begin(), factors.end(), dim) != factors.end();
  });
}
/// Gives the dims that are products their values.
inline void fillProducts(const Entry &entry, std::vector<int64_t> &dims) {
  for (unsigned i = 0; i < dims.size(); ++i)
    if (isProduct(entry, i)) {
      dims[i] = 1;
      for (unsigned factor : entry.dimFactors[i])
        dims[i] *= dims[factor];
    }
}

} // namespace tenon
