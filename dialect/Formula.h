// Exact formulas over the dims of an entry, for the manifest: sizes of arenas, operations and bytes of kernels.
#pragma once
#include "mlir/IR/AffineExpr.h"
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tenon {

/// Sum of coefficient * product of variables. A variable is a dim, or an atom of the FormulaSpace.
class Polynomial {
public:
  using Monomial = std::vector<unsigned>; // variables in ascending order, repeated for powers
  Polynomial(int64_t constant = 0) {
    if (constant != 0)
      terms[{}] = constant;
  }
  static Polynomial variable(unsigned number) {
    Polynomial result;
    result.terms[{number}] = 1;
    return result;
  }
  Polynomial &operator+=(const Polynomial &other);
  friend Polynomial operator+(Polynomial left, const Polynomial &right) { return left += right; }
  friend Polynomial operator*(const Polynomial &left, const Polynomial &right);
  friend Polynomial operator-(Polynomial left, const Polynomial &right) { return left += Polynomial(-1) * right; }
  bool operator==(const Polynomial &other) const { return terms == other.terms; }
  bool operator<(const Polynomial &other) const { return terms < other.terms; }
  /// Whether every coefficient is a multiple of the number.
  bool isMultipleOf(int64_t number) const;

  std::map<Monomial, int64_t> terms; // no zero coefficients
};

/// The dims of one entry, each at least 1, and the rounded divisions and maxima that occur over them.
class FormulaSpace {
public:
  explicit FormulaSpace(std::vector<std::string> dims) : dims(std::move(dims)) {}

  Polynomial of(mlir::AffineExpr expression);
  /// Rounded up to whole cache lines, as every buffer is.
  Polynomial aligned(const Polynomial &bytes);
  /// True only if left <= right for all dims; may miss cases.
  bool atMost(const Polynomial &left, const Polynomial &right) const;
  /// Values for some choices of the dims. They tell most pairs apart without a proof, for which a plan of a large model asks
  /// hundreds of thousands of times.
  using Samples = std::array<double, 4>;
  Samples samplesOf(const Polynomial &polynomial) const;
  /// In the language of runtime/artifact/Formula.h: `6144*B*T + 64*ceil((4*B)/64)`.
  std::string text(const Polynomial &polynomial) const;
  const std::vector<std::string> &names() const { return dims; }

private:
  struct Atom {
    enum class Kind { Ceil, Floor, Remainder, Maximum } kind;
    std::vector<Polynomial> parts; // the dividend, or what the maximum is of
    int64_t divisor;
    Samples samples = {};
    bool operator==(const Atom &other) const { return kind == other.kind && parts == other.parts && divisor == other.divisor; }
  };
  friend class Maximum;
  Samples samplesOf(const Atom &atom) const;
  /// What `atMost` says where the samples do not refuse.
  bool isProvedAtMost(const Polynomial &left, const Polynomial &right) const;
  Polynomial variableOf(Atom atom);
  std::string variableText(unsigned variable) const;
  std::string maximumText(const std::vector<Polynomial> &parts) const;
  /// Variables that are maxima and occur in it, or inside of what occurs in it.
  void collectMaxima(const Polynomial &polynomial, std::set<unsigned> &maxima) const;
  std::vector<std::string> dims;
  std::vector<Atom> atoms; // variable dims.size() + i
};

/// The maximum of polynomials; those that another one bounds are dropped.
class Maximum {
public:
  void add(FormulaSpace &space, const Polynomial &candidate);
  void add(FormulaSpace &space, const Maximum &other, const Polynomial &plus);
  std::string text(const FormulaSpace &space) const;

private:
  struct Candidate {
    Polynomial formula;
    FormulaSpace::Samples samples;
  };
  /// The formula is `base + plus`; the sum is made when it is needed, for most candidates are dropped before.
  void add(FormulaSpace &space, const Polynomial &base, const Polynomial &plus, const FormulaSpace::Samples &samples);
  std::vector<Candidate> candidates; // none: 0
};

} // namespace tenon
