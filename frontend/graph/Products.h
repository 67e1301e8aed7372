// Products of sizes: the places of several axes together. A size is linear, so a product of dims of the run becomes a dim of its
// own, which the entry knows the factors of.
#pragma once
#include "frontend/Dims.h"

namespace tenon::sema {

/// Coefficients by the dims of each term, sorted, a dim as often as it is a factor; none of them a product.
using Product = std::map<std::vector<unsigned>, int64_t>;

/// nullopt: a coefficient is larger than 2^63, or there are more terms than anybody wrote.
std::optional<Product> times(const Entry &entry, const Product &product, const Size &size);

/// The same as one size, over dims that are added to the entry where it has none. nullopt: a term has more than kMostFactors.
std::optional<Size> multiplyDims(Entry &entry, const Size &left, const Size &right);

/// left / right where every term of `left` has the one term of `right`.
std::optional<Size> divideDims(Entry &entry, const Size &left, const Size &right);

} // namespace tenon::sema
