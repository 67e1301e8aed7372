// An entry between planning and code.
#pragma once
#include "lowering/schedule/MemoryPlan.h"

namespace tenon {

/// A function of the kernel form inside the module, and where its tensors live.
struct PlannedEntry {
  mlir::func::FuncOp function; // its name is that of the entry; its leading arguments are its dims
  MemoryPlan plan;
  int32_t dims = 0, inputs = 0, outputs = 0; // states: plan.stateCount
  /// Of TnContext::offsets.
  int32_t offsets() const { return int32_t(plan.stateCount + plan.slots.size()); }
};

/// Fails as planMemory does.
mlir::FailureOr<PlannedEntry> planEntry(mlir::func::FuncOp function, const Target &target);

} // namespace tenon
