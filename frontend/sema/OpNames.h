// Names of the ops of a checked program, as its texts and pictures have them.
#pragma once
#include "frontend/Program.h"

namespace tenon {

const char *nameOf(Op op);

} // namespace tenon
