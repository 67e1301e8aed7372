// Tiles of products by tensor cores: the table and the rule that chooses from it.
#pragma once
#include <cstdint>

namespace tenon::gpu {

/// A row of GemmTiles.def.
struct GemmTile {
  int64_t rows, columns, depth, warpRows, warpColumns, stages, registers, shared;
  int64_t warpsDown() const { return rows / warpRows; }
  int64_t warpsAcross() const { return columns / warpColumns; }
  int64_t threads() const { return 32 * warpsDown() * warpsAcross(); }
};

struct GemmCut {
  GemmTile tile;
  int64_t slices; // of the depth
};
/// What costs least, by an estimate: of `batch` products of `rows` x `columns` sums of `depth` terms.
GemmCut chooseGemmTile(int64_t batch, int64_t rows, int64_t columns, int64_t depth);

} // namespace tenon::gpu
