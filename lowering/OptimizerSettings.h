// The optimizer of a train recipe as an attribute of its entry, which the pass tenon-add-optimizer reads.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {

/// Sets `tenon.optimizer = {rule, settings, location}`: the recipe's optimizer, schedule, clipping, accumulation and loss scale,
/// in the words of tenon.optimize. What has no kernel yet is reported as T0901 at its place.
void describeOptimizer(mlir::func::FuncOp function, const CheckedRecipe &recipe, const SourceFiles &sources,
                       Diagnostics &diagnostics);

/// What the loss is multiplied by before its gradient is taken, and how this changes; a fixed scale has factors of 1.
struct LossScaleSettings {
  double initial = 0, growth = 1, backoff = 1;
  int64_t every = 1;
};
/// Of a recipe that is compiled with `compute`: f16 has one, whether the recipe says something about it or not.
std::optional<LossScaleSettings> lossScaleOf(const CheckedRecipe &recipe, mlir::Type compute);

/// The length of the recipe's schedule in passes over the data; nullopt where it is a number of steps or does not matter.
std::optional<double> scheduleEpochs(const CheckedRecipe &recipe);

} // namespace tenon
