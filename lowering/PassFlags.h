// MLIR's own command line flags, for all pass managers of one compilation.
#pragma once
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include <memory>
#include <string>
#include <vector>

namespace tenon {

class PassFlags {
public:
  /// `flags` as on the command line: --mlir-print-ir-after-all, --mlir-timing. Contexts made afterwards see those that are theirs. Null after a
  /// mistake, with a sentence in `error`. The flags are global to the process, as LLVM has them: one compilation at a time.
  static std::unique_ptr<PassFlags> parse(const std::vector<std::string> &flags, std::string &error);
  /// Printing, crash reproducers, timing. The report of times is written when this object goes.
  mlir::LogicalResult apply(mlir::PassManager &manager);
  /// Time of a part that is no pass.
  mlir::TimingScope scope(llvm::StringRef name) { return root.nest(name); }

private:
  PassFlags() = default;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope root;
};

} // namespace tenon
