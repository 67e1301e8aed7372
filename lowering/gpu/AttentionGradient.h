// What the kernels of the gradient of fused attention share: probabilities, computed again, and gradients of scores.
#pragma once
#include "dialect/Places.h"
#include "lowering/gpu/AttentionKernels.h"

namespace tenon::gpu {

/// Which gradients are read; null: nobody does.
struct WantedGradients {
  Value query, key, value, positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable;
  explicit WantedGradients(AttentionGradOp op)
      : query(read(op.getDquery())), key(read(op.getDkey())), value(read(op.getDvalue())),
        positionQuery(read(op.getDpositionQuery())), table(read(op.getDtable())), selectedScores(read(op.getDselectedScores())),
        scoreTable(read(op.getDscoreTable())), valueTable(read(op.getDvalueTable())), positionKey(read(op.getDpositionKey())),
        keyTable(read(op.getDkeyTable())) {}
  static Value read(Value result) { return result && isRead(result) ? result : Value(); }
  llvm::SmallVector<Value> ofQueries() const { return there({query, positionQuery, selectedScores}); }
  llvm::SmallVector<Value> ofKeys() const { return there({key, value, positionKey}); }
  llvm::SmallVector<Value> ofTables() const { return there({table, scoreTable, valueTable, keyTable}); }

private:
  static llvm::SmallVector<Value> there(std::initializer_list<Value> all) {
    return llvm::to_vector(llvm::make_filter_range(all, [](Value value) { return bool(value); }));
  }
};

/// Further sums over the rows or columns of a tile, beside others in one list.
class Sums {
public:
  /// The number of the first of `count` sums, which start at 0.
  size_t take(int64_t count) {
    all += size_t(count);
    return all - size_t(count);
  }
  size_t count() const { return all; }

private:
  size_t all = 0;
};

/// What each of the kernels does: it owns a tile of rows, goes through tiles of what these meet, and keeps its sums in registers.
class AttentionGradient {
public:
  AttentionGradient(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile)
      : op(op), code(code), builder(code.builder), operands(operands), tile(tile), on(code, operands, tile), wanted(op) {}

  /// Of the thread's rows: the statistics of the forward op, and D = dy . y.
  struct Rows {
    llvm::SmallVector<Value> largest, inverse, mean;
  };
  Rows rowsAt(llvm::ArrayRef<Value> queries, SharedRows dy);
  /// Of the thread's pairs: the dropped probability, and the gradient of the score, scaled.
  struct Numbers {
    llvm::SmallVector<Value> weights, scores;
  };
  Numbers numbersAt(const Pairs &pairs, const Rows &rows, const Vectors &query, const Vectors &key, SharedRows dy,
                    const Vectors &value);
  using Values = llvm::SmallVector<Value>;
  /// The sums after all tiles that begin within the range and are seen; `emitTile` makes of those before a tile those after it.
  Values overTiles(IndexRange range, SeenTiles seen, mlir::ValueRange before,
                   llvm::function_ref<Values(Value first, Values before)> emitTile);
  /// Column `column` of row `n` of what the block has in shared memory, for AttentionTile::accumulate.
  std::function<Values(Value n, Value column)> from(SharedRows shared);
  /// `column`, or the last one of a width that does not fill the threads across.
  Value within(Value column, int64_t width);
  /// `index` below `count`, or the last one.
  Value atMost(Value index, Value count) { return minimum(builder, index, subtract(builder, count, on.number(1))); }
  struct Place {
    Value offset, exists; // elements from the beginning of the result; i1
  };
  /// Stores the thread's sums of each row of the tile at `placeOf` it; nothing where nobody reads `result`.
  void store(Value result, llvm::ArrayRef<Value> sums, int64_t width, llvm::function_ref<Place(Value row)> placeOf);

  AttentionGradOp op;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const PairTile tile;
  AttentionTile on;
  const WantedGradients wanted;
  Sums sums;
};

void addQueryGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence);
void addKeyGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence);
void addTableGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence);
void addComputedTableGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence);

} // namespace tenon::gpu
