// Linear forms over symbolic dims: the one representation of a size that is not a number. No MLIR inside, so that the checker
// uses it too. Dims are indices into the list of symbolic dims of an entry (program.dims); every dim is at least 1.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tenon {

/// constant + sum of coefficient * dim. A number is a form without terms. Arithmetic reports overflow by nullopt.
class Size {
public:
  Size(int64_t constant = 0) : constantTerm(constant) {}
  static Size dim(unsigned index) {
    Size size;
    size.terms[index] = 1;
    return size;
  }
  bool isConstant() const { return terms.empty(); }
  int64_t constant() const { return constantTerm; } // the constant term
  const std::map<unsigned, int64_t> &coefficients() const { return terms; }
  std::optional<int64_t> asConstant() const { return terms.empty() ? std::optional<int64_t>(constantTerm) : std::nullopt; }

  friend std::optional<Size> add(const Size &, const Size &);
  friend std::optional<Size> subtract(const Size &, const Size &);
  /// One side must be a number.
  friend std::optional<Size> multiply(const Size &, const Size &);
  /// Every coefficient and the constant must be divisible.
  friend std::optional<Size> divideExactly(const Size &, int64_t);
  bool operator==(const Size &other) const { return constantTerm == other.constantTerm && terms == other.terms; }
  bool operator!=(const Size &other) const { return !(*this == other); }
  bool operator<(const Size &other) const { return std::tie(constantTerm, terms) < std::tie(other.constantTerm, other.terms); }

  /// Value for given dims.
  int64_t evaluate(const std::vector<int64_t> &dims) const;
  /// "2*T+M" style text with the names of the dims.
  std::string text(const std::vector<std::string> &names) const;

private:
  int64_t constantTerm = 0;
  std::map<unsigned, int64_t> terms; // dim index -> non-zero coefficient
};

} // namespace tenon
