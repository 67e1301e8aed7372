// From the kernel form to a shared library: code of every tier, tables, manifest.
#pragma once
#include "lowering/cpu/Tier.h"
#include "lowering/schedule/ScheduledEntry.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace llvm {
class Module;
}

namespace tenon {

class PassFlags;

struct EmitOptions {
  enum class Kind { Library, Object, Assembly, Llvm } kind = Kind::Library;
  std::string directory; // Library, Object: files are written here
  std::string name;      // libNAME.so, NAME.h, NAME.json
  /// The text of the manifest, asked for when the code of all tiers stands and with it every size.
  std::function<std::string(llvm::ArrayRef<ScheduledEntry>)> manifest;
  std::function<std::string(llvm::StringRef manifest)> header; // the text of NAME.h; without it there is no such file
  std::string buildId;                                         // hexadecimal
  PassFlags *flags = nullptr;                                  // MLIR's own, if any were given
  std::error_code *fileFailure = nullptr;                      // why a file could not be written; kinds that write files need it
  std::string *machineFailure = nullptr;                       // what the machine lacks, a linker or memory; Library needs it
  std::vector<cpu::Tier> tiers;                                // of cpu::tiersOf, or fewer
  std::function<void(llvm::Module &, cpu::Tier)> edit = {};    // of tests: changes the code of a tier before LLVM optimises it
};

/// Emits all entries. The module holds the tenon.parameter ops and is not changed. Assembly and Llvm are printed to `text`, the
/// optimised code of each tier after the other. Errors are reported at ops, or at the module for files and the linker.
mlir::LogicalResult emitEntries(mlir::ModuleOp module, llvm::ArrayRef<ScheduledEntry> entries, const EmitOptions &options,
                                llvm::raw_ostream &text);

} // namespace tenon
