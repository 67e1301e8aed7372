// What nobody evaluates is read, too: names in layers and functions that no model uses, and arguments without a use.
#pragma once
#include "frontend/sema/session/Session.h"

namespace tenon::sema {

/// For the layers and functions of the main file, by their text alone, since shapes are known only where they are used:
///   T0101, T0102  a name or axis that stands nowhere around it
///   T0114, T0115  (warnings) an axis or argument that its layer or function never mentions; a param that is never read. A name
///   that begins
///                 with `_` says that this is meant. Only where there are no errors.
/// Call it after everything else: what has been reported at a place is not said again.
void checkUnused(Session &session);

} // namespace tenon::sema
