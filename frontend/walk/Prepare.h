// What an entry that walks computes once per text: values that are the same at every place and every call.
#pragma once
#include "frontend/Program.h"
#include <optional>

namespace tenon::sema {

/// An entry that walks, in two.
struct PreparedWalk {
  Entry prepare; // ENTRY.prepare: computes the values and leaves them in states; puts out nothing
  Entry walk;    // the entry, which reads them; of its inputs those along the walk are left
};
/// nullopt if everything that does not depend on the walk is cheap: read, moved or computed element by element from inputs and
/// parameters. Such values are computed in every call, since a state would have to be read as well.
///
/// A value is kept where it goes over into what depends on the walk: an encoder's keys and values, not its activations. Views of
/// it (renamed, repeated, transposed) are made by those who read it. Inputs that only the rest of the text's computation reads
/// are kept, too, so that a caller gives them once.
std::optional<PreparedWalk> prepareWalk(const Entry &entry);

} // namespace tenon::sema
