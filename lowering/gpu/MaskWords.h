// Masks that are stored, a truth value for each query and key: which parts of a tile show a pair, and which hide one. A kernel in
// front of attention makes a word of each square of pairs; what goes over tiles reads words.
#pragma once
#include "lowering/gpu/AttentionCode.h"

namespace tenon::gpu {

/// Where some stored mask may tell that a tile has no visible pair, adds the kernels that make the words of the stored masks, and
/// says in `operands` where these are.
void addMaskWords(mlir::Location location, AttentionOperands &operands, LaunchSequence &sequence);

/// What is known of the pairs of a tile by a stored mask: by parts of 16 x 16, as far as the tile has a share in them.
TileVisibility visibilityByWords(AttentionCode &on, int64_t operand, Interval queries, Interval keys);

} // namespace tenon::gpu
