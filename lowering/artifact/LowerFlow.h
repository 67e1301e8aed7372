// Of emitted functions: structured control flow to blocks, and what arith has but LLVM has not.
#pragma once
#include "mlir/Pass/Pass.h"

namespace tenon {

std::unique_ptr<mlir::Pass> createLowerFlowPass();

} // namespace tenon
