// What loops keep of their rounds, in blocks of rounds.
#pragma once
#include "dialect/TenonDialect.h"

#define GET_OP_CLASSES
#include "dialect/BlockOps.h.inc"

namespace tenon {

/// The type of what has `rows` in blocks of `count` of them; null for fewer than one.
mlir::RankedTensorType inBlocks(mlir::RankedTensorType rows, int64_t count);

} // namespace tenon
