#include "dialect/Formula.h"
#include <algorithm>
#include <cmath>
#include <limits>

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
  if (number == atoms.size())
    atoms.push_back(std::move(atom));
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

bool FormulaSpace::atMost(const Polynomial &left, const Polynomial &right) const {
  // Most pairs are told apart by their values where all dims are alike, without a proof: a plan of a large model asks for
  // hundreds of thousands.
  auto value = [this](auto &self, const Polynomial &polynomial, double dim) -> double {
    double sum = 0;
    for (const auto &[monomial, coefficient] : polynomial.terms) {
      double term = double(coefficient);
      for (unsigned variable : monomial) {
        const Atom *atom = variable < dims.size() ? nullptr : &atoms[variable - dims.size()];
        if (atom && atom->kind == Atom::Kind::Maximum)
          return std::numeric_limits<double>::quiet_NaN(); // unknown: they nest, and cost what their parts do together
        const double part = atom ? self(self, atom->parts[0], dim) : dim;
        const double divisor = atom ? double(atom->divisor) : 1;
        term *= !atom                             ? part
                : atom->kind == Atom::Kind::Ceil  ? std::ceil(part / divisor)
                : atom->kind == Atom::Kind::Floor ? std::floor(part / divisor)
                                                  : std::fmod(part, divisor);
      }
      sum += term;
    }
    return sum;
  };
  for (double dim : {1.0, 4097.0}) {
    const double least = value(value, left, dim), most = value(value, right, dim);
    if (most < least - 1e-6 * std::abs(least)) // NaN: false
      return false;
  }
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
  for (const Polynomial &other : candidates)
    if (space.atMost(candidate, other))
      return;
  std::erase_if(candidates, [&](const Polynomial &other) { return space.atMost(other, candidate); });
  candidates.push_back(candidate);
  // With many dims the cases multiply along the chain of buffers; a maximum inside the formula keeps them apart.
  constexpr size_t manyCases = 32;
  if (candidates.size() > manyCases)
    candidates = {space.variableOf({FormulaSpace::Atom::Kind::Maximum, candidates, 1})};
}

void Maximum::add(FormulaSpace &space, const Maximum &other, const Polynomial &plus) {
  if (other.candidates.empty())
    return add(space, plus);
  for (const Polynomial &candidate : other.candidates)
    add(space, candidate + plus);
}

/// Terms that all cases have are written once, and maxima inside before the whole: several may have them.
std::string Maximum::text(const FormulaSpace &space) const {
  std::set<unsigned> maxima;
  for (const Polynomial &candidate : candidates)
    space.collectMaxima(candidate, maxima);
  std::string result;
  for (unsigned variable : maxima) // what is inside of one was there before it
    result += space.variableText(variable) + " = " + space.maximumText(space.atoms[variable - space.dims.size()].parts) + "; ";
  if (candidates.size() < 2)
    return result + (candidates.empty() ? "0" : space.text(candidates[0]));
  Polynomial common;
  for (const auto &[monomial, coefficient] : candidates[0].terms) {
    int64_t least = coefficient;
    for (const Polynomial &candidate : candidates) {
      auto found = candidate.terms.find(monomial);
      least = std::min(least, found == candidate.terms.end() ? 0 : found->second);
    }
    if (least > 0)
      common.terms[monomial] = least;
  }
  std::vector<Polynomial> rests;
  for (const Polynomial &candidate : candidates)
    rests.push_back(candidate - common);
  return result + (common.terms.empty() ? "" : space.text(common) + " + ") + space.maximumText(rests);
}

} // namespace tenon
