// `names LAYER as SCHEME` tables of all files of a program, held against the members of the layers and models that own them.
#pragma once
#include "frontend/names/Names.h"
#include "frontend/sema/session/Session.h"

namespace tenon::sema {

/// The tables belong to all models: their mistakes are reported in the first call for a session (T0650 to T0658).
NameTables readNameTables(Session &session);

} // namespace tenon::sema
