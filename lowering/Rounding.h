// `compute = tf32` of a numerics policy (schema::kRoundedFactors), which is no type of a module but a way in which a target
// multiplies f32.
#pragma once
#include "frontend/Program.h"
#include "frontend/recipes/Recipes.h"
#include "lowering/target/RoundedFactors.h"
#include "lowering/target/Target.h"

namespace tenon {

/// Reports, at `place`, a target that has no such products, and a contraction that has to be f32, by its text or by an exception
/// of the policy `given` (null: the command line's, which has none).
bool checkRounding(const Program &program, const Setting *given, ast::Range place, const Target &target,
                   Diagnostics &diagnostics);

} // namespace tenon
