// What the backward kernel of fused attention does besides contractions: the gradient of a row's softmax, and the gradients of
// tables by relative position.
#pragma once
#include "dialect/Places.h"
#include "lowering/cpu/AttentionRelativeValues.h"

namespace tenon::cpu {

/// Which gradients are read; null: nobody does.
struct WantedGradients {
  Value query, key, value, positionQuery, table, selectedScores, scoreTable, valueTable, positionKey, keyTable, pairScores;
  explicit WantedGradients(AttentionGradOp op)
      : query(read(op.getDquery())), key(read(op.getDkey())), value(read(op.getDvalue())),
        positionQuery(read(op.getDpositionQuery())), table(read(op.getDtable())), selectedScores(read(op.getDselectedScores())),
        scoreTable(read(op.getDscoreTable())), valueTable(read(op.getDvalueTable())), positionKey(read(op.getDpositionKey())),
        keyTable(read(op.getDkeyTable())), pairScores(read(op.getDpairScores())) {}
  static Value read(Value result) { return result && isRead(result) ? result : Value(); }
  /// Gradients that need those of the scores by relative position.
  bool band() const { return positionQuery || table || scoreTable; }
  /// Those that need them by key and place.
  bool keyBand() const { return positionKey || keyTable; }
  bool scores() const { return query || key || selectedScores || pairScores || band() || keyBand(); }
  bool any() const { return scores() || value || valueTable; }
};

/// Row by row: probabilities from scores, gradients of scores from those of probabilities.
class SoftmaxGradient {
public:
  using Block = AttentionScores::Block;

  SoftmaxGradient(AttentionGradOp op, AttentionCode &on, const AttentionOperands &operands, const AttentionMask &mask,
                  AttentionScores &terms, const RelativeValues &relative, const WantedGradients &wanted)
      : op(op), on(on), operands(operands), code(on.code), builder(on.builder), emit(on.emit), mask(mask), terms(terms),
        relative(relative), wanted(wanted), threshold(operands.threshold()) {}

  /// Elements of scratch for the weights of a row.
  static int64_t weightElements(const AttentionOperands &operands) { return operands.chunkKeys + 16; }
  /// One head's, in scratch: `scoreGrads` a strip like that of the scores, `weights`, `keepBits` of a row. `scoreTable`:
  /// gradients by place, onto which those of computed places are added where there is no band.
  void enter(Value batch, Value head, Value scoreGrads, Value weights, Value keepBits, Value scoreTable);
  /// Row `number` of a block. scores -> dropped p; scoreGrads (dy . v) -> ds = p (dp - D) scale, in the band by place as well.
  void row(const Block &block, Value number);
  /// Zeros as the gradients of the scores of pairs of rows that see no key of the chunk.
  void storeNoPairs(const Block &block);
  /// The gradients of a query's two selected scores, onto what earlier chunks of keys gave.
  void storeSelected(const Block &block, Value query, Value first, Value second);

private:
  Value probabilities(const Block &block, const AttentionScores::Row &row, Value number, Value gradRow);
  void scoreGradients(const Block &block, const AttentionScores::Row &row, Value gradRow, Value sum);
  bool addsByPlace() const { return wanted.band() && terms.tables.computes(); }
  void storePairs(const Block &block, const AttentionScores::Row &row, Value gradRow);
  Value keysOfChunk(const Block &block) { return emit.min(emit.sub(on.keys, block.start), on.chunkKeys); }
  void addByPlace(const Block &block, const AttentionScores::Row &row, Value key, Value shown, Value ds);
  Value rowProduct(Value query);
  void clearHidden(const Block &block, const AttentionScores::Row &row, Value number, Value gradRow);
  void clearBetweenRuns(const Block &block, const AttentionScores::Row &row);
  Value choose(Value condition, Value value) {
    return condition ? Value(mlir::arith::SelectOp::create(builder, condition, value, zero)) : value;
  }

  AttentionGradOp op;
  AttentionCode &on;
  const AttentionOperands &operands;
  FunctionCode &code;
  ImplicitLocOpBuilder &builder;
  Emitter &emit;
  const AttentionMask &mask;
  AttentionScores &terms;
  const RelativeValues &relative;
  const WantedGradients &wanted;
  int64_t threshold;
  Value batch, head, scoreGrads, weights, keepBits, scoreTable, zero;
};

/// Gradients of the tables of a (batch, head) in temporaries, by place: elements between rows are the same in every tier.
class TableGradients {
public:
  TableGradients(AttentionCode &on, const AttentionOperands &operands, const AttentionScores &terms,
                 const WantedGradients &wanted)
      : on(on), operands(operands), terms(terms), emit(on.emit), wanted(wanted) {}

  /// Elements between rows of the gradients of `table` and `keyTable`.
  static int64_t width(const AttentionOperands &operands) { return AttentionCode::tableGradWidth(operands.keyWidth()); }
  /// The kernel's temporaries, behind the packed tables, and their number.
  static void plan(Kernel &kernel, KernelSequence &sequence, const AttentionOperands &operands, const WantedGradients &wanted);
  static unsigned temporaries(const WantedGradients &wanted) {
    return unsigned(bool(wanted.table)) + bool(wanted.scoreTable) + bool(wanted.valueTable) + bool(wanted.keyTable);
  }
  void enter(Value batch, Value head);
  void clear(Value zero);
  /// From places to rows of the tables.
  void store();

  Value table, scoreTable, valueTable, keyTable; // null: not wanted

private:
  AttentionCode &on;
  const AttentionOperands &operands;
  const AttentionScores &terms;
  Emitter &emit;
  const WantedGradients &wanted;
  Value batch, head, tableElements, scoreTableElements, valueTableElements, keyTableElements;
};

/// Gradients of queries and position queries: sums over chunks of keys, in the result. Where that is shorter than what is
/// computed in and there are several chunks, they are summed in temporaries and rounded once.
class QueryGradients {
public:
  using Block = AttentionScores::Block;

  QueryGradients(AttentionCode &on, const AttentionOperands &operands, const WantedGradients &wanted)
      : on(on), operands(operands), code(on.code), emit(on.emit), wanted(wanted), isShort(isShortReal(operands.storage())) {}

  /// The kernel's temporaries, behind those of the tables. They take no memory where one chunk has all keys.
  static void plan(Kernel &kernel, KernelSequence &sequence, const AttentionOperands &operands, const WantedGradients &wanted);
  /// One head's; `grads` is scratch for the rows of a strip.
  void enter(Value batch, Value head, Value grads);
  /// The rows of a block, of the keys of one chunk, onto what earlier chunks gave; `result` is one of those wanted, or null.
  void add(const Block &block, Value result);
  /// After all chunks.
  void store();

private:
  static int64_t sumWidth(const AttentionOperands &operands) { return AttentionCode::roundUp(operands.keyWidth(), 16); }
  static bool maySum(const AttentionOperands &operands);
  /// The row of a query in the temporary of this result.
  Value sumOf(Value result, Value query);
  Value severalChunks() { return emit.less(on.number(on.chunkKeys), on.keys); }

  AttentionCode &on;
  const AttentionOperands &operands;
  FunctionCode &code;
  Emitter &emit;
  const WantedGradients &wanted;
  bool isShort;
  Value batch, head, grads;
};

} // namespace tenon::cpu
