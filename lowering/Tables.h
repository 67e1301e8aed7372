// bind functions and the table that the library exports.
#pragma once
#include "lowering/MemoryPlan.h"
#include "lowering/cpu/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace tenon {

struct EntryTable {
  mlir::func::FuncOp function;
  const MemoryPlan *plan;
  std::vector<cpu::Tier> tiers;
  int32_t inputs, outputs;
  int32_t dims() const;
  int32_t offsets() const { return plan->stateCount + plan->slots.size(); }
};

std::string runSymbol(llvm::StringRef entry, cpu::Tier tier);
std::string bindSymbol(llvm::StringRef entry);

/// Emits TnBind of an entry into the module.
void emitBind(mlir::ModuleOp module, const EntryTable &table);
/// Adds TnEntry[], TnArtifact, the strings and `tn_artifact`, the one symbol that is visible outside.
void addArtifactTable(llvm::Module &module, const std::vector<EntryTable> &tables, const std::string &manifest,
                      const std::string &buildId);

} // namespace tenon
