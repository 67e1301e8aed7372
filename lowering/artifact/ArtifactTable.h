// The table that the library exports.
#pragma once
#include "lowering/cpu/Tier.h"
#include "lowering/schedule/ScheduledEntry.h"
#include <string>

namespace llvm {
class Module;
}

namespace tenon {

/// Adds TnEntry[], TnArtifact, the strings and `tn_artifact`, the one symbol that is visible outside.
void addArtifactTable(llvm::Module &module, llvm::ArrayRef<ScheduledEntry> entries, llvm::ArrayRef<cpu::Tier> tiers,
                      const std::string &manifest, const std::string &buildId);

} // namespace tenon
