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
/// Tensors that are kept per parameter.
int momentCount(OptimizeOp op);
/// The decay of a parameter of which no group says anything.
double ownDecay(const schema::OptimizerRule &rule, mlir::DictionaryAttr settings, ParameterOp parameter);

} // namespace tenon
