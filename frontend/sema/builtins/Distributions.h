// Arithmetic on distributions: 1 + normal(0.02), exp(uniform(1)). What is done to each draw, in turn, stands behind the name of
// the distribution, in its kind and in that of the initializer: "normal add 1", "uniform add -4.6 exp".
#pragma once
#include "frontend/Program.h"
#include "frontend/sema/Values.h"

namespace tenon::sema {

/// A sum, difference, product or quotient of a distribution and a number; nullopt: anything else.
std::optional<Value> withDistribution(const std::string &op, const Value &left, const Value &right);
/// exp or log of a distribution; nullopt: anything else.
std::optional<Value> ofDistribution(const std::string &function, const Value &argument);
/// What is wrong with the values that it can draw: "a draw may be -1, whose log is not finite". Empty: nothing.
std::string mistakeOfDraws(const Initializer &init);

} // namespace tenon::sema
