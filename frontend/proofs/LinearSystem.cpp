#include "frontend/proofs/LinearSystem.h"
#include "frontend/Dims.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include <algorithm>

namespace tenon {

using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::PresburgerSpace;

/// Systems of more variables than this are asked for rational points only (if there is none, there is no integer one), and those
/// of more than kMostVariables are taken to have one: the search for integer points has no bound of its own.
constexpr size_t kMostIntegerVariables = 20, kMostVariables = 200;

std::optional<Constraint> constraintOf(const Requirement &requirement) {
  const bool isStrict = requirement.relation == Requirement::Relation::Below;
  const std::optional<Form> room = minus(minus(requirement.right, requirement.left), Form(isStrict ? 1 : 0));
  if (!room)
    return std::nullopt;
  return Constraint{*room, requirement.relation == Requirement::Relation::Same};
}

LinearSystem::LinearSystem(const Entry &entry, const std::vector<Variable> &variables, const Conjunction &constraints) {
  for (const Constraint &constraint : constraints)
    mention(constraint.form);
  for (size_t i = 0; i < order.size(); ++i) { // `order` grows: the bounds mention dims
    const unsigned variable = order[i];
    if (variable < entry.dims.size()) {
      bounds.push_back({*minus(Form::dim(variable), Form(1)), false});
      if (variable < entry.dimUpperBound.size() && entry.dimUpperBound[variable] != Form(-1))
        bound(minus(entry.dimUpperBound[variable], Form::dim(variable)));
      if (isProduct(entry, variable)) // what else there is to say of it is not linear
        for (unsigned factor : entry.dimFactors[variable])
          bound(minus(Form::dim(variable), Form::dim(factor)));
    } else {
      if (variables[variable].low)
        bound(minus(Form::dim(variable), *variables[variable].low));
      if (variables[variable].high)
        bound(minus(*variables[variable].high, Form::dim(variable)));
      for (const Form &low : variables[variable].further.lows)
        if (low != variables[variable].low)
          bound(minus(Form::dim(variable), low));
      for (const Form &high : variables[variable].further.highs)
        if (high != variables[variable].high)
          bound(minus(high, Form::dim(variable)));
    }
  }
  for (const Requirement &requirement : entry.requirements) // of dims that have a say here: others bring none of theirs
    if (const auto required = constraintOf(requirement)) {
      const auto &terms = required->form.coefficients();
      if (std::all_of(terms.begin(), terms.end(), [&](const auto &term) { return columns.count(term.first) != 0; }))
        bounds.push_back(*required);
    }
  all = constraints;
  all.insert(all.end(), bounds.begin(), bounds.end());
}

void LinearSystem::mention(const Form &form) {
  for (auto [variable, coefficient] : form.coefficients())
    if (columns.try_emplace(variable, order.size()).second)
      order.push_back(variable);
}

void LinearSystem::bound(const std::optional<Form> &form) {
  if (!form)
    return;
  mention(*form);
  bounds.push_back({*form, false});
}

static IntegerPolyhedron polyhedron(const std::vector<unsigned> &order, const std::map<unsigned, size_t> &columns,
                                    const Conjunction &all, const Point &fixed) {
  IntegerPolyhedron result(PresburgerSpace::getSetSpace(order.size()));
  auto row = [&](const Form &form) {
    std::vector<int64_t> coefficients(order.size() + 1);
    coefficients.back() = form.constant();
    for (auto [variable, coefficient] : form.coefficients())
      coefficients[columns.at(variable)] = coefficient;
    return coefficients;
  };
  for (const Constraint &constraint : all)
    constraint.equality ? result.addEquality(row(constraint.form)) : result.addInequality(row(constraint.form));
  for (auto [variable, value] : fixed)
    result.addEquality(row(*minus(Form::dim(variable), Form(value))));
  return result;
}

bool LinearSystem::hasPoint() const {
  if (order.size() > kMostVariables)
    return true;
  const IntegerPolyhedron integers = polyhedron(order, columns, all, {});
  if (mlir::presburger::Simplex(integers).isEmpty())
    return false;
  return order.size() > kMostIntegerVariables || !integers.isIntegerEmpty();
}

uint64_t LinearSystem::effort() const {
  const uint64_t variables = std::min(order.size(), kMostVariables);
  return 10 + variables * variables * (all.size() + 1) / 16;
}

std::optional<Point> LinearSystem::point() const {
  if (order.size() > kMostIntegerVariables || !hasPoint())
    return std::nullopt;
  Point fixed;
  std::vector<unsigned> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (unsigned variable : sorted)
    for (int64_t candidate : {0, 1, 2, 3, 4, 5, 8, -1, -2}) {
      Point tried = fixed;
      tried[variable] = candidate;
      if (polyhedron(order, columns, all, tried).isIntegerEmpty())
        continue;
      fixed = tried;
      break;
    }
  auto sample = polyhedron(order, columns, all, fixed).findIntegerSample();
  if (!sample)
    return std::nullopt;
  for (size_t column = 0; column < order.size(); ++column)
    fixed[order[column]] = int64fromDynamicAPInt((*sample)[column]);
  return fixed;
}

} // namespace tenon
