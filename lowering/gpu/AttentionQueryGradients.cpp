// Gradients of queries, position queries and selected scores: a block per batch, head and tile of queries goes through the tiles
// of keys that these may see.
#include "lowering/gpu/AttentionGradient.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

class QueryGradients : AttentionGradient {
public:
  QueryGradients(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile)
      : AttentionGradient(op, code, operands, tile) {
    const int64_t ofWidth = tile.ownRows() * PairTile::ownOf(operands.keyWidth());
    ofQuery = sums.take(wanted.query ? ofWidth : 0);
    ofPosition = sums.take(wanted.positionQuery ? ofWidth : 0);
    ofSelected = sums.take(wanted.selectedScores ? 2 * tile.ownRows() : 0);
  }

  void emit() {
    Value tiles = ceilDivide(builder, on.queries, on.number(tile.side));
    firstQuery = on.enter(operands.heads(), tiles, on.head);
    on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
    queryRows = on.sharedRows(operands.keyWidth()), keyRows = on.sharedRows(operands.keyWidth());
    dyRows = on.sharedRows(operands.valueWidth()), valueRows = on.sharedRows(operands.valueWidth());
    ofPairs = on.sharedRows(tile.side);
    on.fillQueries(queryRows, operands.query, operands.keyWidth(), firstQuery);
    on.fillQueries(dyRows, op.getDy(), operands.valueWidth(), firstQuery);
    code.barrier();
    rows = rowsAt(on.queriesFrom(firstQuery), dyRows);
    Value last = minimum(builder, add(builder, firstQuery, on.number(tile.side)), on.queries);
    const Interval own{firstQuery, subtract(builder, last, on.number(1))};
    finish(overTiles(on.keysSeen(own.low, own.high), on.seenTiles(true, own, tile.side), on.zeros(int64_t(sums.count())),
                     [&](Value first, Values before) { return emitTile(first, before); }));
  }

private:
  SmallVector<Value> emitTile(Value firstKey, SmallVector<Value> before) {
    const int64_t width = operands.keyWidth();
    on.fillKeys(keyRows, operands.key, width, firstKey);
    on.fillKeys(valueRows, operands.value, operands.valueWidth(), firstKey);
    code.barrier();
    Pairs pairs = on.pairsOf(firstQuery, firstKey);
    Numbers numbers = numbersAt(pairs, rows, on.rowsOf(queryRows), on.columnsOf(keyRows), dyRows, on.columnsOf(valueRows));
    on.storePairs(ofPairs, numbers.scores);
    code.barrier();
    auto part = [&](size_t first, size_t end) { return ArrayRef(before).slice(first, end - first); };
    auto ofRows = [&](Value n) { return on.weightsOfRows(ofPairs, n); };
    SmallVector<Value> after;
    if (wanted.query)
      llvm::append_range(after, on.accumulate(part(ofQuery, ofPosition), width, ofRows, from(keyRows)));
    if (wanted.positionQuery)
      llvm::append_range(after, overPlaces(part(ofPosition, ofSelected), pairs, firstKey));
    if (wanted.selectedScores)
      llvm::append_range(after, selected(part(ofSelected, sums.count()), pairs, numbers));
    code.barrier(); // before the next keys come
    return after;
  }

  /// Rows of the table for a key and the thread's queries: where more than one adds up, their sum.
  SmallVector<Value> overPlaces(ValueRange before, const Pairs &pairs, Value firstKey) {
    const int64_t width = operands.keyWidth();
    auto ofRows = [&](Value n) { return on.weightsOfRows(ofPairs, n); };
    return on.accumulate(before, width, ofRows, [&](Value n, Value column) {
      Value key = atMost(add(builder, firstKey, n), on.keys);
      column = within(column, width);
      return llvm::map_to_vector(pairs.queries, [&](Value query) {
        Value sum;
        for (Value place : on.placesOf(query, key)) {
          Value at = add(builder, on.offsetOfPlace(place, width), column);
          Value one = on.load(operands.table, at);
          sum = sum ? Value(arith::AddFOp::create(builder, sum, one)) : one;
        }
        return sum;
      });
    });
  }

  SmallVector<Value> selected(ArrayRef<Value> before, const Pairs &pairs, const Numbers &numbers) {
    SmallVector<Value> after(before);
    Value zero = on.real(0);
    for (size_t index = 0; index < numbers.scores.size(); ++index) {
      const size_t r = index / size_t(tile.ownColumns());
      Value second = on.isSelected(pairs.queries[r], pairs.keys[index]), ds = numbers.scores[index];
      after[2 * r] = arith::AddFOp::create(builder, after[2 * r], on.select(second, zero, ds));
      after[2 * r + 1] = arith::AddFOp::create(builder, after[2 * r + 1], on.select(second, ds, zero));
    }
    return after;
  }

  void finish(ArrayRef<Value> after) {
    const int64_t width = operands.keyWidth();
    auto at = [&](Value row) {
      Value query = add(builder, firstQuery, row);
      return Place{on.offsetOfQuery(query, width), on.less(query, on.queries)};
    };
    for (int64_t r = 0; r < tile.ownRows() && wanted.selectedScores; ++r)
      for (int64_t which : {0, 1}) {
        Value query = add(builder, firstQuery, on.row(r));
        Value sum = on.acrossRow(Reduction::sum, after[ofSelected + size_t(2 * r + which)]);
        Value offset = add(builder, on.offsetOfQuery(query, 2), on.number(which));
        code.ifThen(on.both(at(on.row(r)).exists, on.isFirstColumn()), [&] { on.store(wanted.selectedScores, offset, sum); });
      }
    store(wanted.query, after.slice(ofQuery, ofPosition - ofQuery), width, at);
    store(wanted.positionQuery, after.slice(ofPosition, ofSelected - ofPosition), width, at);
  }

  size_t ofQuery, ofPosition, ofSelected;
  Rows rows;
  Value firstQuery;
  SharedRows queryRows, keyRows, dyRows, valueRows, ofPairs;
};

} // namespace

void addQueryGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence) {
  Launch launch = gradientLaunch("attention_queries", op, operands, tile, operands.heads(), operands.queries());
  launch.writes = WantedGradients(op).ofQueries();
  launch.body = [&](KernelCode &code) { QueryGradients(op, code, operands, tile).emit(); };
  sequence.add(launch);
}

} // namespace tenon::gpu
