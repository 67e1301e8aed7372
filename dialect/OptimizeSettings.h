// What a verified tenon.optimize says, with the defaults of the table of rules.
#pragma once
#include "dialect/TenonDialect.h"
#include "frontend/recipes/OptimizerRules.h"

namespace tenon {

const schema::OptimizerRule &ruleOf(OptimizeOp op);
const schema::OptimizerForm &formOf(OptimizeOp op);
const schema::ScheduleRule &scheduleOf(OptimizeOp op);
/// A number of the rule or of the schedule, else its default, else 0. `beta1`, `beta2`: of `betas`.
double settingOf(OptimizeOp op, llvm::StringRef key);
/// What PyTorch adds to the norm that a bound is divided by; TensorFlow adds nothing (the setting clip_tf).
inline constexpr double kClipEpsilon = 1e-6;
inline double clipEpsilon(OptimizeOp op) { return op.number("clip_tf", 0) > 0 ? 0 : kClipEpsilon; }
/// Tensors that are kept per parameter.
int momentCount(OptimizeOp op);
/// Of a train function among several: the names of the parameters that it trains.
inline constexpr llvm::StringLiteral kTrained = "tenon.trained";
/// Whether the step that `op` ends updates a parameter.
bool isTrainedBy(OptimizeOp op, ParameterOp parameter);
/// Whether element `copy` of the stacks that the parameter lies in stays as it is.
bool isFrozenAt(ParameterOp parameter, int64_t copy);
/// Numbers of the parameter that the op changes, without frozen elements of its stacks.
int64_t trainedNumbers(OptimizeOp op, ParameterOp parameter);
/// The decay of a parameter of which no group says anything.
double ownDecay(const schema::OptimizerRule &rule, mlir::DictionaryAttr settings, ParameterOp parameter);

} // namespace tenon
