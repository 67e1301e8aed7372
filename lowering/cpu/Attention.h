// What the forward and the backward kernel of fused attention share: sizes, addresses, packed panels, rows of scores, dropout.
#pragma once
#include "lowering/cpu/AttentionMask.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/KeepBits.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/MicroKernel.h"
#include "lowering/cpu/Pack.h"
#include "lowering/cpu/ShortReals.h"

namespace tenon::cpu {

/// The operands and attributes that tenon.attention and tenon.attention_grad have in common.
struct AttentionOperands {
  template <class Op>
  explicit AttentionOperands(Op op)
      : query(op.getQuery()), key(op.getKey()), value(op.getValue()), positionQuery(op.getPositionQuery()), table(op.getTable()),
        selectedScores(op.getSelectedScores()), scoreTable(op.getScoreTable()), valueTable(op.getValueTable()),
        positionKey(op.getPositionKey()), keyTable(op.getKeyTable()), pairScores(op.getPairScores()), depth(op.getDepth()),
        indexOperands(op.getIndexOperands()), mask(op.getMask()), place(op.getPlace()), labels(op.getIndexLabels()),
        select(op.getSelect().value_or(mlir::Attribute())), back(op.getBack()),
        step(op.getStep().empty() ? nullptr : &op.getStep().front()), placeCode(op.getPlaceCode()),
        scale(op.getScale().convertToDouble()), rate(op.getRate().convertToDouble()), site(op.getSite()),
        drawnAt(op.getDrawnAt()), pairBatch(op.getPairBatch()) {
    if (drawnAt)
      drawnOf = op.getDrawnOf()->getResult(0);
  }

  Value query, key, value, positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable, pairScores, depth;
  llvm::SmallVector<Value> indexOperands;
  mlir::ArrayAttr mask, place, labels;
  mlir::Attribute select;
  std::optional<int64_t> back;
  mlir::Region *step;      // of the scaled score: its function and the derivative; null: none
  mlir::Region *placeCode; // of the place in the tables; null: it is a form
  double scale, rate;
  int64_t site;
  std::optional<int64_t> drawnAt; // number of the index operand with the places in a whole, of which queries are rows
  mlir::AffineExpr drawnOf;       // queries of the whole
  std::optional<mlir::AffineMap> pairBatch;
  /// Chosen: rows of a strip at most; keys whose scores exist at a time; tasks wanted, of the forward kernel, and how it reads
  /// keys and values.
  int64_t mostRows = 0, chunkKeys = 0, tasks = 0;
  enum class Reads {
    Panels,  ///< packed, for all rows that read them
    InPlace, ///< few rows, where they are
    BySize   ///< so that the number of queries decides in a run
  } reads = Reads::Panels;

  /// Sets what is chosen for the op (tenon.chosen). Fails where that is not legal, which is reported there.
  mlir::LogicalResult takeChoice(mlir::Operation *op, Tier tier);
  /// Of the forward kernel: of the queries of all heads that share keys, strips are shared out by the number of tasks.
  llvm::SmallVector<CutSide> sidesOfForward() const;
  /// Of the gradient's: a tile has all heads that share keys, of all queries.
  llvm::SmallVector<CutSide> sidesOfGradient() const;

  /// What is computed in: of scores, sums, scratch, statistics, score tables, gradients of tables.
  mlir::Type element() const { return elementModel(storage()).compute; }
  /// Of queries, keys, values, tables, y and their gradients in memory.
  mlir::Type storage() const { return mlir::cast<mlir::RankedTensorType>(query.getType()).getElementType(); }
  int64_t heads() const { return mlir::cast<mlir::RankedTensorType>(query.getType()).getDimSize(2); }
  /// Heads of keys and values: each is read by a group of heads.
  int64_t keyHeads() const { return mlir::cast<mlir::RankedTensorType>(key.getType()).getDimSize(2); }
  int64_t keyWidth() const { return mlir::cast<mlir::RankedTensorType>(query.getType()).getDimSize(3); }
  int64_t valueWidth() const { return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(3); }
  /// Any of the tables: they have the same rows. Null: none.
  Value anyTable() const { return table ? table : scoreTable ? scoreTable : valueTable ? valueTable : keyTable; }
  /// Of 65536, the elements dropped.
  int64_t threshold() const { return std::llround(rate * 65536); }
  /// To which keys or values that lie unrounded in memory are rounded; null: they are read as they are.
  mlir::Type roundingOf(Value tensor) const {
    const mlir::Type own = mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType();
    return own != storage() && own == element() ? storage() : mlir::Type();
  }
  /// All tensors among them.
  llvm::SmallVector<Value> tensors() const;
};

/// Elements in memory: a tensor's are stored in its type, those of scratch and temporaries in the one that is computed in.
struct Elements {
  Value address;
  mlir::Type storage;
};

/// Rows of a tensor that are read or written soon: a contraction asks memory for them, some with each of its tiles. They need not
/// exist.
struct RowsAhead {
  Elements first;
  Value stride, rows; // stride in elements
  int64_t width;
  bool write;
};

/// C[m, n] (+)= A[m, k] * B[k, n]: B in packed panels `panelStride` elements apart. C has room for n rounded up to whole panels.
struct BlockContraction {
  /// Which axes of the contraction are the rows and columns of `stairs`: what lies outside is not computed where a tile of the
  /// micro-kernel can leave it out.
  enum class Trim { None, ColumnsOfC, ColumnsOfA, RowsOfA };
  Value m, n, k;
  Value a, aRowStride, aColStride; // one of the strides is 1
  Value b, panelStride;
  Value c, cRowStride;
  bool accumulate = false;
  Trim trim = Trim::None; // ColumnsOfC: stairs over (m, n), ColumnsOfA: over (m, k), both with aColStride 1; RowsOfA: over (k,
                          // m), with aRowStride 1 and accumulate
  Staircase stairs = {};
  llvm::SmallVector<RowsAhead> ahead = {};
};

/// Positions of one row's keys, multiples of the row lanes: keys outside [begin, end) are hidden, those in [innerBegin, innerEnd)
/// are visible as far as bounds say.
struct RowParts {
  Value begin, innerBegin, innerEnd, end;
};

/// Keys [low, high) of a chunk that a strip goes through; low is a multiple of the panels' width.
struct KeyRun {
  Value low, high;
  Value isFull; // i1: all tests of the mask that are no bounds hold; null: not known
};

/// The runs of a strip, in their order, as records in scratch; without any memory one run of all keys.
struct KeyRuns {
  /// Keys of a tile whose visibility is asked for: of whole panels and row vectors, and of what is summed at a time.
  static constexpr int64_t kTileKeys = 64;
  static constexpr int64_t kNumbers = 3; // of a record: low, high, whether it is full
  /// Bytes of scratch: behind a record that none continues, one for each tile.
  static int64_t bytes(int64_t chunkKeys) { return (chunkKeys / kTileKeys + 2) * kNumbers * 8; }

  KeyRun whole;
  Value memory, count;
};

/// C[m, n] (+)= A[m, k] * B[k, n] of few rows, A and C in scratch: B is read where it is, `bStride` elements from one position
/// to the next.
struct StreamedBlock {
  Value m, n, k;
  Value a, aRowStride; // neighbours along k
  Elements b;
  Value bStride;
  bool alongDepth;     // of B: positions are columns, and the elements of one are steps of k; else the other way round
  mlir::Type rounding; // as of StreamedMatrix
  Value c, cRowStride;
  bool accumulate = false; // not along the depth
};

/// Sizes and code of one tile's function.
class AttentionCode {
public:
  /// Keys that are asked for ahead of their time for each row of a strip, at most.
  static constexpr int64_t keysAhead = 16;

  AttentionCode(FunctionCode &code, const AttentionOperands &operands);

  FunctionCode &code;
  ImplicitLocOpBuilder &builder;
  Emitter emit;
  mlir::Type element;
  int64_t lanes;                  // of a register
  int64_t rowLanes;               // of row passes: the same in every tier
  int64_t width;                  // columns of a panel
  int64_t heads, keyHeads, group; // H, K, H / K
  int64_t keyWidth, valueWidth;   // E, F
  int64_t chunkKeys;              // keys whose scores exist at a time
  Value batches, queries, keys;   // B, I, J
  Value strips, stripRows;        // strips of a head; rows of all strips but the last
  Value scoreStride;              // elements between rows of the strip of scores
  Value readsInPlace;             // i1: keys and values

  static int64_t roundUp(int64_t size, int64_t to) { return (size + to - 1) / to * to; }
  /// Rows of a strip at most, and what is chosen where the queries are not known: contractions along the rows have few steps to
  /// load and store their sums for, strips of scores must stay in the second-level cache.
  static constexpr int64_t stripLimit = 64;
  static int64_t panelWidth(Tier tier, mlir::Type element) { return microTile(tier).vectors * tierLanes(tier, element); }
  /// Elements of scratch for a strip of scores; for panels over `columns` and `depth` steps.
  static int64_t scoreElements(const AttentionOperands &operands) { return stripLimit * (operands.chunkKeys + 16); }
  static int64_t panelElements(Tier tier, mlir::Type element, int64_t depth, int64_t columns) {
    int64_t lanes = tierLanes(tier, element), width = panelWidth(tier, element);
    return roundUp(columns, width) * roundUp(depth, lanes);
  }
  /// Elements between rows that a contraction writes.
  static int64_t sumWidth(Tier tier, mlir::Type element, int64_t width) {
    return roundUp(width, std::max<int64_t>(panelWidth(tier, element), elementModel(element).lanes));
  }

  Value number(int64_t value) { return constant(builder, value); }
  Value real(double value) { return mlir::arith::ConstantOp::create(builder, builder.getFloatAttr(element, value)); }
  unsigned bytes() const { return unsigned(elementBytes(element)); }
  Value spread(Value scalar);
  Value at(Value base, Value index) { return emit.at(base, element, index); }
  Value loadScalar(Value address) { return emit.load(element, address, bytes()); }
  void storeScalar(Value value, Value address) { emit.store(value, address, bytes()); }
  Elements at(Elements base, Value index) { return {emit.at(base.address, memoryType(base.storage), index), base.storage}; }
  Elements inScratch(Value address) { return {address, element}; }
  /// Lanes of what is computed in: what is stored short is widened, and narrowed.
  Value loadRow(Elements place, Value mask = {});
  void storeRow(Value vector, Elements place, Value mask = {});
  Value loadRow(Value address, Value mask = {}) { return loadRow(inScratch(address), mask); }
  void storeRow(Value vector, Value address, Value mask = {}) { storeRow(vector, inScratch(address), mask); }
  /// Addresses of every `step`-th element from the scalar address on.
  Value every(Value address, int64_t step);
  /// Addresses of the elements `index` (lanes of integers) behind the scalar address.
  Value atEach(Value base, Value index);
  /// What lies at these addresses in scratch; 0 where the mask does not hold.
  Value gather(Value addresses, Value mask = {});
  /// `vector` to different addresses in scratch.
  void scatter(Value vector, Value addresses);
  /// Adds `vector` lane by lane, in their order: addresses may be equal.
  void scatterAdd(Value vector, Value addresses);
  /// exp of lanes that are at most 0, or NaN.
  Value exponential(Value x);
  /// index rounded down to a multiple of a power of two; negative ones too.
  Value roundDown(Value index, int64_t to);

  /// Element (batch, position, head, 0) of a tensor [.., positions, H, width].
  Elements row(Value tensor, Value batch, Value positions, Value position, Value head, int64_t ofWidth);
  /// Elements between rows of gradients of keys in scratch.
  int64_t keySumWidth() const { return sumWidth(code.tier, element, keyWidth); }
  /// Elements between rows of gradients of tables in temporaries: the same in every tier.
  static int64_t tableGradWidth(int64_t width) { return roundUp(width, 32); }
  /// Number of that element.
  Value rowIndex(Value batch, Value positions, Value position, Value head, int64_t ofWidth);
  /// Element (batch, key, key head, 0) of keys, values or their gradients.
  Elements keyRow(Value tensor, Value batch, Value key, Value keyHead, int64_t ofWidth);
  /// Element (batch, head, query, key) of scores of pairs or their gradient, [B, H, I, J], whose first three sizes may be 1.
  Elements pairRow(Value tensor, Value batch, Value head, Value query, Value key);
  /// `count` rows `stride` elements apart, side by side in scratch `rowWidth` elements apart: rows of a tensor would share the
  /// sets of the first-level cache.
  void gatherRows(Elements source, Value count, int64_t ofWidth, Value rows, Value stride);
  static int64_t rowWidth(int64_t width) { return roundUp(width, 16) + 16; }
  /// Panels over `columns` positions `stride` elements apart, the width along the depth (a transposed copy). `rounding`: as of
  /// getPackPanel.
  void packColumns(Elements source, Value count, int64_t ofWidth, Value panels, Value stride, mlir::Type rounding = {});
  /// Panels over the width, `count` positions `stride` elements apart along the depth.
  void packRows(Elements source, Value count, int64_t ofWidth, Value panels, Value panelStride, Value stride,
                mlir::Type rounding = {});
  Value panelStride(int64_t depth) { return number(roundUp(depth, lanes) * width); }
  Value panelStride(Value depth) { return emit.mul(emit.roundUp(depth, lanes), width); }
  void contract(const BlockContraction &block);
  void stream(const StreamedBlock &block);
  /// Columns that one of `rows` rows reaches, within [0, size).
  KeyRange reached(const Staircase &stairs, Value rows, Value size);
  /// Asks memory for rows.
  void fetch(const RowsAhead &rows);
  /// `rows` rows of a tensor [.., positions, H, width] from (batch, position, head) on.
  RowsAhead ahead(Value tensor, Value batch, Value positions, Value position, Value head, int64_t ofWidth, Value rows,
                  bool write = false) {
    return {row(tensor, batch, positions, position, head, ofWidth), number(heads * ofWidth), rows, ofWidth, write};
  }
  /// `rows` rows of keys, values or their gradients from (batch, key, key head) on.
  RowsAhead keysAheadOf(Value tensor, Value batch, Value key, Value keyHead, int64_t ofWidth, Value rows, bool write = false) {
    return {keyRow(tensor, batch, key, keyHead, ofWidth), number(keyHeads * ofWidth), rows, ofWidth, write};
  }
  /// The step of a vector of scaled scores; with `slope` its derivative too.
  std::pair<Value, Value> step(mlir::Region &step, Value scores, bool slope);
  /// A row from scratch to a tensor or temporary, masked at the width; `adds`: to what is there.
  void copyRow(Value from, Elements to, int64_t ofWidth, bool adds);
  /// The dropout's bits; its rate gives the threshold.
  KeepBits keeps(const AttentionOperands &operands);
  /// for (key = low; key < high; key += rowLanes), carrying vectors.
  llvm::SmallVector<Value> alongRow(Value low, Value high, mlir::ValueRange carried,
                                    llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)> body);
  /// Stores `vector` over [low, high), rounded up to whole vectors; with `exactly`, not beyond high.
  void fill(Value base, Value low, Value high, Value vector, bool exactly = false);

  /// The tiles of the strip's keys [low, high) of the chunk at `start` that masks do not hide, neighbours joined.
  KeyRuns findRuns(const AttentionMask &mask, Value memory, Value batch, Interval queries, Value start, Value low, Value high);
  /// body(run, carried) for each of them.
  llvm::SmallVector<Value> forRuns(const KeyRuns &runs, mlir::ValueRange carried,
                                   llvm::function_ref<llvm::SmallVector<Value>(const KeyRun &, mlir::ValueRange)> body);
  void forRuns(const KeyRuns &runs, llvm::function_ref<void(const KeyRun &)> body);
  /// What of a row lies in a run.
  RowParts partsIn(const KeyRuns &runs, const KeyRun &run, const RowParts &parts);
  /// Keys of a row by number within the chunk that begins at `start`; low is a multiple of the row lanes.
  RowParts partsOf(const AttentionMask &mask, QueryPlace place, Value start, Value low, Value high);
  /// Runs `body(key, shown, carried)` over the vectors of [begin, end); `shown` is null where all lanes are visible. `isFull`: as
  /// of KeyRun.
  llvm::SmallVector<Value> forVisible(const AttentionMask &mask, QueryPlace place, const RowParts &parts, Value isFull,
                                      Value start, Value high, mlir::ValueRange carried,
                                      llvm::function_ref<llvm::SmallVector<Value>(Value, Value, mlir::ValueRange)> body);
};

} // namespace tenon::cpu
