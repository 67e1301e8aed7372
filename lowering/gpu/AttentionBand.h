// Scores by relative position on tensor cores: positionQuery_i . table_d(i, j), where d is a number plus or minus j - i. The
// queries and keys of a tile read a band of rows of the table: all queries of a warp are multiplied with all rows of its band,
// and each pair then reads its own product from shared memory.
#pragma once
#include "lowering/gpu/AttentionFragments.h"

namespace tenon::gpu {

/// Queries of a block and keys of a tile, powers of 2 of which the first is a multiple of the second, and what a block has in
/// shared memory for them.
struct BandShape {
  int64_t queries, keys, width;
  /// Rows of the table: those of a tile, and those that are new in the next one.
  TileRows ring() const;
  /// Of the products of 16 queries in shared memory, from one query to the next.
  int64_t stride() const { return keys + 16 + 9; }
  int64_t bytes() const { return 2 * ring().elements() + 4 * queries * stride(); }
};

class AttentionBand {
public:
  /// Whether places are as said above.
  static bool takes(const AttentionOperands &operands);
  AttentionBand(AttentionFragments &on, BandShape shape);

  /// For the queries from `firstQuery` on and the tiles of keys from `firstKey` on.
  void begin(Value firstQuery, Value firstKey);
  /// Starts to bring what the first tile reads.
  void bringFirst();
  /// Starts to bring what the next tile reads beside; `done`: keys of all tiles before that one.
  void bringNext(Value done);
  /// Adds to the scores of 16 queries from `line` of the block on, for the keys from `done` on. A barrier of the block is between
  /// two calls.
  void addScores(AttentionFragments::Numbers &scores, const AttentionFragments::Fragments &positionQueries, Value line,
                 Value done);

private:
  void bringRows(Value memory, const TileRows &rows, Value further);
  Value slot(Value row);
  AttentionFragments &on;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const BandShape shape;
  const TileRows rows;
  Value ring, products; // in shared memory
  Value sign, zero;     // place = zero + sign (key - query)
  Value first;          // the place of row 0 of the ring
};

} // namespace tenon::gpu
