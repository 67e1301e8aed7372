// NAME.h: what a C program needs to know about one model at compile time.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tenon {

/// Names of entries and parameters, positions of dims, inputs, outputs and states, for use with <tenon/runtime.h>. `manifest`:
/// the text of NAME.json.
std::string writeHeader(llvm::StringRef manifest);

} // namespace tenon
