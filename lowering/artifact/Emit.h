// From the schedule form to a shared library: what a target makes of it, tables, manifest.
#pragma once
#include "lowering/schedule/ScheduledEntry.h"
#include "lowering/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace tenon {

struct EmitOptions {
  enum class Kind { Library, Object, Assembly, Llvm } kind = Kind::Library;
  std::string directory; // Library, Object: files are written here
  std::string name;      // libNAME.so, NAME.h, NAME.json
  CodeOptions code;
  /// The text of the manifest, asked for when the target's code stands and with it every size.
  std::function<std::string(llvm::ArrayRef<ScheduledEntry>)> manifest;
  std::function<std::string(llvm::StringRef manifest)> header; // the text of NAME.h; without it there is no such file
  std::string buildId;                                         // hexadecimal
  std::error_code *fileFailure = nullptr;                      // why a file could not be written; kinds that write files need it
  std::string *machineFailure = nullptr;                       // what the machine lacks, a linker or memory; Library needs it
};

/// Emits all entries. The module holds the tenon.parameter ops and is not changed. Assembly and Llvm are printed to `text`, one
/// part of the target's code after the other. Errors are reported at ops, or at the module for files and the linker.
mlir::LogicalResult emitEntries(mlir::ModuleOp module, llvm::ArrayRef<ScheduledEntry> entries, const Target &target,
                                const EmitOptions &options, llvm::raw_ostream &text);

} // namespace tenon
