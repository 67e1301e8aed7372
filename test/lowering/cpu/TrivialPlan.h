// Memory for a function of the kernel form that is tested alone.
#pragma once
#include "lowering/schedule/MemoryPlan.h"
#include "lowering/target/Target.h"

namespace tenon::test {

/// Every value that is read has a slot of its own, nothing is reused. Ends the process where the target has no kernel for an op.
MemoryPlan trivialPlan(mlir::func::FuncOp function, const Target &target);

} // namespace tenon::test
