// What all pass managers and code generators of one compilation are told: MLIR's own command line flags, less care.
#pragma once
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include <memory>
#include <string>
#include <vector>

namespace tenon {

class PassFlags {
public:
  /// `flags` as on the command line: --mlir-print-ir-after-all, --mlir-timing. Contexts made afterwards see those that are
  /// theirs. Null after a mistake, with a sentence in `error`. The flags are global to the process, as LLVM has them: one
  /// compilation at a time.
  static std::unique_ptr<PassFlags> parse(const std::vector<std::string> &flags, std::string &error);
  /// Runs with printing, crash reproducers and timing as asked for. The report of times is written when this object goes; `part`
  /// is the line over those of the passes, and has to be another one in each call: MLIR tells passes apart by their addresses.
  mlir::LogicalResult run(mlir::PassManager &manager, mlir::Operation *op, const std::string &part);

  bool quick = false; // CompileRequest::quick

private:
  PassFlags() = default;
  mlir::DefaultTimingManager timing;
  mlir::TimingScope root;
};

} // namespace tenon
