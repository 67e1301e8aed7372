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

class AttentionGradient {
public:
  AttentionGradient(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile)
      : op(op), on(code, operands, tile), wanted(op) {}

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

  AttentionGradOp op;
  AttentionTile on;
  const WantedGradients wanted;
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

void addQueryGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence);
void addKeyGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence);
void addTableGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence);

} // namespace tenon::gpu
