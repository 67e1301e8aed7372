// The entry of `tenon grad`: the gradient of a model's losses, without an update.
#pragma once
#include "frontend/Program.h"
#include "frontend/Sema.h"

namespace tenon {

/// Leaves the entry `grad` alone, which differentiates the loss of the train step where `checked` has a recipe (of one with
/// `tasks` an entry grad_NAME for each), else that of all losses; none where there is no loss. Without a recipe, several losses
/// add up as in the model's train recipes: their weights are set in the program. False after a message: the recipes do not agree.
bool makeGradEntry(Program &program, const CheckOptions &checked);

} // namespace tenon
