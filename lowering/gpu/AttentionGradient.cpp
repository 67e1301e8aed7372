// tenon.attention_grad as up to three kernels: for tiles of queries, of keys, and of rows of tables. Each computes the scores
// again and sums what is its own in a fixed order; no gradient is added to by two blocks.
#include "lowering/gpu/MaskWords.h"
#include "lowering/gpu/TensorAttention.h"
#include "lowering/gpu/TensorAttentionGradient.h"
#include "lowering/gpu/TileWalk.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {

AttentionGradient::Rows AttentionGradient::rowsAt(ArrayRef<Value> queries, SharedRows dy) {
  auto &builder = on.builder;
  const int64_t width = on.operands.valueWidth();
  Rows rows;
  for (auto [r, query] : llvm::enumerate(queries)) {
    rows.largest.push_back(LLVM::LoadOp::create(builder, on.element, on.statistic(op.getRowMax(), query)));
    rows.inverse.push_back(LLVM::LoadOp::create(builder, on.element, on.statistic(op.getRowSumInverse(), query)));
    Value sum = on.real(0), offset = on.offsetOfQuery(query, width);
    for (int64_t c = 0; c < PairTile::ownOf(width); ++c) {
      Value column = on.column(c);
      Value gradient =
          LLVM::LoadOp::create(builder, on.element, on.sharedAt(dy, on.row(int64_t(r)), column)); // 0 beyond the width
      if ((c + 1) * PairTile::across > width)
        column = minimum(builder, column, on.number(width - 1));
      Value y = on.load(op.getY(), add(builder, offset, column));
      sum = math::FmaOp::create(builder, gradient, y, sum);
    }
    rows.mean.push_back(on.acrossRow(Reduction::sum, sum));
  }
  return rows;
}

AttentionGradient::Numbers AttentionGradient::numbersAt(const Pairs &pairs, const Rows &rows, const Vectors &query,
                                                        const Vectors &key, SharedRows dy, const Vectors &value) {
  auto &builder = on.builder;
  const AttentionOperands &operands = on.operands;
  const int64_t columns = on.tile.ownColumns();
  AttentionTile::Scores scores = on.scores(pairs, query, key);
  SmallVector<Value> along = on.dot(on.rowsOf(dy), value, operands.valueWidth(), on.zeros(on.tile.ownRows() * columns));
  if (operands.valueTable)
    along =
        on.dot(on.rowsOf(dy), on.ofPlaces(operands.valueTable, pairs, operands.valueWidth(), 0), operands.valueWidth(), along);
  Value zero = on.real(0), grown = on.real(65536.0 / double(65536 - operands.threshold())), scale = on.real(operands.scale);
  Numbers numbers;
  for (size_t index = 0; index < scores.values.size(); ++index) {
    const size_t r = index / size_t(columns);
    Value visible = pairs.visible[index];
    Value p = on.exponential(arith::SubFOp::create(builder, scores.values[index], rows.largest[r]));
    p = on.select(visible, arith::MulFOp::create(builder, p, rows.inverse[r]), zero);
    Value keep = on.drops ? on.keeps(pairs.queries[r], pairs.keys[index]) : Value();
    auto dropped = [&](Value x) { return keep ? on.select(keep, arith::MulFOp::create(builder, x, grown), zero) : x; };
    Value weight = arith::MulFOp::create(builder, p, scale);
    if (!scores.slopes.empty())
      weight = arith::MulFOp::create(builder, weight, scores.slopes[index]);
    Value ds = arith::MulFOp::create(builder, arith::SubFOp::create(builder, dropped(along[index]), rows.mean[r]), weight);
    numbers.weights.push_back(dropped(p));
    numbers.scores.push_back(on.select(visible, ds, zero)); // of a hidden pair it may be anything
  }
  return numbers;
}

AttentionGradient::Values AttentionGradient::overTiles(IndexRange range, SeenTiles seen, ValueRange before,
                                                       llvm::function_ref<Values(Value, Values)> emitTile) {
  TileWalk walk(builder, range, tile.side, std::move(seen));
  return walk.over(walk.first(), before, [&](Value first, Value, ArrayRef<Value> sums) { return emitTile(first, Values(sums)); });
}

std::function<AttentionGradient::Values(Value, Value)> AttentionGradient::from(SharedRows shared) {
  return [this, shared](Value n, Value column) {
    return Values{LLVM::LoadOp::create(builder, on.element, on.sharedAt(shared, n, column))};
  };
}

Value AttentionGradient::within(Value column, int64_t width) {
  return width % PairTile::across ? minimum(builder, column, on.number(width - 1)) : column;
}

void AttentionGradient::store(Value result, ArrayRef<Value> sums, int64_t width, llvm::function_ref<Place(Value)> placeOf) {
  if (!result)
    return;
  Values offsets, exists;
  for (int64_t r = 0; r < tile.ownRows(); ++r) {
    const Place place = placeOf(on.row(r));
    offsets.push_back(place.offset);
    exists.push_back(place.exists);
  }
  on.storeRows(result, offsets, exists, sums, width);
}

LogicalResult generateAttentionGradient(AttentionGradOp op, LaunchSequence &sequence) {
  AttentionOperands operands(op);
  SmallVector<ChoiceForm> forms{pairsForm(*backwardTile(operands))};
  if (std::optional<GradientTile> largest = tensorGradientTile(op))
    forms.push_back(tensorGradientForm(*largest));
  FailureOr<Choice> choice = sequence.choiceOf(op, forms);
  if (failed(choice))
    return failure();
  addMaskWords(op.getLoc(), operands, sequence);
  auto number = [&](StringRef name) { return *choice->number(name); };
  if (choice->form() == kTensorForm)
    return addTensorGradients(op, operands, {number("side"), number("columns"), number("registers")}, sequence);
  const PairTile tile{number("side")};
  const WantedGradients wanted(op);
  if (!wanted.ofQueries().empty())
    addQueryGradients(op, operands, tile, sequence);
  if (!wanted.ofKeys().empty())
    addKeyGradients(op, operands, tile, sequence);
  if (!wanted.ofTables().empty())
    (operands.placeCode ? addComputedTableGradients : addTableGradients)(op, operands, tile, sequence);
  return success();
}

} // namespace tenon::gpu
