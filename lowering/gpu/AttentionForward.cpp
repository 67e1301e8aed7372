// tenon.attention as a kernel: a block per batch, head and tile of queries goes through the tiles of keys that these may see. The
// maximum and the sum of a row are kept up to date, and what was summed under an earlier maximum is scaled.
#include "dialect/Places.h"
#include "lowering/gpu/AttentionKernels.h"
#include "lowering/gpu/GemmForm.h"
#include "lowering/gpu/MaskWords.h"
#include "lowering/gpu/TensorAttention.h"
#include "lowering/gpu/TileWalk.h"
#include "lowering/gpu/WarpgroupAttention.h"
#include <limits>

using namespace mlir;

namespace tenon::gpu {
namespace {

class Forward {
public:
  Forward(AttentionOp op, KernelCode &code, const AttentionOperands &operands, PairTile tile)
      : op(op), on(code, operands, tile), code(code), builder(code.builder), operands(operands), tile(tile),
        infinity(std::numeric_limits<double>::infinity()) {}

  void emit() {
    Value tiles = ceilDivide(builder, on.queries, on.number(tile.side));
    firstQuery = on.enter(operands.heads(), tiles, on.head);
    on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
    queryRows = on.sharedRows(operands.keyWidth()), keyRows = on.sharedRows(operands.keyWidth());
    valueRows = on.sharedRows(operands.valueWidth()), weights = on.sharedRows(tile.side);
    on.fillQueries(queryRows, operands.query, operands.keyWidth(), firstQuery);
    Value last = minimum(builder, add(builder, firstQuery, on.number(tile.side)), on.queries);
    IndexRange range = on.keysSeen(firstQuery, subtract(builder, last, on.number(1)));
    const int64_t rows = tile.ownRows();
    SmallVector<Value> carried(size_t(rows), on.real(-infinity)); // maxima, totals, sums of values
    carried.append(on.zeros(rows + rows * PairTile::ownOf(operands.valueWidth())));
    const Interval own{firstQuery, subtract(builder, last, on.number(1))};
    TileWalk walk(builder, range, tile.side, on.seenTiles(true, own, tile.side));
    finish(walk.over(walk.first(), carried, [&](Value firstKey, Value, ArrayRef<Value> before) {
      return emitTile(firstKey, SmallVector<Value>(before));
    }));
  }

private:
  SmallVector<Value> emitTile(Value firstKey, SmallVector<Value> carried) {
    const int64_t rows = tile.ownRows(), width = operands.valueWidth();
    on.fillKeys(keyRows, operands.key, operands.keyWidth(), firstKey);
    on.fillKeys(valueRows, operands.value, width, firstKey);
    code.barrier();
    Pairs pairs = on.pairsOf(firstQuery, firstKey);
    AttentionTile::Scores scores = on.scores(pairs, on.rowsOf(queryRows), on.columnsOf(keyRows));
    SmallVector<Value> numbers, factors;
    for (int64_t r = 0; r < rows; ++r)
      factors.push_back(softmaxRow(pairs, scores, r, carried[size_t(r)], carried[size_t(rows + r)], numbers));
    on.storePairs(weights, numbers);
    SmallVector<Value> sums(ArrayRef(carried).drop_front(size_t(2 * rows)));
    const int64_t columns = PairTile::ownOf(width);
    for (auto [index, sum] : llvm::enumerate(sums))
      sum = arith::MulFOp::create(builder, sum, factors[index / size_t(columns)]);
    code.barrier(); // weights are there
    auto ofRows = [&](Value n) { return on.weightsOfRows(weights, n); };
    sums = on.accumulate(sums, width, ofRows, [&](Value n, Value column) -> SmallVector<Value> {
      return {LLVM::LoadOp::create(builder, on.element, on.sharedAt(valueRows, n, column))};
    });
    if (operands.valueTable)
      sums = on.accumulate(sums, width, ofRows,
                           [&](Value n, Value column) { return relativeValues(pairs, add(builder, firstKey, n), column); });
    code.barrier(); // before the next keys come
    carried.truncate(size_t(2 * rows));
    carried.append(sums);
    return carried;
  }

  /// Appends what the pairs of row r weigh, takes them into its maximum and total, and returns the factor of earlier sums.
  Value softmaxRow(const Pairs &pairs, const AttentionTile::Scores &scores, int64_t r, Value &maximum, Value &total,
                   SmallVectorImpl<Value> &numbers) {
    const int64_t columns = tile.ownColumns();
    Value zero = on.real(0), now = on.real(-infinity), sum = zero;
    auto larger = [&](Value a, Value b) {
      return on.select(arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, a, b), a, b);
    };
    auto isNone = [&](Value x) -> Value {
      return arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, x, on.real(-infinity));
    };
    for (int64_t c = 0; c < columns; ++c) {
      const size_t index = size_t(r * columns + c);
      now = larger(on.select(pairs.visible[index], scores.values[index], on.real(-infinity)), now);
    }
    now = larger(on.acrossRow(Reduction::max, now), maximum);
    Value shift = on.select(isNone(now), zero, now);
    for (int64_t c = 0; c < columns; ++c) {
      const size_t index = size_t(r * columns + c);
      Value p = on.exponential(arith::SubFOp::create(builder, scores.values[index], shift));
      p = on.select(pairs.visible[index], p, zero);
      sum = arith::AddFOp::create(builder, sum, p);
      if (on.drops)
        p = on.select(on.keeps(pairs.queries[size_t(r)], pairs.keys[index]), p, zero);
      numbers.push_back(p);
    }
    Value factor = on.exponential(arith::SubFOp::create(builder, maximum, shift));
    factor = on.select(isNone(maximum), zero, factor);
    total = arith::AddFOp::create(builder, arith::MulFOp::create(builder, total, factor), on.acrossRow(Reduction::sum, sum));
    maximum = now;
    return factor;
  }

  /// Of the thread's rows against a key, in one column.
  SmallVector<Value> relativeValues(const Pairs &pairs, Value key, Value column) {
    key = minimum(builder, key, subtract(builder, on.keys, on.number(1)));
    const int64_t width = operands.valueWidth();
    if (width % PairTile::across != 0)
      column = minimum(builder, column, on.number(width - 1));
    return llvm::map_to_vector(pairs.queries, [&](Value query) {
      Value at = add(builder, on.offsetOfPlace(on.placesOf(query, key)[0], width), column);
      return on.load(operands.valueTable, at);
    });
  }

  /// A row that saw no key gives 0; NaN stays NaN.
  void finish(ArrayRef<Value> carried) {
    const int64_t rows = tile.ownRows();
    SmallVector<Value> factors, offsets, exists;
    for (int64_t r = 0; r < rows; ++r) {
      Value largest = carried[size_t(r)], total = carried[size_t(rows + r)], zero = on.real(0);
      Value query = add(builder, firstQuery, on.row(r)), isRow = on.less(query, on.queries);
      Value none = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, total, zero);
      Value unseen = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, largest, on.real(-infinity));
      Value inverse = on.select(none, zero, arith::DivFOp::create(builder, on.real(1), total));
      code.ifThen(on.both(isRow, on.isFirstColumn()), [&] {
        if (isRead(op.getRowMax()))
          LLVM::StoreOp::create(builder, on.select(unseen, zero, largest), on.statistic(op.getRowMax(), query));
        if (isRead(op.getRowSumInverse()))
          LLVM::StoreOp::create(builder, inverse, on.statistic(op.getRowSumInverse(), query));
      });
      const double grown = 65536.0 / double(65536 - operands.threshold());
      factors.push_back(arith::MulFOp::create(builder, inverse, on.real(grown)));
      offsets.push_back(on.offsetOfQuery(query, operands.valueWidth()));
      exists.push_back(isRow);
    }
    if (isRead(op.getY()))
      on.storeRows(op.getY(), offsets, exists, carried.drop_front(size_t(2 * rows)), operands.valueWidth(), factors);
  }

  AttentionOp op;
  AttentionTile on;
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const AttentionOperands &operands;
  const PairTile tile;
  const double infinity;
  Value firstQuery;
  SharedRows queryRows, keyRows, valueRows, weights;
};

} // namespace

LogicalResult generateAttention(AttentionOp op, LaunchSequence &sequence) {
  AttentionOperands operands(op);
  if (llvm::none_of(op->getResults(), isRead))
    return success();
  SmallVector<ChoiceForm> forms{pairsForm(*forwardTile(operands))};
  if (tensorTile(operands))
    forms.push_back(
        {kTensorForm,
         {{"rows", 16, 128, 1, true}, {"warp_rows", 16, 32, 1, true}, {"keys", 16, 64, 1, true}, {"registers", 32, 255}}});
  if (sequence.chip.hasWarpgroups && warpgroupAttentionTile(operands))
    forms.push_back(warpgroupAttentionForm());
  FailureOr<Choice> choice = sequence.choiceOf(op, forms);
  if (failed(choice))
    return failure();
  if (choice->form() == kWarpgroupForm)
    return generateWarpgroupAttention(op, operands, *choice, sequence);
  addMaskWords(op.getLoc(), operands, sequence);
  auto number = [&](StringRef name) { return *choice->number(name); };
  if (choice->form() == kTensorForm)
    return generateTensorAttention(op, operands, {number("rows"), number("warp_rows"), number("keys"), number("registers")},
                                   sequence);
  const PairTile tile{number("side")};
  Launch launch =
      attentionLaunch("attention", op.getLoc(), operands, tile.side, tile.threads(), operands.heads(), operands.queries());
  for (Value result : op->getResults())
    if (isRead(result))
      launch.writes.push_back(result);
  launch.body = [&](KernelCode &code) { Forward(op, code, operands, tile).emit(); };
  sequence.add(launch);
  return success();
}

} // namespace tenon::gpu
