// Axes that begin with places that are there from the first call on and end with those of the walk: concat[M + T -> S](fixed, x),
// keys of a prefix, of an attention sink.
#pragma once
#include "frontend/Program.h"
#include <map>

namespace tenon::sema {

/// By such an axis, how many places stand in front of the walk's. Those of `places` are none.
std::map<AxisId, Size> axesBehindFixed(const Entry &entry, const std::vector<AxisId> &places);

/// `entry`, which walks an axis, with each value along S made of two: of the fixed part, which does not depend on the walk, and
/// of the walk's places. They are joined, by a concat of two parts, where S meets the queries alone, so what `concat` stands in
/// front of in the text (a projection of keys) is computed for the new places, and once for the fixed ones.
Entry splitFixedParts(const Entry &entry);

} // namespace tenon::sema
