// From the planned kernel form to functions of one tier of the CPU.
#pragma once
#include "lowering/cpu/Tier.h"
#include "lowering/schedule/ScheduledEntry.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir {
class DialectRegistry;
}

namespace tenon::cpu {

/// What emission needs in the context of the module: dialects, the kernels of the ops. The CPU becomes a target.
void registerCpu(mlir::DialectRegistry &registry);

std::string runSymbol(llvm::StringRef entry, Tier tier);
std::string bindSymbol(llvm::StringRef entry);

/// The tiers that have code of their own for the module: that of pairs of bf16 only where something is contracted in bf16.
std::vector<Tier> tiersOf(mlir::ModuleOp module);

/// Functions `tn_run_*` of one tier and their kernels into `target`, in the dialects llvm, func, scf, vector, arith and math.
/// Errors are reported at ops.
mlir::LogicalResult emitTier(mlir::ModuleOp target, llvm::ArrayRef<ScheduledEntry> entries, mlir::ModuleOp module, Tier tier);
/// Emits TnBind of an entry into the module.
void emitBind(mlir::ModuleOp module, const ScheduledEntry &entry);

} // namespace tenon::cpu
