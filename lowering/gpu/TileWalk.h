// The loop of an attention kernel over the tiles that a block meets, without those in which masks show no pair.
#pragma once
#include "lowering/gpu/AttentionCode.h"

namespace tenon::gpu {

/// Whether there may be a pair in the tile of a number; null: nothing is known of tiles.
using SeenTiles = std::function<Value(Value)>;

/// The numbers low, low + step, .. below high of the tiles that are seen. All threads of a block have the same ones.
class TileWalk {
public:
  TileWalk(ImplicitLocOpBuilder &builder, IndexRange range, int64_t step, SeenTiles isSeen);

  bool skips() const { return bool(isSeen); }
  /// At least `end` where there is none.
  Value first() const { return start; }
  Value next(Value now) { return seenFrom(tenon::add(builder, now, constant(builder, step))); }
  /// body(number, the next one, carried) from `from` on, a number that is seen.
  llvm::SmallVector<Value> over(Value from, mlir::ValueRange carried,
                                llvm::function_ref<llvm::SmallVector<Value>(Value, Value, llvm::ArrayRef<Value>)> body);

  const Value end;

private:
  Value seenFrom(Value number);
  Value less(Value a, Value b) { return builder.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::slt, a, b); }

  ImplicitLocOpBuilder &builder;
  const int64_t step;
  const SeenTiles isSeen;
  Value start;
};

} // namespace tenon::gpu
