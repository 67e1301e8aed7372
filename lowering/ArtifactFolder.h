// The folder of an artifact: its files take their places together or not at all.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <system_error>

namespace tenon {

/// Calls `make` with the path of an empty folder inside of `directory`, which is made if it is not there. Where it returns true,
/// the files in it take the places of those of their names in `directory`; else, and after a failure, these stay as they were,
/// and folders that were made for them go away. Returns what kept it from writing.
std::error_code replaceFiles(llvm::StringRef directory, llvm::function_ref<bool(llvm::StringRef folder)> make);

} // namespace tenon
