// What the kernels of fused attention by fused multiply-adds share. A block has a (batch, head) and a tile of pairs: rows are
// queries, columns are keys or, for gradients of tables, places in them. Eight threads lie beside each other along the columns;
// each has a few rows and columns, and the pairs of them in registers. No pair is ever in memory but the tile's in shared memory.
#pragma once
#include "lowering/gpu/AttentionCode.h"

namespace tenon::gpu {

/// Rows and columns of a block's pairs, `side` of each.
struct PairTile {
  int64_t side = 32;
  static constexpr int64_t across = 8;
  int64_t down() const { return std::min<int64_t>(side, 16); }
  int64_t threads() const { return across * down(); }
  int64_t ownRows() const { return side / down(); }
  int64_t ownColumns() const { return side / across; }
  /// Columns of a thread among `width` ones, the last of which may not exist.
  static int64_t ownOf(int64_t width) { return (width + across - 1) / across; }
  /// Elements between rows in shared memory: odd, so that threads that read a column meet no bank twice.
  static int64_t stride(int64_t width) { return ownOf(width) * across + 1; }
  /// The largest tile, up to a side of `most`, whose rows of these widths, and `planes` numbers of each pair, fit into the shared
  /// memory of a block; none: not even the smallest one does.
  static std::optional<PairTile> fitting(llvm::ArrayRef<int64_t> widths, int64_t planes, Type element, int64_t most);
};

/// `side` rows of one width in shared memory.
struct SharedRows {
  Value base;
  int64_t stride;
};

/// One vector for each row, column or pair of a thread; element e of it lies at base[offset + e], in the type `stored`.
struct Vectors {
  enum class Of { Row, Column, Pair } of;
  Value base;
  Type stored;
  bool rounds; // to what queries are stored in
  llvm::SmallVector<Value> offsets;
};

/// The pairs of a thread: index r * ownColumns + c.
struct Pairs {
  llvm::SmallVector<Value> queries;                   // one per row; where there is none, the last query
  llvm::SmallVector<Value> keys, visible;             // the key, inside of the keys; whether there is a pair and the masks hold
  llvm::SmallVector<llvm::SmallVector<Value>> places; // rows of the tables, inside of them; empty without tables
  llvm::SmallVector<Value> columnKeys, columnPlaces;  // where a column is one
  Vectors::Of keysBy = Vectors::Of::Column, placesBy = Vectors::Of::Pair;
};

class AttentionTile : public AttentionCode {
public:
  AttentionTile(KernelCode &code, const AttentionOperands &operands, PairTile tile);

  const PairTile tile;

  Value exponential(Value x) { return exponentialAtMostOne(builder, x); }
  /// As of AttentionCode; the first row of the tile.
  Value enter(int64_t heads, Value tiles, Value &ofHeads) {
    return multiply(builder, AttentionCode::enter(heads, tiles, ofHeads), number(tile.side));
  }
  /// Row r and column c of the thread, in the tile.
  Value row(int64_t r) { return add(builder, threadRow, number(r * tile.down())); }
  Value column(int64_t c) { return add(builder, threadColumn, number(c * PairTile::across)); }
  Value isFirstColumn() {
    return builder.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq, threadColumn, number(0));
  }
  /// The sum or maximum over the threads of a row, in each of them.
  Value acrossRow(Reduction kind, Value value) { return across(kind, value, PairTile::across); }

  SharedRows sharedRows(int64_t width) {
    return {code.shared(element, tile.side * PairTile::stride(width)), PairTile::stride(width)};
  }
  Value sharedAt(SharedRows rows, Value row, Value column);
  /// Rows first, first + 1, .. below `count` of a tensor; zeros for the others.
  void fill(SharedRows to, Value tensor, int64_t width, Value first, Value count, llvm::function_ref<Value(Value)> offsetOf);
  void fillQueries(SharedRows to, Value tensor, int64_t width, Value first) {
    fill(to, tensor, width, first, queries, [&](Value i) { return offsetOfQuery(i, width); });
  }
  void fillKeys(SharedRows to, Value tensor, int64_t width, Value first) {
    fill(to, tensor, width, first, keys, [&](Value j) { return offsetOfKey(j, width); });
  }
  Vectors rowsOf(SharedRows rows);
  Vectors columnsOf(SharedRows rows);
  Vectors ofQueries(Value tensor, const Pairs &pairs, int64_t width);
  Vectors ofKeys(Value tensor, const Pairs &pairs, int64_t width);
  Vectors ofPlaces(Value table, const Pairs &pairs, int64_t width, size_t which);

  // Pairs.
  /// The queries of the thread's rows, inside of the queries.
  llvm::SmallVector<Value> queriesFrom(Value firstQuery);
  Pairs pairsOf(Value firstQuery, Value firstKey);
  /// Columns are places. For places that are forms.
  Pairs pairsAtPlaces(Value firstQuery, Value firstPlace);
  /// The key that a query reads a row of the tables for, inside of the keys, and whether there is one.
  std::pair<Value, Value> keyAt(Value query, Value place);
  /// The keys that some query of [first, last] may see, and the queries that may see some such key, as far as masks say it by
  /// bounds.
  IndexRange keysSeen(Value first, Value last) { return seen(/*ofKeys=*/true, first, last, tile.side); }
  IndexRange queriesThatSee(Value first, Value last) { return seen(/*ofKeys=*/false, first, last, tile.side); }
  /// The queries for which some row of the tables in [first, last] may belong to a key.
  IndexRange queriesAtPlaces(Value first, Value last);

  // Products. Sums have an entry for each pair.
  llvm::SmallVector<Value> dot(const Vectors &a, const Vectors &b, int64_t width, mlir::ValueRange sums);
  struct Scores {
    llvm::SmallVector<Value> values, slopes; // scaled, behind the step; its derivative, empty without
  };
  Scores scores(const Pairs &pairs, const Vectors &queryVectors, const Vectors &keyVectors);
  /// sums[r][c] += sum over n below the side of weights(n)[r] * values(n, column)[r], columns being those of the thread among
  /// `width`. `values` gives one number for all rows or one for each.
  using RowNumbers = llvm::function_ref<llvm::SmallVector<Value>(Value n)>;
  using ColumnNumbers = llvm::function_ref<llvm::SmallVector<Value>(Value n, Value column)>;
  llvm::SmallVector<Value> accumulate(mlir::ValueRange sums, int64_t width, RowNumbers weights, ColumnNumbers values);
  /// Stores sums[r][c] times factors[r] (none: 1) at offsets[r] of a tensor, rows where `exists[r]` holds.
  void storeRows(Value tensor, llvm::ArrayRef<Value> offsets, llvm::ArrayRef<Value> exists, mlir::ValueRange sums, int64_t width,
                 llvm::ArrayRef<Value> factors = {});
  /// Numbers of the pairs, into shared memory.
  void storePairs(SharedRows to, mlir::ValueRange numbers);
  /// For `accumulate`: weights of the thread's rows against column n, or of its rows as columns against row n.
  llvm::SmallVector<Value> weightsOfRows(SharedRows pairs, Value n);
  llvm::SmallVector<Value> weightsOfColumns(SharedRows pairs, Value n);

private:
  Vectors vectorsIn(Value tensor, Vectors::Of of) { return {of, code.pointer(tensor), storedType(tensor), rounds(tensor), {}}; }
  Value threadRow, threadColumn;
};

} // namespace tenon::gpu
