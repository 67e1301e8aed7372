// Gradients of the tables at computed places, per row of the batch: which keys read a row is not known before, so a block goes
// through all pairs, without the tiles of them that read none of its rows. Of a tile of queries, gradients of scores are added by
// query and row of the tables, in the order of the keys; then by row, in the order of the queries.
#include "lowering/code/Reductions.h"
#include "lowering/gpu/AttentionTableGradients.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

class TablesByPair : TableGradients {
public:
  TablesByPair(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile)
      : TableGradients(op, code, operands, tile), word(builder.getI32Type()) {}

  void emit() {
    enter();
    keyRows = on.sharedRows(operands.keyWidth()), valueRows = on.sharedRows(operands.valueWidth());
    rowsRead = code.shared(word, tile.side * scores.stride);
    finish(overTiles({on.number(0), on.queries}, {}, none(),
                     [&](Value first, Values before) { return emitQueries(first, before); }));
  }

private:
  Values emitQueries(Value first, Values before) {
    firstQuery = first;
    on.fillQueries(queryRows, operands.query, operands.keyWidth(), firstQuery);
    on.fillQueries(dyRows, op.getDy(), operands.valueWidth(), firstQuery);
    code.barrier();
    rows = rowsAt(on.queriesFrom(firstQuery), dyRows);
    const Interval own{firstQuery, atMost(add(builder, firstQuery, on.number(tile.side - 1)), on.queries)};
    Values byRow = overTiles(on.keysSeen(own.low, own.high), on.seenTiles(true, own, tile.side),
                             on.zeros(tile.ownRows() * tile.ownColumns()),
                             [&](Value firstKey, Values sums) { return emitPairs(firstKey, sums); });
    on.storePairs(scores, byRow);
    code.barrier();
    return sumTile(firstQuery, before);
  }

  /// The sums of the thread's queries and rows of the tables behind a tile of keys.
  Values emitPairs(Value firstKey, Values before) {
    Pairs pairs = on.pairsOf(firstQuery, firstKey);
    SmallVector<Values> read = rowsOf(pairs);
    Value most = code.combineBlock(Reduction::max, mostOf(read));
    Value some = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, most, wordOf(0));
    auto branch = scf::IfOp::create(builder, ValueRange(before).getTypes(), some, true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, before);
      builder.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(builder, addPairs(pairs, read, firstKey, before));
    }
    code.barrier(); // before the next keys come
    return Values(branch.getResults());
  }

  /// Of each place of a pair, which of the block's rows it is; -1: none of them, or no pair.
  SmallVector<Values> rowsOf(const Pairs &pairs) {
    SmallVector<Values> read(pairs.places[0].size());
    for (auto [places, visible] : llvm::zip_equal(pairs.places, pairs.visible))
      for (auto [which, place] : llvm::enumerate(places)) {
        Value row = subtract(builder, place, firstPlace);
        Value isRead = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, row, on.number(tile.side));
        row = on.select(on.both(visible, isRead), row, on.number(-1));
        read[which].push_back(arith::TruncIOp::create(builder, word, row));
      }
    return read;
  }

  Value mostOf(ArrayRef<Values> read) {
    Value most;
    for (const Values &rows : read)
      for (Value row : rows)
        most = most ? combine(builder, Reduction::max, most, row) : row;
    return most;
  }

  Values addPairs(const Pairs &pairs, ArrayRef<Values> read, Value firstKey, Values sums) {
    on.fillKeys(keyRows, operands.key, operands.keyWidth(), firstKey);
    on.fillKeys(valueRows, operands.value, operands.valueWidth(), firstKey);
    code.barrier();
    Numbers numbers = numbersAt(pairs, rows, on.rowsOf(queryRows), on.columnsOf(keyRows), dyRows, on.columnsOf(valueRows));
    on.storePairs(scores, numbers.scores);
    for (auto [which, ofPairs] : llvm::enumerate(read)) {
      if (which > 0)
        code.barrier();
      for (auto [index, row] : llvm::enumerate(ofPairs)) {
        const int64_t r = int64_t(index) / tile.ownColumns(), c = int64_t(index) % tile.ownColumns();
        LLVM::StoreOp::create(builder, row, rowReadAt(on.row(r), on.column(c)));
      }
      code.barrier();
      sums = addKeys(sums);
    }
    return sums;
  }

  Values addKeys(ValueRange before) {
    auto loop = scf::ForOp::create(builder, on.number(0), on.number(tile.side), on.number(1), before);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value key = loop.getInductionVar();
    Values after, gradients = on.weightsOfRows(scores, key);
    for (int64_t r = 0; r < tile.ownRows(); ++r) {
      Value read = LLVM::LoadOp::create(builder, word, rowReadAt(on.row(r), key));
      for (int64_t c = 0; c < tile.ownColumns(); ++c) {
        Value own = arith::TruncIOp::create(builder, word, on.column(c));
        Value isOwn = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, read, own);
        Value sum = loop.getRegionIterArgs()[unsigned(r * tile.ownColumns() + c)];
        after.push_back(arith::AddFOp::create(builder, sum, on.select(isOwn, gradients[size_t(r)], on.real(0))));
      }
    }
    scf::YieldOp::create(builder, after);
    return Values(loop.getResults());
  }

  Value wordOf(int32_t value) { return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(value)); }
  Value rowReadAt(Value row, Value column) {
    return elementAddress(builder, rowsRead, word, add(builder, multiply(builder, row, on.number(scores.stride)), column));
  }

  const Type word;
  Rows rows;
  Value firstQuery, rowsRead;
  SharedRows keyRows, valueRows;
};

} // namespace

void addComputedTableGradients(AttentionGradOp op, const AttentionOperands &operands, PairTile tile, LaunchSequence &sequence) {
  Launch launch = gradientLaunch("attention_computed_tables", op, operands, tile, operands.heads(), operands.rowsOfTables());
  launch.writes = WantedGradients(op).ofTables();
  launch.body = [&](KernelCode &code) { TablesByPair(op, code, operands, tile).emit(); };
  sequence.add(launch);
}

} // namespace tenon::gpu
