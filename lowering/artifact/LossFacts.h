// What the losses of an entry say about themselves to the reader of a manifest.
#pragma once
#include "frontend/Program.h"

namespace tenon {

/// A mean of cross-entropies, of all places or weighted by something that is no count: nats per predicted symbol. Everything else
/// that a loss can be is no such number.
bool isNats(const Entry &entry, NodeId loss);

/// The least size of dim `index` with which no mean of the entry runs over nothing, which is 0 / 0, and none is asked for the
/// largest, the smallest or a draw of no places: 2 where one of these is over T - 1 places.
int64_t leastSize(const Entry &entry, unsigned index);

} // namespace tenon
