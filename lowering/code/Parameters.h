// What generators of kernels look up in a module and in types.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace tenon {

/// The parameter ops of the module, by name.
using ParameterTable = llvm::StringMap<ParameterOp>;
ParameterTable parametersOf(mlir::ModuleOp module);

/// Row-major strides in elements, over the dims.
llvm::SmallVector<mlir::AffineExpr> rowMajorStrides(mlir::RankedTensorType type);

} // namespace tenon
