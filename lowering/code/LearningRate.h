// The schedule of a learning rate.
#pragma once
#include "dialect/TenonDialect.h"
#include "lowering/code/HostNumbers.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tenon {

struct ScheduleNumbers {
  mlir::Value step;                        // f64: number of updates before this one
  std::function<mlir::Value()> totalSteps; // i64: TnContext::total_steps
  LibraryCall library;
};

/// Factor of the rate, f64.
mlir::Value scheduleFactor(mlir::ImplicitLocOpBuilder &builder, OptimizeOp op, const ScheduleNumbers &numbers);

} // namespace tenon
