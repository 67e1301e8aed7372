// Bringing what makes a value in front of an op.
#pragma once
#include "dialect/TenonDialect.h"

namespace tenon {

/// Whether `value` is there when `op` runs; moves what makes it, as far as that stands behind `op` in its block. False: something
/// of it cannot be moved, or is made of `op`; then nothing has moved.
bool comeInFront(mlir::Value value, mlir::Operation *op);

} // namespace tenon
