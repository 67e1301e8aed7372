// The manifest of an artifact (docs/artifact.md) from the checked program.
#pragma once
#include "frontend/Program.h"
#include "lowering/schedule/ScheduledEntry.h"
#include "lowering/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tenon {

struct ManifestFacts {
  std::string name, dtype, recipe; // recipe: name of the chosen train recipe, or empty
  std::string buildId, specHash;
  std::string lossesHash; // of what the recipe's losses compute, at any sizes; empty without a recipe
  uint64_t parameterBytes = 0;
  const Target *target = nullptr;
  std::vector<std::string> variants;
  std::map<std::string, std::string> exceptions; // of the numerics policy that it was compiled with, as Program::computeOf
  llvm::ArrayRef<ScheduledEntry> savingAll = {}; // entries that compute blocks of the forward pass again, as if they saved all
};

/// `module` holds the tenon.parameter ops with their places, in the order of program.params; `tables` has one item per entry of
/// the program.
std::string writeManifest(const Program &program, mlir::ModuleOp module, const ManifestFacts &facts,
                          llvm::ArrayRef<ScheduledEntry> planned);

} // namespace tenon
