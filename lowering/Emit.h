// From the kernel form to a shared library: code of every tier, tables, manifest.
#pragma once
#include "lowering/MemoryPlan.h"
#include "lowering/Tables.h"
#include "lowering/cpu/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace mlir {
class DialectRegistry;
}

namespace tenon {

/// One entry: a function of the kernel form inside the module, and where its tensors live.
struct EntryToEmit {
  mlir::func::FuncOp function; // its name is the name of the entry
  MemoryPlan plan;
  int32_t inputs = 0, outputs = 0; // states: plan.stateCount; dims: the leading index arguments
};

/// The entry as it is emitted: its memory planned, its arguments and outputs counted. Fails as planMemory does.
mlir::FailureOr<EntryToEmit> planEntry(mlir::func::FuncOp function, const Target &target);

class PassFlags;

struct EmitOptions {
  enum class Kind { Library, Object, Assembly, Llvm } kind = Kind::Library;
  std::string directory; // Library, Object: files are written here
  std::string name;      // libNAME.so, NAME.h, NAME.json
  /// The text of the manifest, asked for when the code of all tiers stands and with it every size.
  std::function<std::string(llvm::ArrayRef<EntryTable>)> manifest;
  std::function<std::string(llvm::StringRef manifest)> header; // the text of NAME.h; without it there is no such file
  std::string buildId;   // hexadecimal
  PassFlags *flags = nullptr;              // MLIR's own, if any were given
  std::error_code *fileFailure = nullptr; // why a file could not be written; kinds that write files need it
  std::string *machineFailure = nullptr;  // what the machine lacks, a linker or memory; Library needs it
  std::vector<cpu::Tier> tiers = {cpu::Tier::Portable, cpu::Tier::Avx2, cpu::Tier::Avx512};
};

/// Dialects and interfaces that emission needs in the context of the module; the CPU becomes a target.
void registerEmitDialects(mlir::DialectRegistry &registry);

/// Functions `tn_run_*` of one tier and their kernels into `target`, in the dialects llvm, func, scf, vector, arith and math. Sizes that all tiers share are noted in
/// `tables`, one per entry. Errors are reported at ops.
mlir::LogicalResult emitTier(mlir::ModuleOp target, llvm::ArrayRef<EntryToEmit> entries, mlir::ModuleOp module, cpu::Tier tier, std::vector<EntryTable> &tables);

/// Emits all entries. The module holds the tenon.parameter ops and is not changed. Assembly and Llvm are printed to `text`, the
/// optimised code of each tier after the other. Errors are reported at ops, or at the module for files and the linker.
mlir::LogicalResult emitEntries(mlir::ModuleOp module, std::vector<EntryToEmit> &entries, const EmitOptions &options,
                                llvm::raw_ostream &text);

} // namespace tenon
