// The table that the library exports.
#pragma once
#include "lowering/schedule/ScheduledEntry.h"
#include "lowering/target/Target.h"
#include <string>

namespace tenon {

/// Adds TnEntry[], TnArtifact, the strings and `tn_artifact`, the one symbol that is visible outside. The module holds the
/// entries' TnBind.
void addArtifactTable(llvm::Module &module, llvm::ArrayRef<ScheduledEntry> entries, const ArtifactParts &parts,
                      const std::string &manifest, const std::string &buildId);

} // namespace tenon
