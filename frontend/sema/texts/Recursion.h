// Layers and functions that nobody calls and that would never end.
#pragma once
#include "frontend/sema/session/Session.h"

namespace tenon::sema {

/// T0415 for the layers and functions of the main file, by their text alone. What an evaluation comes by is meant, as where they
/// are called: not the branches of an `if`, a `let` that is not read, or what a config names. Call it after the evaluation, which
/// reports what is called.
void checkRecursion(Session &session);

} // namespace tenon::sema
