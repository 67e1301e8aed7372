// What the kernels of fused attention share. A block has a (batch, head) and a tile of pairs: rows are queries, columns are keys
// or, for gradients of tables, places in them. Eight threads lie beside each other along the columns; each has a few rows and
// columns, and the pairs of them in registers. No pair is ever in memory but the tile's in shared memory.
#pragma once
#include "dialect/AttentionMasks.h"
#include "lowering/gpu/ScalarCode.h"

namespace tenon::gpu {

/// The operands and attributes that tenon.attention and tenon.attention_grad have in common.
struct AttentionOperands {
  template <class Op>
  explicit AttentionOperands(Op op)
      : query(op.getQuery()), key(op.getKey()), value(op.getValue()), positionQuery(op.getPositionQuery()), table(op.getTable()),
        selectedScores(op.getSelectedScores()), scoreTable(op.getScoreTable()), valueTable(op.getValueTable()),
        positionKey(op.getPositionKey()), keyTable(op.getKeyTable()), depth(op.getDepth()),
        step(op.getStep().empty() ? nullptr : &op.getStep().front()), placeCode(op.getPlaceCode()), back(op.getBack()),
        scale(op.getScale().convertToDouble()), rate(op.getRate().convertToDouble()), site(op.getSite()),
        indexOperands(op.getIndexOperands()) {
    read(op.getMask(), op.getPlace(), op.getIndexLabels(), op.getSelect().value_or(mlir::Attribute()));
  }

  Value query, key, value, positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable, depth;
  mlir::Region *step, *placeCode; // null: none
  std::optional<int64_t> back;
  double scale, rate;
  int64_t site;
  llvm::SmallVector<Value> indexOperands;
  llvm::SmallVector<llvm::SmallVector<int64_t>> labels; // of the index operands
  std::vector<Mask> masks;
  std::optional<Mask> select;
  llvm::SmallVector<MaskForm> places; // where no code computes the place

  /// Of queries, keys, values, tables, y and their gradients in memory.
  Type storage() const { return mlir::cast<mlir::RankedTensorType>(query.getType()).getElementType(); }
  /// What is computed in: of scores, sums, shared memory, statistics.
  Type element() const { return elementModel(storage()).compute; }
  int64_t heads() const { return mlir::cast<mlir::RankedTensorType>(query.getType()).getDimSize(2); }
  int64_t keyHeads() const { return mlir::cast<mlir::RankedTensorType>(key.getType()).getDimSize(2); }
  int64_t keyWidth() const { return mlir::cast<mlir::RankedTensorType>(query.getType()).getDimSize(3); }
  int64_t valueWidth() const { return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(3); }
  mlir::AffineExpr batches() const;
  mlir::AffineExpr queries() const;
  mlir::AffineExpr keys() const;
  /// Any of the tables, which have the same rows; null: none.
  Value anyTable() const { return table ? table : scoreTable ? scoreTable : valueTable ? valueTable : keyTable; }
  mlir::AffineExpr rowsOfTables() const;
  /// Of 65536, the elements dropped.
  int64_t threshold() const { return std::llround(rate * 65536); }
  bool dependsOn(const MaskForm &form, int64_t label) const;
  llvm::SmallVector<Value> tensors() const;

private:
  void read(mlir::ArrayAttr mask, mlir::ArrayAttr place, mlir::ArrayAttr indexLabels, mlir::Attribute selection);
};

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
  /// The largest tile whose rows of these widths, and `planes` numbers of each pair, fit into the shared memory of a block; none:
  /// not even the smallest one does.
  static std::optional<PairTile> fitting(llvm::ArrayRef<int64_t> widths, int64_t planes, Type element);
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

struct IndexRange {
  Value low, high; // [low, high)
};

class AttentionTile {
public:
  AttentionTile(KernelCode &code, const AttentionOperands &operands, PairTile tile);

  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const PairTile tile;
  const Type element;
  ScalarCode scalars;
  Value queries, keys, rows; // I, J, and the rows of the tables
  Value batch, head, keyHead;
  const bool drops;

  Value number(int64_t value) { return constant(builder, value); }
  Value real(double value) { return mlir::arith::ConstantOp::create(builder, builder.getFloatAttr(element, value)); }
  llvm::SmallVector<Value> zeros(int64_t count) { return llvm::SmallVector<Value>(size_t(count), real(0)); }
  Value select(Value condition, Value a, Value b) { return mlir::arith::SelectOp::create(builder, condition, a, b); }
  Value less(Value a, Value b) { return builder.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::slt, a, b); }
  Value both(Value a, Value b) { return builder.createOrFold<mlir::arith::AndIOp>(a, b); }
  Value exponential(Value x) { return exponentialAtMostOne(builder, x); }
  /// Splits the number of the block: batch, then heads of `heads` ones, then one of `tiles`, which is returned times the side.
  Value enter(int64_t heads, Value tiles, Value &ofHeads);
  /// Row r and column c of the thread, in the tile.
  Value row(int64_t r) { return add(builder, threadRow, number(r * tile.down())); }
  Value column(int64_t c) { return add(builder, threadColumn, number(c * PairTile::across)); }
  Value isFirstColumn() {
    return builder.createOrFold<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::eq, threadColumn, number(0));
  }
  /// The sum or maximum over the threads of a row, in each of them.
  Value acrossRow(Reduction kind, Value value);

  // Elements: what is stored short is widened, and rounded.
  Value load(Value tensor, Value index);
  void store(Value tensor, Value index, Value value);
  // Offsets of vectors in tensors, of `width`.
  Value offsetOfQuery(Value query, int64_t width);
  Value offsetOfKey(Value key, int64_t width);
  Value offsetOfPlace(Value place, int64_t width);
  Value statistic(Value tensor, Value query); // of [B, H, I]
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
  /// The rows of the tables that a pair reads.
  llvm::SmallVector<Value> placesOf(Value query, Value key);
  /// The keys that some query of [first, last] may see, and the queries that may see some such key, as far as masks say it by
  /// bounds.
  IndexRange keysSeen(Value first, Value last) { return seen(/*keys=*/true, first, last); }
  IndexRange queriesThatSee(Value first, Value last) { return seen(/*keys=*/false, first, last); }
  /// The queries for which some row of the tables in [first, last] may belong to a key.
  IndexRange queriesAtPlaces(Value first, Value last);
  Value isSelected(Value query, Value key);
  /// Whether dropout keeps the pair's probability.
  Value keeps(Value query, Value key);

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
  /// Keys and values that lie unrounded in memory.
  bool rounds(Value tensor) const {
    return (tensor == operands.key || tensor == operands.value) && storedType(tensor) != operands.storage() &&
           storedType(tensor) == operands.element();
  }
  static Type storedType(Value tensor) { return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType(); }
  Vectors vectorsIn(Value tensor, Vectors::Of of) { return {of, code.pointer(tensor), storedType(tensor), rounds(tensor), {}}; }
  Value widened(Value value, bool isRounded);
  Value integer(int64_t operand, Value query, Value key);
  Value elementOf(int64_t operand, Value query, Value key);
  Value form(const MaskForm &form, Value query, Value key);
  Value test(const Mask &mask, Value query, Value key);
  Value visible(Value query, Value key);
  IndexRange seen(bool ofKeys, Value first, Value last);
  Value threadRow, threadColumn;
};

} // namespace tenon::gpu
