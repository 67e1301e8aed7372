// The optimizer of a train recipe as an attribute of its entry, which the pass tenon-add-optimizer reads.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Sets `tenon.optimizer = {rule, settings}`: the recipe's optimizer, schedule, clipping and accumulation, in the words of
/// tenon.optimize. What has no kernel yet is reported as T0901 at its place.
void describeOptimizer(mlir::func::FuncOp function, const CheckedRecipe &recipe, Diagnostics &diagnostics);

/// The length of the recipe's schedule in passes over the data; nullopt where it is a number of steps or does not matter.
std::optional<double> scheduleEpochs(const CheckedRecipe &recipe);

} // namespace tenon
