// Vectors by the distance of a pair, its column less its line, where pairs are lines by columns as warps have them: rows of a
// table by relative position, or what these belong to. The pairs of a tile read a band of such vectors: each warp multiplies its
// lines, or its columns, with all vectors of its band, and each pair then gets its own product from the lane that has it.
#pragma once
#include "lowering/gpu/AttentionFragments.h"
#include <functional>

namespace tenon::gpu {

/// Lines of a block and columns of a tile, multiples of 16 of which the first is one of the second, and what a block has in
/// shared memory for them.
struct BandShape {
  int64_t lines, columns, width;
  /// Vectors: those of a tile, and those that are new in the next one; a power of 2, whose remainders are cheap.
  TileRows ring() const { return {int64_t(llvm::PowerOf2Ceil(uint64_t(lines + 2 * columns))), width}; }
  int64_t bytes() const { return 2 * ring().elements(); }
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
  using Numbers = AttentionFragments::Numbers;
  AttentionBand(AttentionFragments &on, BandShape shape, BandSource source);

  Value memory() const { return ring; }
  /// Starts to bring what the first tile reads.
  void bringFirst();
  /// Starts to bring what the next tile reads beside; `done`: columns of all tiles before that one.
  void bringNext(Value done);
  /// The products of 16 lines from `line` of the block on with the 16 vectors that the columns from 0 on begin with: 8 numbers.
  Numbers overlapOfLines(const AttentionFragments::Fragments &lines, Value line);
  /// Adds to the numbers of 16 lines, and the columns from `done` on, the products of their lines. `overlap`: with the vectors
  /// that these columns begin with, of which those are made that the next columns begin with.
  void addOfLines(Numbers &numbers, const AttentionFragments::Fragments &lines, Value line, Value done, Numbers &overlap);
  /// The same, of their columns, the first of which is row `first` of those in `memory`.
  void addOfColumns(Numbers &numbers, Value memory, int64_t first, Value line, Value done);
  /// sums += numbers, rounded, times the vectors of their distances: for each line of the warp. `late`: numbers of the columns
  /// before, of the 16 vectors that these columns begin with; those of the next 16 vectors stay there.
  void addSpread(Numbers &sums, llvm::ArrayRef<Value> numbers, Value line, Value done, AttentionFragments::Fragment &late);
  /// What stayed behind the last columns; `done`: all of them.
  void addLate(Numbers &sums, Value line, Value done, const AttentionFragments::Fragment &late);
  AttentionFragments::Fragment noneLate() { return AttentionFragments::Fragment(4, word(0)); }

private:
  /// Where a lane has numbers from: a lane, which gives those of its own block or, if it `wraps`, of the next one.
  struct Turn {
    Value lane, wraps;
  };
  /// Numbers of a line as far to the left as its row of 8 says, by the place of the result in its pair.
  struct Shift {
    Turn turns[2];
    Value isOdd;
  };
  Value slot(Value row);
  Value memoryAt(Value vector);
  Value startOf(Value line, Value done);
  Numbers productsOf(const AttentionFragments::Fragments &lines, Value vector);
  Value word(int64_t number);
  Shift shiftBy(Value distance);
  Value turned(const Turn &turn, Value own, Value next);
  Value shifted(const Shift &shift, int64_t place, llvm::ArrayRef<Value> own, llvm::ArrayRef<Value> next);
  AttentionFragments &on;
  ImplicitLocOpBuilder &builder;
  const BandShape shape;
  const TileRows rows;
  const BandSource source;
  const Value ring;     // in shared memory
  Value row, ofRow;     // i32, of the lane's first number: the line, and which of the four lanes of that
  Shift byLine, spread; // product by distance to product by column; the other way round
  Turn byColumn[2];
};

} // namespace tenon::gpu
