#include "frontend/graph/Products.h"

namespace tenon::sema {
namespace {

/// (a + b + ..) ^ k written out has many terms; each is a dim.
constexpr size_t kMostTerms = 64;

/// The greatest that a product can be, where all of its factors have a number as bound.
Size boundOf(const Entry &entry, const std::vector<unsigned> &factors) {
  Size bound = 1;
  for (unsigned factor : factors) {
    const auto most = entry.dimUpperBound[factor].asConstant();
    const auto product = most && *most > 0 ? multiply(bound, *most) : std::nullopt;
    if (!product)
      return -1;
    bound = *product;
  }
  return bound;
}

unsigned dimOf(Entry &entry, const std::vector<unsigned> &factors) {
  if (factors.size() == 1)
    return factors[0];
  for (unsigned i = 0; i < entry.dims.size(); ++i)
    if (isProduct(entry, i) && entry.dimFactors[i] == factors)
      return i;
  std::string name;
  for (unsigned factor : factors)
    name += (name.empty() ? "" : "*") + entry.dims[factor];
  entry.dimUpperBound.push_back(boundOf(entry, factors));
  entry.dims.push_back(name);
  entry.dimFactors.resize(entry.dims.size());
  entry.dimFactors.back() = factors;
  return unsigned(entry.dims.size() - 1);
}

std::optional<Size> sizeOf(Entry &entry, const std::optional<Product> &product) {
  std::optional<Size> size = Size(0);
  for (auto term = product ? product->begin() : Product::const_iterator(); size && product && term != product->end(); ++term) {
    if (term->first.size() > kMostFactors)
      return std::nullopt;
    const auto own = term->first.empty() ? std::optional<Size>(term->second)
                                         : multiply(Size::dim(dimOf(entry, term->first)), Size(term->second));
    size = own ? add(*size, *own) : std::nullopt;
  }
  return product ? size : std::nullopt;
}

} // namespace

std::optional<Product> times(const Entry &entry, const Product &product, const Size &size) {
  Product result;
  auto addTerms = [&](const std::vector<unsigned> &more, int64_t coefficient) {
    for (auto &[dims, factor] : product) {
      std::vector<unsigned> term = dims;
      for (unsigned dim : more)
        term.insert(std::upper_bound(term.begin(), term.end(), dim), dim);
      int64_t further, &sum = result[term];
      if (__builtin_mul_overflow(factor, coefficient, &further) || __builtin_add_overflow(sum, further, &sum))
        return false;
    }
    return result.size() <= kMostTerms;
  };
  bool fits = size.constant() == 0 || addTerms({}, size.constant());
  for (auto [dim, coefficient] : size.coefficients())
    fits = fits && addTerms(factorsOf(entry, dim), coefficient);
  std::erase_if(result, [](auto &term) { return term.second == 0; });
  return fits ? std::optional(result) : std::nullopt;
}

std::optional<Size> multiplyDims(Entry &entry, const Size &left, const Size &right) {
  const auto whole = times(entry, {{{}, 1}}, left);
  return sizeOf(entry, whole ? times(entry, *whole, right) : std::nullopt);
}

std::optional<Size> divideDims(Entry &entry, const Size &left, const Size &right) {
  const auto dividend = times(entry, {{{}, 1}}, left), divisor = times(entry, {{{}, 1}}, right);
  if (!dividend || !divisor || divisor->size() != 1)
    return std::nullopt;
  const auto &[factors, coefficient] = *divisor->begin();
  Product quotient;
  for (const auto &[dims, own] : *dividend) {
    std::vector<unsigned> rest = dims;
    for (unsigned factor : factors) {
      auto found = std::find(rest.begin(), rest.end(), factor);
      if (found == rest.end())
        return std::nullopt;
      rest.erase(found);
    }
    if (coefficient < 1 || own % coefficient != 0)
      return std::nullopt;
    quotient[rest] = own / coefficient;
  }
  return sizeOf(entry, quotient);
}

} // namespace tenon::sema
