// Gradients of the tables by relative position, per row of the batch: a block goes through the queries. A query and a row of the
// tables give a key: its pair is computed where it is needed, and added in the order of the queries.
#include "lowering/gpu/AttentionTableGradients.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon::gpu {

TableGradients::TableGradients(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile)
    : AttentionGradient(op, code, operands, tile) {
  auto of = [&](Value result, int64_t width) { return result ? tile.ownRows() * PairTile::ownOf(width) : 0; };
  ofTable = sums.take(of(wanted.table, operands.keyWidth()));
  ofKeyTable = sums.take(of(wanted.keyTable, operands.keyWidth()));
  ofScores = sums.take(of(wanted.scoreTable, 1));
  ofValues = sums.take(of(wanted.valueTable, operands.valueWidth()));
}

void TableGradients::enter() {
  firstPlace = on.enter(operands.heads(), ceilDivide(builder, on.rows, on.number(tile.side)), on.head);
  on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
  queryRows = on.sharedRows(operands.keyWidth()), dyRows = on.sharedRows(operands.valueWidth());
  scores = on.sharedRows(tile.side), weights = on.sharedRows(tile.side);
}

TableGradients::Values TableGradients::sumTile(Value firstQuery, ArrayRef<Value> before) {
  const int64_t width = operands.keyWidth();
  auto part = [&](size_t first, size_t end) { return before.slice(first, end - first); };
  auto byScores = [&](Value n) { return on.weightsOfColumns(scores, n); };
  auto queryOf = [&](Value n) { return atMost(add(builder, firstQuery, n), on.queries); };
  SmallVector<Value> after;
  if (wanted.table)
    llvm::append_range(after, on.accumulate(part(ofTable, ofKeyTable), width, byScores, [&](Value n, Value column) {
      Value at = add(builder, on.offsetOfQuery(queryOf(n), width), within(column, width));
      return SmallVector<Value>{on.load(operands.positionQuery, at)};
    }));
  if (wanted.keyTable)
    llvm::append_range(after, on.accumulate(part(ofKeyTable, ofScores), width, byScores, [&](Value n, Value column) {
      SmallVector<Value> numbers;
      for (int64_t r = 0; r < tile.ownRows(); ++r) {
        Value key = on.keyAt(queryOf(n), add(builder, firstPlace, on.row(r))).first;
        Value at = add(builder, on.offsetOfKey(key, width), within(column, width));
        numbers.push_back(on.load(operands.positionKey, at));
      }
      return numbers;
    }));
  if (wanted.scoreTable)
    llvm::append_range(after, on.accumulate(part(ofScores, ofValues), 1, byScores,
                                            [&](Value, Value) { return SmallVector<Value>{on.real(1)}; }));
  if (wanted.valueTable)
    llvm::append_range(after, on.accumulate(
                                  part(ofValues, sums.count()), operands.valueWidth(),
                                  [&](Value n) { return on.weightsOfColumns(weights, n); }, from(dyRows)));
  return after;
}

void TableGradients::finish(ArrayRef<Value> after) {
  auto put = [&](Value result, size_t first, size_t end, int64_t width) {
    store(result, after.slice(first, end - first), width, [&](Value number) {
      Value place = add(builder, firstPlace, number);
      Value row = add(builder, multiply(builder, on.batch, on.rows), place); // the batch is in front
      return Place{on.offsetOfPlace(row, width), on.less(place, on.rows)};
    });
  };
  put(wanted.table, ofTable, ofKeyTable, operands.keyWidth());
  put(wanted.keyTable, ofKeyTable, ofScores, operands.keyWidth());
  put(wanted.scoreTable, ofScores, ofValues, 1);
  put(wanted.valueTable, ofValues, sums.count(), operands.valueWidth());
}

namespace {

class TablesByForm : TableGradients {
public:
  TablesByForm(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile)
      : TableGradients(op, code, operands, tile) {}

  void emit() {
    enter();
    Value last = minimum(builder, add(builder, firstPlace, on.number(tile.side)), on.rows);
    IndexRange range = on.queriesAtPlaces(firstPlace, subtract(builder, last, on.number(1)));
    finish(overTiles(range, {}, none(), [&](Value first, Values before) { return emitTile(first, before); }));
  }

private:
  SmallVector<Value> emitTile(Value firstQuery, SmallVector<Value> before) {
    const int64_t width = operands.keyWidth(), valueWidth = operands.valueWidth();
    on.fillQueries(queryRows, operands.query, width, firstQuery);
    on.fillQueries(dyRows, op.getDy(), valueWidth, firstQuery);
    code.barrier();
    Pairs pairs = on.pairsAtPlaces(firstQuery, firstPlace);
    Rows rows = rowsAt(pairs.queries, dyRows);
    Numbers numbers = numbersAt(pairs, rows, on.rowsOf(queryRows), on.ofKeys(operands.key, pairs, width), dyRows,
                                on.ofKeys(operands.value, pairs, valueWidth));
    if (ofTable < ofValues)
      on.storePairs(scores, numbers.scores);
    if (wanted.valueTable)
      on.storePairs(weights, numbers.weights);
    code.barrier();
    SmallVector<Value> after = sumTile(firstQuery, before);
    code.barrier(); // before the next queries come
    return after;
  }
};

} // namespace

void addTableGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence) {
  tile.side = std::min<int64_t>(tile.side, 16); // each pair has a key of its own, for which a thread has few registers
  Launch launch = gradientLaunch("attention_tables", op, operands, tile, operands.heads(), operands.rowsOfTables());
  launch.writes = WantedGradients(op).ofTables();
  launch.body = [&](KernelCode &code) { TablesByForm(op, code, operands, tile).emit(); };
  sequence.add(launch);
}

} // namespace tenon::gpu
