#include "dialect/Formula.h"
#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;

namespace tenon {

Polynomial &Polynomial::operator+=(const Polynomial &other) {
  for (const auto &[monomial, coefficient] : other.terms)
    if ((terms[monomial] += coefficient) == 0)
      terms.erase(monomial);
  return *this;
}

Polynomial operator*(const Polynomial &left, const Polynomial &right) {
  Polynomial result;
  for (const auto &[a, x] : left.terms)
    for (const auto &[b, y] : right.terms) {
      Polynomial::Monomial monomial(a.size() + b.size());
      std::merge(a.begin(), a.end(), b.begin(), b.end(), monomial.begin());
      if ((result.terms[monomial] += x * y) == 0)
        result.terms.erase(monomial);
    }
  return result;
}

bool Polynomial::isMultipleOf(int64_t number) const {
  return std::all_of(terms.begin(), terms.end(), [&](const auto &term) { return term.second % number == 0; });
}

Polynomial FormulaSpace::variableOf(Atom atom) {
  size_t number = std::find(atoms.begin(), atoms.end(), atom) - atoms.begin();
  if (number == atoms.size()) {
    atom.samples = samplesOf(atom);
    atoms.push_back(std::move(atom));
  }
  return Polynomial::variable(dims.size() + number);
}

namespace {

Polynomial divided(Polynomial polynomial, int64_t divisor) {
  for (auto &[monomial, coefficient] : polynomial.terms)
    coefficient /= divisor;
  return polynomial;
}

} // namespace

Polynomial FormulaSpace::of(AffineExpr expression) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return Polynomial::variable(dim.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Polynomial left = of(binary.getLHS());
  if (expression.getKind() == AffineExprKind::Add)
    return left + of(binary.getRHS());
  if (expression.getKind() == AffineExprKind::Mul)
    return left * of(binary.getRHS());
  int64_t divisor = cast<AffineConstantExpr>(binary.getRHS()).getValue(); // planners divide by numbers alone
  bool exact = left.isMultipleOf(divisor);
  if (expression.getKind() == AffineExprKind::Mod)
    return exact ? Polynomial() : variableOf({Atom::Kind::Remainder, {left}, divisor});
  if (exact)
    return divided(left, divisor);
  return variableOf({expression.getKind() == AffineExprKind::FloorDiv ? Atom::Kind::Floor : Atom::Kind::Ceil, {left}, divisor});
}

Polynomial FormulaSpace::aligned(const Polynomial &bytes) {
  if (bytes.terms.size() == 1 && bytes.terms.begin()->first.empty())
    return (bytes.terms.begin()->second + 63) / 64 * 64;
  return bytes.isMultipleOf(64) ? bytes : Polynomial(64) * variableOf({Atom::Kind::Ceil, {bytes}, 64});
}

/// Value of a dim in a sample: all small, all large, every second one small.
static double dimIn(size_t sample, unsigned dim) {
  constexpr double small = 1, large = 4097;
  return sample == 0 || (sample > 1 && dim % 2 == sample % 2) ? small : large;
}

FormulaSpace::Samples FormulaSpace::samplesOf(const Polynomial &polynomial) const {
  Samples result = {};
  for (size_t sample = 0; sample < result.size(); ++sample)
    for (const auto &[monomial, coefficient] : polynomial.terms) {
      double term = double(coefficient);
      for (unsigned variable : monomial)
        term *= variable < dims.size() ? dimIn(sample, variable) : atoms[variable - dims.size()].samples[sample];
      result[sample] += term;
    }
  return result;
}

FormulaSpace::Samples FormulaSpace::samplesOf(const Atom &atom) const {
  Samples result = samplesOf(atom.parts[0]);
  for (const Polynomial &part : ArrayRef<Polynomial>(atom.parts).drop_front())
    for (auto [most, value] : llvm::zip_equal(result, samplesOf(part)))
      most = std::max(most, value);
  const double divisor = double(atom.divisor);
  for (double &value : result)
    value = atom.kind == Atom::Kind::Maximum ? value
            : atom.kind == Atom::Kind::Ceil  ? std::ceil(value / divisor)
            : atom.kind == Atom::Kind::Floor ? std::floor(value / divisor)
                                             : std::fmod(value, divisor);
  return result;
}

/// Whether no sample shows that left is more than right, beyond what rounding may add.
static bool mayBeAtMost(const FormulaSpace::Samples &left, const FormulaSpace::Samples &right) {
  return llvm::all_of_zip(left, right, [](double least, double most) { return most >= least - 1e-6 * std::abs(least); });
}

bool FormulaSpace::atMost(const Polynomial &left, const Polynomial &right) const {
  return mayBeAtMost(samplesOf(left), samplesOf(right)) && isProvedAtMost(left, right);
}

/// Whether no coefficient of the left is more than the right one's.
static bool isBelowByTerms(const Polynomial &left, const Polynomial &right) {
  auto other = right.terms.begin();
  for (const auto &[monomial, coefficient] : left.terms) {
    for (; other != right.terms.end() && other->first < monomial; ++other)
      if (other->second < 0)
        return false;
    const bool isInBoth = other != right.terms.end() && other->first == monomial;
    if (coefficient > (isInBoth ? other++->second : 0))
      return false;
  }
  return std::all_of(other, right.terms.end(), [](const auto &term) { return term.second >= 0; });
}

bool FormulaSpace::isProvedAtMost(const Polynomial &left, const Polynomial &right) const {
  if (isBelowByTerms(left, right))
    return true;
  Polynomial difference = right - left, bound;
  // k ceil(x / c) with k a multiple of c lies in [k/c x, k/c (x + c - 1)].
  for (const auto &[monomial, coefficient] : difference.terms) {
    const Atom *atom = monomial.size() == 1 && monomial[0] >= dims.size() ? &atoms[monomial[0] - dims.size()] : nullptr;
    if (atom && atom->kind == Atom::Kind::Ceil && coefficient % atom->divisor == 0) {
      int64_t factor = coefficient / atom->divisor;
      bound += Polynomial(factor) * atom->parts[0];
      if (factor < 0)
        bound += factor * (atom->divisor - 1);
    } else {
      Polynomial term;
      term.terms[monomial] = coefficient;
      bound += term;
    }
  }
  // With dim = 1 + e, e >= 0, a polynomial without negative coefficients is nowhere negative.
  Polynomial shifted;
  for (const auto &[monomial, coefficient] : bound.terms) {
    Polynomial product = coefficient;
    for (unsigned variable : monomial)
      product = product * (Polynomial::variable(variable) + Polynomial(variable < dims.size() ? 1 : 0));
    shifted += product;
  }
  return std::all_of(shifted.terms.begin(), shifted.terms.end(), [](const auto &term) { return term.second > 0; });
}

std::string FormulaSpace::variableText(unsigned variable) const {
  if (variable < dims.size())
    return dims[variable];
  const Atom &atom = atoms[variable - dims.size()];
  if (atom.kind == Atom::Kind::Maximum)
    return "%" + std::to_string(variable - dims.size());
  const Polynomial &dividend = atom.parts[0];
  std::string inner = dividend.terms.size() > 1 ? "(" + text(dividend) + ")" : text(dividend);
  const char *name = atom.kind == Atom::Kind::Ceil ? "ceil(" : atom.kind == Atom::Kind::Floor ? "floor(" : "mod(";
  return name + inner + (atom.kind == Atom::Kind::Remainder ? ", " : " / ") + std::to_string(atom.divisor) + ")";
}

void FormulaSpace::collectMaxima(const Polynomial &polynomial, std::set<unsigned> &maxima) const {
  for (const auto &[monomial, coefficient] : polynomial.terms)
    for (unsigned variable : monomial) {
      const Atom *atom = variable < dims.size() ? nullptr : &atoms[variable - dims.size()];
      if (!atom || (atom->kind == Atom::Kind::Maximum && !maxima.insert(variable).second))
        continue;
      for (const Polynomial &part : atom->parts)
        collectMaxima(part, maxima);
    }
}

std::string FormulaSpace::maximumText(const std::vector<Polynomial> &parts) const {
  std::string result = "max(";
  for (size_t i = 0; i < parts.size(); ++i)
    result += (i ? ", " : "") + text(parts[i]);
  return result + ")";
}

std::string FormulaSpace::text(const Polynomial &polynomial) const {
  if (polynomial.terms.empty())
    return "0";
  std::string result;
  // Highest powers first; the constant comes last.
  std::vector<std::pair<Polynomial::Monomial, int64_t>> ordered(polynomial.terms.begin(), polynomial.terms.end());
  std::sort(ordered.begin(), ordered.end(), [](const auto &a, const auto &b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a.first < b.first;
  });
  for (const auto &[monomial, coefficient] : ordered) {
    if (!result.empty())
      result += coefficient < 0 ? " - " : " + ";
    else if (coefficient < 0)
      result += "-";
    uint64_t magnitude = coefficient < 0 ? 0 - uint64_t(coefficient) : uint64_t(coefficient);
    bool needsNumber = magnitude != 1 || monomial.empty();
    if (needsNumber)
      result += std::to_string(magnitude);
    for (size_t i = 0; i < monomial.size(); ++i)
      result += (i || needsNumber ? "*" : "") + variableText(monomial[i]);
  }
  return result;
}

void Maximum::add(FormulaSpace &space, const Polynomial &candidate) {
  add(space, candidate, Polynomial(), space.samplesOf(candidate));
}

void Maximum::add(FormulaSpace &space, const Maximum &other, const Polynomial &plus) {
  if (other.candidates.empty())
    return add(space, plus);
  const FormulaSpace::Samples more = space.samplesOf(plus);
  for (const Candidate &candidate : other.candidates) {
    FormulaSpace::Samples samples = candidate.samples;
    for (auto [sum, value] : llvm::zip_equal(samples, more))
      sum += value;
    add(space, candidate.formula, plus, samples);
  }
}

void Maximum::add(FormulaSpace &space, const Polynomial &base, const Polynomial &plus, const FormulaSpace::Samples &samples) {
  std::optional<Polynomial> sum;
  auto formula = [&]() -> const Polynomial & {
    if (!sum)
      sum = base + plus;
    return *sum;
  };
  for (const Candidate &other : candidates)
    if (mayBeAtMost(samples, other.samples) && space.isProvedAtMost(formula(), other.formula))
      return;
  llvm::erase_if(candidates, [&](const Candidate &other) {
    return mayBeAtMost(other.samples, samples) && space.isProvedAtMost(other.formula, formula());
  });
  candidates.push_back({formula(), samples});
  // With many dims the cases multiply along the chain of buffers; a maximum inside the formula keeps them apart.
  constexpr size_t manyCases = 32;
  if (candidates.size() <= manyCases)
    return;
  std::vector<Polynomial> cases;
  for (Candidate &one : candidates)
    cases.push_back(std::move(one.formula));
  const Polynomial all = space.variableOf({FormulaSpace::Atom::Kind::Maximum, std::move(cases), 1});
  candidates = {{all, space.samplesOf(all)}};
}

/// Terms that all cases have are written once, and maxima inside before the whole: several may have them.
std::string Maximum::text(const FormulaSpace &space) const {
  std::set<unsigned> maxima;
  for (const Candidate &candidate : candidates)
    space.collectMaxima(candidate.formula, maxima);
  std::string result;
  for (unsigned variable : maxima) // what is inside of one was there before it
    result += space.variableText(variable) + " = " + space.maximumText(space.atoms[variable - space.dims.size()].parts) + "; ";
  if (candidates.size() < 2)
    return result + (candidates.empty() ? "0" : space.text(candidates[0].formula));
  Polynomial common;
  for (const auto &[monomial, coefficient] : candidates[0].formula.terms) {
    int64_t least = coefficient;
    for (const Candidate &candidate : candidates) {
      auto found = candidate.formula.terms.find(monomial);
      least = std::min(least, found == candidate.formula.terms.end() ? 0 : found->second);
    }
    if (least > 0)
      common.terms[monomial] = least;
  }
  std::vector<Polynomial> rests;
  for (const Candidate &candidate : candidates)
    rests.push_back(candidate.formula - common);
  return result + (common.terms.empty() ? "" : space.text(common) + " + ") + space.maximumText(rests);
}

} // namespace tenon
