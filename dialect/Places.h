// What the schedule form says of the results of kernels.
#pragma once
#include "mlir/IR/Value.h"

namespace tenon {

/// Whether somebody reads a result of a kernel: an op of its block, or, in the schedule form, whoever reads the place that it has.
bool isRead(mlir::Value result);

} // namespace tenon
