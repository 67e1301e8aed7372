#include "dialect/TenonDialect.h"
#include "dialect/TensorSizes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "dialect/TenonDialect.cpp.inc"
#include "dialect/TenonEnums.cpp.inc"
#include "dialect/TenonInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/TenonOps.cpp.inc"
#pragma GCC diagnostic pop

void tenon::TenonDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/TenonOps.cpp.inc"
      >();
}
