// What the schedule form says of the results of kernels.
#pragma once
#include "dialect/TenonDialect.h"

namespace tenon {

/// Whether somebody reads a result of a kernel: an op of its block, or, in the schedule form, whoever reads the place that it
/// has.
bool isRead(mlir::Value result);

/// The steps of a place name loops around the op, and their bytes are forms over the dims of its entry. Reported at the op.
mlir::LogicalResult verifyPlace(mlir::Operation *op, PlaceAttr place);

} // namespace tenon
