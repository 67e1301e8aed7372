// From the schedule form to functions of one tier of the CPU.
#pragma once
#include "lowering/artifact/HostCode.h"
#include "lowering/cpu/Tier.h"
#include "lowering/schedule/ScheduledEntry.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tenon::cpu {

/// What code of the tier may use.
HostMachine machineOf(Tier tier);

std::string runSymbol(llvm::StringRef entry, Tier tier);

/// Functions `tn_run_*` of one tier and their kernels into `target`, in the dialects llvm, func, scf, vector, arith and math.
/// Errors are reported at ops.
mlir::LogicalResult emitTier(mlir::ModuleOp target, llvm::ArrayRef<ScheduledEntry> entries, mlir::ModuleOp module, Tier tier);

} // namespace tenon::cpu
