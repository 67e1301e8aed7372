#include "dialect/Sizes.h"

namespace tenon {

static bool addChecked(int64_t &sum, int64_t value) { return !__builtin_add_overflow(sum, value, &sum); }

static bool multiplyChecked(int64_t &product, int64_t factor) { return !__builtin_mul_overflow(product, factor, &product); }

std::optional<Size> add(const Size &left, const Size &right) {
  Size sum = left;
  if (!addChecked(sum.constantTerm, right.constantTerm))
    return std::nullopt;
  for (auto [dim, coefficient] : right.terms) {
    int64_t &term = sum.terms[dim];
    if (!addChecked(term, coefficient))
      return std::nullopt;
    if (term == 0)
      sum.terms.erase(dim);
  }
  return sum;
}

std::optional<Size> subtract(const Size &left, const Size &right) {
  std::optional<Size> negated = multiply(right, Size(-1));
  return negated ? add(left, *negated) : std::nullopt;
}

std::optional<Size> multiply(const Size &left, const Size &right) {
  if (!left.isConstant() && !right.isConstant())
    return std::nullopt;
  const int64_t factor = left.isConstant() ? left.constantTerm : right.constantTerm;
  Size product = left.isConstant() ? right : left;
  if (factor == 0)
    return Size(0);
  if (!multiplyChecked(product.constantTerm, factor))
    return std::nullopt;
  for (auto &[dim, coefficient] : product.terms)
    if (!multiplyChecked(coefficient, factor))
      return std::nullopt;
  return product;
}

std::optional<Size> divideExactly(const Size &size, int64_t divisor) {
  // INT64_MIN / -1 is the one quotient that does not fit, so it is made by multiplication.
  if (divisor == 0)
    return std::nullopt;
  if (divisor == -1)
    return multiply(size, Size(-1));
  if (size.constantTerm % divisor != 0)
    return std::nullopt;
  Size quotient = size;
  quotient.constantTerm /= divisor;
  for (auto &[dim, coefficient] : quotient.terms) {
    if (coefficient % divisor != 0)
      return std::nullopt;
    coefficient /= divisor;
  }
  return quotient;
}

int64_t Size::evaluate(const std::vector<int64_t> &dims) const {
  int64_t value = constantTerm;
  for (auto [dim, coefficient] : terms) {
    int64_t term = dims.at(dim);
    if (!multiplyChecked(term, coefficient) || !addChecked(value, term))
      return INT64_MAX; // larger than any tensor: every later bound check refuses it
  }
  return value;
}

std::string Size::text(const std::vector<std::string> &names) const {
  std::string result;
  auto append = [&](int64_t coefficient, const std::string &name) {
    const bool negative = coefficient < 0;
    const uint64_t magnitude = negative ? uint64_t(0) - uint64_t(coefficient) : uint64_t(coefficient);
    if (negative || !result.empty())
      result += negative ? "-" : "+";
    if (name.empty())
      result += std::to_string(magnitude);
    else
      result += magnitude == 1 ? name : std::to_string(magnitude) + "*" + name;
  };
  auto name = [&](unsigned dim) { return dim < names.size() ? names[dim] : "d" + std::to_string(dim); };
  // Positive terms first, a positive constant only where there is none: "M+T-1", "1-T", "-T-1".
  for (auto [dim, coefficient] : terms)
    if (coefficient > 0)
      append(coefficient, name(dim));
  const bool constantFirst = result.empty() && (constantTerm > 0 || terms.empty());
  if (constantFirst)
    append(constantTerm, "");
  for (auto [dim, coefficient] : terms)
    if (coefficient < 0)
      append(coefficient, name(dim));
  if (constantTerm != 0 && !constantFirst)
    append(constantTerm, "");
  return result;
}

} // namespace tenon
