// Gradients of keys, values and position keys: a block per batch, head of keys and tile of keys goes through the heads that read
// them and the tiles of queries that may see them.
#include "lowering/gpu/AttentionGradient.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

class KeyGradients : AttentionGradient {
public:
  KeyGradients(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile)
      : AttentionGradient(op, code, operands, tile) {
    const int64_t ofWidth = tile.ownRows() * PairTile::ownOf(operands.keyWidth());
    ofKey = sums.take(wanted.key ? ofWidth : 0);
    ofPosition = sums.take(wanted.positionKey ? ofWidth : 0);
    ofValue = sums.take(wanted.value ? tile.ownRows() * PairTile::ownOf(operands.valueWidth()) : 0);
  }

  void emit() {
    Value tiles = ceilDivide(builder, on.keys, on.number(tile.side));
    firstKey = on.enter(operands.keyHeads(), tiles, on.keyHead);
    queryRows = on.sharedRows(operands.keyWidth()), keyRows = on.sharedRows(operands.keyWidth());
    dyRows = on.sharedRows(operands.valueWidth()), valueRows = on.sharedRows(operands.valueWidth());
    scores = on.sharedRows(tile.side), weights = on.sharedRows(tile.side);
    on.fillKeys(keyRows, operands.key, operands.keyWidth(), firstKey);
    on.fillKeys(valueRows, operands.value, operands.valueWidth(), firstKey);
    Value last = minimum(builder, add(builder, firstKey, on.number(tile.side)), on.keys);
    const Interval own{firstKey, subtract(builder, last, on.number(1))};
    IndexRange range = on.queriesThatSee(own.low, own.high);
    const int64_t group = operands.heads() / operands.keyHeads();
    auto heads = scf::ForOp::create(builder, on.number(0), on.number(group), on.number(1), on.zeros(int64_t(sums.count())));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(heads.getBody());
      on.head = add(builder, multiply(builder, on.keyHead, on.number(group)), heads.getInductionVar());
      scf::YieldOp::create(builder, overTiles(range, on.seenTiles(false, own, tile.side), heads.getRegionIterArgs(),
                                              [&](Value first, Values before) { return emitTile(first, before); }));
    }
    finish(llvm::to_vector_of<Value>(heads.getResults()));
  }

private:
  SmallVector<Value> emitTile(Value firstQuery, SmallVector<Value> before) {
    const int64_t width = operands.keyWidth(), valueWidth = operands.valueWidth();
    on.fillQueries(queryRows, operands.query, width, firstQuery);
    on.fillQueries(dyRows, op.getDy(), valueWidth, firstQuery);
    code.barrier();
    Pairs pairs = on.pairsOf(firstQuery, firstKey);
    Rows rows = rowsAt(pairs.queries, dyRows);
    Numbers numbers = numbersAt(pairs, rows, on.rowsOf(queryRows), on.columnsOf(keyRows), dyRows, on.columnsOf(valueRows));
    if (ofKey < ofValue)
      on.storePairs(scores, numbers.scores);
    if (wanted.value)
      on.storePairs(weights, numbers.weights);
    code.barrier();
    auto part = [&](size_t first, size_t end) { return ArrayRef(before).slice(first, end - first); };
    auto ofScores = [&](Value n) { return on.weightsOfColumns(scores, n); };
    SmallVector<Value> after;
    if (wanted.key)
      llvm::append_range(after, on.accumulate(part(ofKey, ofPosition), width, ofScores, from(queryRows)));
    if (wanted.positionKey)
      llvm::append_range(after, on.accumulate(part(ofPosition, ofValue), width, ofScores, [&](Value n, Value column) {
        return rowsOfTable(add(builder, firstQuery, n), column);
      }));
    if (wanted.value)
      llvm::append_range(after, on.accumulate(
                                    part(ofValue, sums.count()), valueWidth,
                                    [&](Value n) { return on.weightsOfColumns(weights, n); }, from(dyRows)));
    code.barrier(); // before the next queries come
    return after;
  }

  /// Of the table that keys ask, for a query and the thread's keys.
  SmallVector<Value> rowsOfTable(Value query, Value column) {
    const int64_t width = operands.keyWidth();
    query = atMost(query, on.queries);
    column = within(column, width);
    SmallVector<Value> numbers;
    for (int64_t r = 0; r < tile.ownRows(); ++r) {
      Value key = atMost(add(builder, firstKey, on.row(r)), on.keys);
      Value at = add(builder, on.offsetOfPlace(on.placesOf(query, key)[0], width), column);
      numbers.push_back(on.load(operands.keyTable, at));
    }
    return numbers;
  }

  void finish(ArrayRef<Value> after) {
    auto part = [&](size_t first, size_t end) { return after.slice(first, end - first); };
    auto at = [&](int64_t width) {
      return [this, width](Value row) {
        Value key = add(builder, firstKey, row);
        return Place{on.offsetOfKey(key, width), on.less(key, on.keys)};
      };
    };
    const int64_t width = operands.keyWidth(), valueWidth = operands.valueWidth();
    store(wanted.key, part(ofKey, ofPosition), width, at(width));
    store(wanted.positionKey, part(ofPosition, ofValue), width, at(width));
    store(wanted.value, part(ofValue, sums.count()), valueWidth, at(valueWidth));
  }

  size_t ofKey, ofPosition, ofValue;
  Value firstKey;
  SharedRows queryRows, keyRows, dyRows, valueRows, scores, weights;
};

} // namespace

void addKeyGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence) {
  Launch launch = gradientLaunch("attention_keys", op, operands, tile, operands.keyHeads(), operands.keys());
  launch.registers = 255; // sums of keys and of values: with 168 the assembler would spill some
  launch.writes = WantedGradients(op).ofKeys();
  launch.body = [&](KernelCode &code) { KeyGradients(op, code, operands, tile).emit(); };
  sequence.add(launch);
}

} // namespace tenon::gpu
