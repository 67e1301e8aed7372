#include "dialect/WholeNumbers.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tenon;

#define GET_OP_CLASSES
#include "dialect/WholeNumberOps.cpp.inc"

#define TENON_ROUNDING(OP, SCALAR)                                                                                               \
  Value OP::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {                                 \
    return SCALAR::create(builder, getLoc(), read(getX(), indices));                                                             \
  }                                                                                                                              \
  SmallVector<Value> OP::buildVjp(OpBuilder &, ArrayRef<Value>) { return {Value()}; }

TENON_ROUNDING(RoundOp, math::RoundEvenOp)
TENON_ROUNDING(FloorOp, math::FloorOp)
TENON_ROUNDING(CeilOp, math::CeilOp)
