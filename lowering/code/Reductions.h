// The steps of tenon.fold, for scalars or vectors.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tenon {

/// The neutral element of a reduction, as a scalar constant.
mlir::Value neutralElement(mlir::ImplicitLocOpBuilder &builder, Reduction kind, mlir::Type element);
mlir::Value combine(mlir::ImplicitLocOpBuilder &builder, Reduction kind, mlir::Value a, mlir::Value b);

} // namespace tenon
