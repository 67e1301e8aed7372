// Vectors by the distance of a pair, its column less its line, where pairs are lines by columns as warps have them: rows of a
// table by relative position, or what these belong to. The pairs of a tile read a band of such vectors: each warp multiplies its
// lines, or its columns, with all vectors of its band, and each pair then reads its own product from shared memory.
#pragma once
#include "lowering/gpu/AttentionFragments.h"
#include <functional>

namespace tenon::gpu {

/// Lines of a block and columns of a tile, multiples of 16 of which the first is one of the second, and what a block has in
/// shared memory for them.
struct BandShape {
  int64_t lines, columns, width;
  bool ofColumns = false; // columns are multiplied, not lines
  bool spreads = false;   // addSpread is used
  /// Vectors: those of a tile, and those that are new in the next one.
  TileRows ring() const;
  /// Of the products of 16 lines in shared memory: by lines and distances, or by distances and columns.
  int64_t stride() const { return ofColumns ? columns + 1 : columns + 16 + 9; }
  int64_t products() const { return (ofColumns ? columns + 16 : 16) * stride(); }
  /// Of their numbers, by lines and distances.
  TileRows spread() const { return {16, columns + 16}; }
  int64_t bytes() const;
};

/// The vectors from number `n` on: number 0 is of the distance of the last line and the first column of all tiles.
using BandSource = std::function<RowSource(Value n)>;

/// Places in the tables: zero + sign (key - query), which may depend on the row of the batch.
struct RelativePlaces {
  explicit RelativePlaces(AttentionFragments &on);
  /// Whether places are so.
  static bool takes(const AttentionOperands &operands);
  Value sign, zero;
};
/// The rows of the table by the distances of lines and columns, the first of which are queries and keys, or the other way round.
BandSource sourceOfTable(AttentionFragments &on, int64_t lines, Value firstLine, Value firstColumn, bool linesAreQueries);
/// Rows of a tensor [P, H, width]: row n is at `place` + `step` n, where that is in the tables; `step`: 1 or -1.
RowSource rowsByPlace(AttentionFragments &on, Value tensor, int64_t width, Value place, Value step);

class AttentionBand {
public:
  /// `products`: memory of another band, which is used at another time; null: its own.
  AttentionBand(AttentionFragments &on, BandShape shape, BandSource source, Value products = {});

  /// Starts to bring what the first tile reads.
  void bringFirst();
  /// Starts to bring what the next tile reads beside; `done`: columns of all tiles before that one.
  void bringNext(Value done);
  /// Adds to the numbers of 16 lines from `line` of the block on, and the columns from `done` on, the products of their lines.
  /// A barrier of the block is between two calls.
  void addOfLines(AttentionFragments::Numbers &numbers, const AttentionFragments::Fragments &lines, Value line, Value done);
  /// The same, of their columns, which lie at `columns`.
  void addOfColumns(AttentionFragments::Numbers &numbers, Value columns, Value line, Value done);
  /// sums += numbers, rounded, times the vectors of their distances: for each line of the warp. A barrier as above.
  void addSpread(AttentionFragments::Numbers &sums, llvm::ArrayRef<Value> numbers, Value line, Value done);

private:
  Value slot(Value row);
  Value at(Value base, Type type, Value index) { return elementAddress(builder, base, type, index); }
  Value at(Value base, Type type, int64_t index) { return elementAddress(builder, base, type, on.number(index)); }
  Value startOf(Value line, Value done);
  Value ofLine(Value base, Type type, Value line, int64_t elements);
  void meet();
  AttentionFragments &on;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const BandShape shape;
  const TileRows rows;
  const BandSource source;
  const bool sharesProducts;

public:
  Value products; // in shared memory, as what follows

private:
  Value ring, spread;
  Value row, column; // of the lane's first number
};

} // namespace tenon::gpu
