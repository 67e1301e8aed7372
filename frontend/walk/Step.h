// Incremental entries: `out step(T)` computes the new places only and keeps what later calls read.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include <optional>

namespace tenon::sema {

/// `entry` walks an axis and Checker::checkWalk has found it legal. The result computes the same values for the places that a
/// call brings, given states that earlier calls left (docs/language.md, "Entries that walk"). nullopt after "not supported yet".
///
/// Every value along the walk has one of two forms: *new*, the places of this call (their number is the dim of the walked axis),
/// or *whole*, all `capacity` places, of which those from position + new on are not there yet and hidden by masks.
/// - What is per place is computed in the new form. Places are counted from `position`, so iota becomes iota + position.
/// - The key axis of an attend is whole. A value along it is computed in the new form and appended to a state, at the last value
/// on its
///   way into the attend that has no query axis (not the input of an `expand`, whose copies would be kept, too); plain integers
///   and tables of positions are computed in the whole form instead.
/// - Of an axis that ends with the places, concat[M + T -> S](pre, x), all M + `capacity` places are there. The values along it
/// are
///   split into those of both parts first (frontend/walk/FixedParts.h), which one state has behind each other.
/// - A size that mentions the dim is that of `capacity` places: the entry is the whole model at its capacity, place by place.
/// What does not depend on the walk and costs something (an encoder, the keys and values that are made of it) is computed by an
/// entry of its own, `prepare`, which leaves it in states that the step reads (frontend/walk/Prepare.h).
struct WalkedEntries {
  Entry step;
  std::optional<Entry> prepare;
};
std::optional<WalkedEntries> deriveStep(const Entry &entry, Diagnostics &diagnostics);

} // namespace tenon::sema
