// What every kernel of fused attention is written with, however its threads share the pairs: the operands, where vectors lie,
// masks, places in tables, ranges, dropout.
#pragma once
#include "lowering/code/MaskTiles.h"
#include "lowering/gpu/ScalarCode.h"

namespace tenon::gpu {

/// An index operand with a truth value for each query and key, whose tiles kernels ask for by words (MaskWords.h).
struct StoredMask {
  int64_t operand;
  unsigned temporary; // of the op
};

/// The operands and attributes that tenon.attention and tenon.attention_grad have in common.
struct AttentionOperands {
  template <class Op>
  explicit AttentionOperands(Op op)
      : query(op.getQuery()), key(op.getKey()), value(op.getValue()), positionQuery(op.getPositionQuery()), table(op.getTable()),
        selectedScores(op.getSelectedScores()), scoreTable(op.getScoreTable()), valueTable(op.getValueTable()),
        positionKey(op.getPositionKey()), keyTable(op.getKeyTable()), depth(op.getDepth()),
        step(op.getStep().empty() ? nullptr : &op.getStep().front()), placeCode(op.getPlaceCode()), back(op.getBack()),
        scale(op.getScale().convertToDouble()), rate(op.getRate().convertToDouble()), site(op.getSite()),
        drawnAt(op.getDrawnAt()), indexOperands(op.getIndexOperands()) {
    if (drawnAt)
      drawnOf = op.getDrawnOf()->getResult(0);
    read(op.getMask(), op.getPlace(), op.getIndexLabels(), op.getSelect().value_or(mlir::Attribute()));
  }

  Value query, key, value, positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable, depth;
  mlir::Region *step, *placeCode; // null: none
  std::optional<int64_t> back;
  double scale, rate;
  int64_t site;
  std::optional<int64_t> drawnAt; // number of the index operand with the places in a whole, of which queries are rows
  mlir::AffineExpr drawnOf;       // queries of the whole
  llvm::SmallVector<Value> indexOperands;
  llvm::SmallVector<llvm::SmallVector<int64_t>> labels; // of the index operands
  std::vector<Mask> masks;
  std::optional<Mask> select;
  llvm::SmallVector<MaskForm> places;   // where no code computes the place
  llvm::SmallVector<StoredMask> stored; // in the order of the first temporaries of a launch; none: pairs are tested alone

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
  /// Of the masks, the tests that no range of queries or keys stands for.
  llvm::SmallVector<Mask> testsOfTiles() const;
  /// Whether these take so many registers for a pair that fewer pairs are tested at a time.
  bool testsMuch() const;
  /// Whether a test may tell that no pair of a tile is visible, or with `negated` that all are.
  bool decides(const Mask &mask, bool negated = false) const { return decidesTiles(labels, mask, negated, !stored.empty()); }
  /// Whether they are few, and whole tiles may pass each of them, or fail, by places alone.
  bool areTestsOfPlaces() const;
  llvm::SmallVector<Value> tensors() const;

private:
  void read(mlir::ArrayAttr mask, mlir::ArrayAttr place, mlir::ArrayAttr indexLabels, mlir::Attribute selection);
};

/// Of shared memory, what a block has without asking for more.
constexpr int64_t kBlockBytes = 48 << 10;

struct IndexRange {
  Value low, high; // [low, high)
};

/// The masks that all must hold.
void collectParts(llvm::ArrayRef<Mask> masks, llvm::SmallVectorImpl<Mask> &parts);
/// Tests that bound an index by the other one and the row of the batch: a x + c y + others <= 0, a = 1 or -1.
void collectBounds(const Mask &mask, llvm::SmallVectorImpl<MaskForm> &bounds);

/// Whether there may be a visible pair in the tile that begins at a key, or a query; null: masks tell nothing of tiles.
using SeenTiles = std::function<Value(Value first)>;

/// The code of a thread of a block with a batch and a head.
class AttentionCode {
public:
  AttentionCode(KernelCode &code, const AttentionOperands &operands);

  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
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
  /// An index that is inside of `count`.
  Value within(Value index, Value count) { return minimum(builder, index, subtract(builder, count, number(1))); }
  /// Splits a number, that of the block where there is none: batch, then heads of `heads` ones, then one of `tiles`, which is
  /// returned.
  Value enter(int64_t heads, Value tiles, Value &ofHeads, Value which = {});
  /// The sum or maximum over `count` threads beside each other, a power of 2, in each of them.
  Value across(Reduction kind, Value value, int64_t count);

  // Elements: what is stored short is widened, and rounded.
  Value load(Value tensor, Value index);
  void store(Value tensor, Value index, Value value);
  // Offsets of vectors in tensors, of `width`.
  Value offsetOfQuery(Value query, int64_t width);
  Value offsetOfKey(Value key, int64_t width);
  Value offsetOfPlace(Value place, int64_t width);
  Value statistic(Value tensor, Value query); // of [B, H, I]

  // Pairs.
  /// An element of an index operand, in its own type; a query or key that it does not depend on may be null.
  Value elementOf(int64_t operand, Value query, Value key);
  Value form(const MaskForm &form, Value query, Value key);
  Value test(const Mask &mask, Value query, Value key);
  Value visible(Value query, Value key);
  /// The rows of the tables that a pair reads.
  llvm::SmallVector<Value> placesOf(Value query, Value key);
  Value isSelected(Value query, Value key);
  /// The number that dropout gives the query's key 0: rows of a whole are drawn at their places there.
  Value firstDrawn(Value query);
  /// Whether dropout keeps the pair's probability.
  Value keeps(Value query, Value key);
  /// The score behind the sum of the products: selected scores, tables, scale, step; with the derivative of the step, null
  /// without.
  std::pair<Value, Value> finishScore(Value sum, Value query, Value key, llvm::ArrayRef<Value> places);
  /// The keys that some query of [first, last] may see, or the queries that may see some such key, as far as masks say it by
  /// bounds; begins at a multiple of `side`.
  IndexRange seen(bool ofKeys, Value first, Value last, int64_t side);
  /// The same for tiles of `side`, as far as the other tests say it; `own`: the queries, or the keys.
  SeenTiles seenTiles(bool ofKeys, Interval own, int64_t side);
  /// What is known of pairs for which all of the masks hold.
  TileVisibility visibilityOf(llvm::ArrayRef<Mask> masks, Interval ofQueries, Interval ofKeys);

protected:
  /// Keys and values that lie unrounded in memory.
  bool rounds(Value tensor) const {
    return (tensor == operands.key || tensor == operands.value) && storedType(tensor) != operands.storage() &&
           storedType(tensor) == operands.element();
  }
  static Type storedType(Value tensor) { return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType(); }
  Value widened(Value value, bool isRounded);

private:
  Value integer(int64_t operand, Value query, Value key);
};

} // namespace tenon::gpu
