// Sums and bounds of linear forms.
#include "frontend/proofs/IndexProof.h"
#include "frontend/proofs/LinearValues.h"

namespace tenon {

std::optional<Form> plus(const std::optional<Form> &left, const std::optional<Form> &right) {
  return left && right ? add(*left, *right) : std::nullopt;
}

std::optional<Form> minus(const std::optional<Form> &left, const std::optional<Form> &right) {
  return left && right ? subtract(*left, *right) : std::nullopt;
}

std::optional<Size> divideDown(const Size &size, int64_t divisor) {
  std::optional<Size> ofDims = subtract(size, Size(size.constant()));
  std::optional<Size> quotient = ofDims ? divideExactly(*ofDims, divisor) : std::nullopt;
  const int64_t constant = size.constant();
  if (!quotient || (divisor == -1 && constant == INT64_MIN))
    return std::nullopt;
  const int64_t down = constant / divisor - (constant % divisor != 0 && (constant < 0) != (divisor < 0));
  return add(*quotient, Size(down));
}

Interval intervalOf(const Form &form, const std::vector<Variable> &variables, size_t dims) {
  Interval result{Form(form.constant()), Form(form.constant())};
  for (auto [variable, coefficient] : form.coefficients()) {
    std::optional<Form> low = Form::dim(variable), high = low;
    if (variable >= dims) {
      low = variables[variable].low;
      high = variables[variable].high;
    }
    if (coefficient < 0)
      std::swap(low, high);
    result.low = plus(result.low, low ? multiply(*low, Form(coefficient)) : std::nullopt);
    result.high = plus(result.high, high ? multiply(*high, Form(coefficient)) : std::nullopt);
  }
  return result;
}

std::optional<Form> outerBound(const std::optional<Form> &left, const std::optional<Form> &right, bool lower,
                               const Entry &entry) {
  const std::optional<Form> ahead = minus(right, left), behind = minus(left, right);
  if (ahead && plainlyNonNegative(*ahead, entry))
    return lower ? left : right;
  if (behind && plainlyNonNegative(*behind, entry))
    return lower ? right : left;
  return std::nullopt;
}

bool plainlyNonNegative(const Form &form, const Entry &entry) {
  // The least value over the box 1 <= dim <= bound; a bound that names another dim is replaced once per dim.
  std::optional<Form> least = form;
  for (size_t round = 0; round <= entry.dims.size() && least; ++round) {
    std::optional<Form> next = Form(least->constant());
    bool changed = false;
    for (auto [dim, coefficient] : least->coefficients()) {
      Form replacement = Form::dim(dim);
      if (coefficient > 0) {
        // A positive dim may cancel against a bound put in later; keep it until no negative one is left.
        replacement = Form::dim(dim);
      } else {
        if (dim >= entry.dimUpperBound.size() || entry.dimUpperBound[dim] == Form(-1))
          return false;
        replacement = entry.dimUpperBound[dim];
        changed = true;
      }
      next = plus(next, multiply(replacement, Form(coefficient)));
    }
    least = next;
    if (!changed)
      break;
  }
  if (!least)
    return false;
  std::optional<Form> value = Form(least->constant());
  for (auto [dim, coefficient] : least->coefficients()) {
    if (coefficient < 0)
      return false;
    value = plus(value, Form(coefficient));
  }
  return value && value->constant() >= 0;
}

} // namespace tenon
