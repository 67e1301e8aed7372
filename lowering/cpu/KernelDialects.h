// The dialects that kernels are written in, with what takes them to LLVM IR.
#pragma once
#include "mlir/IR/DialectRegistry.h"

namespace tenon::cpu {

void registerKernelDialects(mlir::DialectRegistry &registry);

} // namespace tenon::cpu
