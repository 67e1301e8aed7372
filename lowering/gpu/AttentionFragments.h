// What the kernels of fused attention by tensor cores share: tiles of vectors in shared memory, products whose sums stay in the
// registers of a warp, and masks, statistics and dropout on these.
#pragma once
#include "lowering/gpu/AttentionCode.h"
#include "lowering/gpu/TensorCores.h"

namespace tenon::gpu {

/// Rows of 16-bit elements in shared memory.
struct TileRows {
  TileRows(int64_t rows, int64_t width);
  int64_t rows, width; // multiples of 16
  SharedTile tile;
  int64_t elements() const { return rows * tile.chunks * SharedTile::kChunk; }
};

/// Vectors of a tensor: number n begins at element begin + n * stride and exists for low <= n < high.
struct RowSource {
  Value tensor, begin, stride;
  Value high, low = {}; // i32; null: 0
};

/// 16 lines by 8 * blocks columns of pairs, which a warp has in registers as mma.sync leaves sums: number 4 b + i of a lane is
/// that of line lane / 4 + 8 (i / 2) and column 8 b + 2 (lane % 4) + i % 2.
struct WarpPairs {
  Value firstLine, firstColumn; // a query and a key, or the other way round
  bool linesAreQueries;
  int64_t blocks;
};

/// Which columns the two lines of a lane see, as far as masks bound them: [low, high), i32; those of no `low` begin at 0.
struct LineLimits {
  Value low[2], high[2];
  llvm::SmallVector<Mask> others; // masks that bound nothing
};

class AttentionFragments : public AttentionCode {
public:
  AttentionFragments(KernelCode &code, const AttentionOperands &operands);

  const Type stored; // of what is multiplied
  Value lane, warp;

  using Numbers = llvm::SmallVector<Value>;      // f32, of a WarpPairs, or of 16 lines by a width
  using Fragment = llvm::SmallVector<Value, 4>;  // of 16 lines by 16 steps of the depth
  using Fragments = llvm::SmallVector<Fragment>; // by steps

  // Vectors.
  /// Starts to bring `rows.rows` vectors into shared memory; zeros where there is none. Elements that are rounded are stored at
  /// once.
  void bring(Value memory, const TileRows &rows, const RowSource &source);
  void bringQueries(Value memory, const TileRows &rows, Value tensor, Value first);
  void bringKeys(Value memory, const TileRows &rows, Value tensor, Value first);

  // Products. Lines come in groups of 16, for each of which there is an entry in `sums` and `lines`; each sum is one chain in the
  // order of the depth.
  /// 16 rows from `line` on as lines, with the width as the depth.
  Fragments linesOf(Value memory, const TileRows &rows, Value line);
  /// Numbers of pairs as lines, rounded, with their columns as the depth.
  Fragments rounded(llvm::ArrayRef<Value> numbers);
  /// sums += lines * rows^T: the depth is the width, 8 columns of each `sums` are 8 of the rows from `firstRow` on.
  void multiplyTransposed(llvm::MutableArrayRef<Numbers> sums, llvm::ArrayRef<Fragments> lines, Value memory,
                          const TileRows &rows, Value firstRow);
  /// sums += lines * rows: the depth is the rows.
  void multiply(llvm::MutableArrayRef<Numbers> sums, llvm::ArrayRef<Fragments> lines, Value memory, const TileRows &rows);

  // Pairs.
  /// Line 0 or 1 of the lane; the line and the column of a number. May not exist.
  Value lineOf(const WarpPairs &pairs, int64_t which);
  Value columnOf(const WarpPairs &pairs, int64_t number);
  /// Inside of the queries and keys.
  Value queryOf(const WarpPairs &pairs, int64_t number);
  Value keyOf(const WarpPairs &pairs, int64_t number);
  /// For all columns; to be had once for the lines.
  LineLimits limitsOf(const WarpPairs &pairs);
  /// Makes the scores -inf whose column does not exist or that masks hide; a tile without any is passed by.
  void hide(Numbers &scores, const WarpPairs &pairs, const LineLimits &limits);
  /// Whether tiles without a hidden pair are known, whatever is tested beside bounds.
  bool knowsFull(llvm::ArrayRef<Mask> others) const {
    return llvm::all_of(others, [&](const Mask &mask) { return operands.decides(mask, /*negated=*/true); });
  }
  /// Whether dropout keeps a pair.
  llvm::SmallVector<Value> kept(const WarpPairs &pairs);
  /// The sum or maximum over the lanes of a line, in each of them.
  Value acrossLine(Reduction kind, Value value) { return across(kind, value, 4); }
  /// 2^x, by the chip's approximation.
  Value power(Value x);
  /// The low half of an i64.
  Value wordOf(Value number) { return builder.createOrFold<mlir::arith::TruncIOp>(builder.getI32Type(), number); }
  /// Two numbers, rounded to what is stored, in an i32: the first one in the low half.
  Value pack(Value low, Value high);

private:
  Value ofLine(bool isLine, const WarpPairs &pairs, int64_t number);
  /// Whether all of the warp's pairs are visible.
  Value isFull(const WarpPairs &pairs, const LineLimits &limits);
  Value word(int64_t value);
  void bringChunk(Value memory, const TileRows &rows, const RowSource &source, int64_t first);
  /// Of columns 16 apart.
  void keepRun(const WarpPairs &pairs, int64_t first, llvm::MutableArrayRef<Value> results);
};

} // namespace tenon::gpu
