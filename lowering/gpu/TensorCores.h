// Instructions of tensor cores and of the copies that feed them (PTX: mma.sync, ldmatrix, cp.async), from sm_80 on.
#pragma once
#include "lowering/gpu/Launch.h"

namespace tenon::gpu {

/// Rows of elements in shared memory, in chunks of 16 bytes whose order depends on the row, so that 8 rows of one chunk, as
/// ldmatrix reads them, lie in different banks.
struct SharedTile {
  static constexpr int64_t kChunk = 8; // elements of 16 bits
  int64_t chunks;                      // of a row, a power of 2
  int64_t ofChunk = kChunk;            // elements
  bool inPairs = false;                // 4 rows of 2 chunks are read at a time, element by element, not 8 of one
  /// Where a chunk begins, elements from the first row; i64.
  Value place(ImplicitLocOpBuilder &builder, Value row, Value chunk) const;
};

/// Whether the operand is the first one (rows by depth) or the second (columns by depth), and whether rows of its tile in shared
/// memory are lines, with the depth along them, or steps of the depth, with the lines along them.
struct FragmentPlace {
  bool isFirst, alongDepth;
};
/// The elements of 16 lines by 16 steps of the depth from `line`, `step` on (multiples of 16), as mma.sync has them in the lanes
/// of a warp: four i32, of the second operand two for each 8 columns.
llvm::SmallVector<Value, 4> loadFragments(ImplicitLocOpBuilder &builder, Type element, Value memory, const SharedTile &tile,
                                          FragmentPlace place, Value lane, Value line, int64_t step);
/// The same of 16 lines by 8 steps (multiples of 8) of f32, rounded to tf32: to the nearest, ties away from zero.
llvm::SmallVector<Value, 4> loadRounded(ImplicitLocOpBuilder &builder, Value memory, const SharedTile &tile, FragmentPlace place,
                                        Value lane, Value line, int64_t step);
/// sums += a b of 16 x 8 sums and 16 steps: four f32 of each lane, those of row lane / 4 and columns 2 (lane % 4) and the next,
/// and of row lane / 4 + 8. `element`: bf16 or f16; f32: 8 steps of tf32.
void multiplyAccumulate(ImplicitLocOpBuilder &builder, Type element, llvm::ArrayRef<Value> a, llvm::ArrayRef<Value> b,
                        llvm::MutableArrayRef<Value> sums);

/// Starts a copy of 4, 8 or 16 bytes from global to shared memory; unless `inside` (i1) zeros come. Both ends are aligned to as
/// much.
void copyAsync(ImplicitLocOpBuilder &builder, Value to, Value from, int64_t bytes, Value inside);
/// Of the bytes the first `there` (i64), and zeros behind them.
void copyPartAsync(ImplicitLocOpBuilder &builder, Value to, Value from, int64_t bytes, Value there);
/// Copies of this thread since the last call are a group.
void commitCopies(ImplicitLocOpBuilder &builder);
/// Until all groups of this thread but the `newest` ones have arrived. A barrier behind it shows them to other threads.
void waitForCopies(ImplicitLocOpBuilder &builder, int64_t newest);

} // namespace tenon::gpu
