// What a recipe's `save = blocks` saves: the plan that the same entries would have without it.
#pragma once
#include "lowering/Pipelines.h"
#include "lowering/schedule/ScheduledEntry.h"
#include "mlir/IR/BuiltinOps.h"

namespace tenon {

/// Entries of `module` in the grad form that compute the forward pass of a block again, planned as if they saved all of it. The
/// functions are those of `copy`, which is made here and stays null where there are none. The module is not changed, and nothing
/// is reported: what cannot be planned is reported where the entry itself is.
std::vector<ScheduledEntry> planSavingAll(mlir::ModuleOp module, const FormOptions &options,
                                          mlir::OwningOpRef<mlir::ModuleOp> &copy);

} // namespace tenon
