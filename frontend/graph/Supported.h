// What a checked graph may hold and no code is made for yet.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"

namespace tenon {

/// T0901 "not supported yet: `what`" for a node, at the line of the author's own file that asks for it; where that calls a
/// library, the library's place is related.
void reportUnsupported(const Node &node, const std::string &what, Diagnostics &diagnostics);
/// T0118 for whole numbers that need more than 32 bits at some values of what they are made of, all of it bounded; one per place.
void warnOfWideNumbers(const Entry &entry, Diagnostics &diagnostics);
/// T0901 for every construct of the entry that the generation of MLIR would refuse; one per place.
void reportUnsupported(const Entry &entry, Diagnostics &diagnostics);

} // namespace tenon
