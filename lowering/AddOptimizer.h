// The optimizer step of a train recipe, at the end of its differentiated function.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Appends tenon.optimize with the recipe's optimizer, schedule and clipping, and its two results as the last outputs of the function. What has no kernel
/// yet is reported as T0901 at its place.
void addOptimizer(mlir::func::FuncOp function, const CheckedRecipe &recipe, Diagnostics &diagnostics);

/// The length of the recipe's schedule in passes over the data; nullopt where it is a number of steps or does not matter.
std::optional<double> scheduleEpochs(const CheckedRecipe &recipe);

} // namespace tenon
