// bind functions and the table that the library exports.
#pragma once
#include "lowering/PlannedEntry.h"
#include "lowering/cpu/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace tenon {

std::string runSymbol(llvm::StringRef entry, cpu::Tier tier);
std::string bindSymbol(llvm::StringRef entry);

/// Emits TnBind of an entry into the module.
void emitBind(mlir::ModuleOp module, const PlannedEntry &entry);
/// Adds TnEntry[], TnArtifact, the strings and `tn_artifact`, the one symbol that is visible outside.
void addArtifactTable(llvm::Module &module, llvm::ArrayRef<PlannedEntry> entries, llvm::ArrayRef<cpu::Tier> tiers, const std::string &manifest,
                      const std::string &buildId);

} // namespace tenon
