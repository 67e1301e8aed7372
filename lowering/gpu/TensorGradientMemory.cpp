// Vectors in shared memory: the own ones of a block, which become fragments, statistics of its queries, and the ring of tiles
// that it meets.
#include "lowering/gpu/TensorGradient.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <numbers>

using namespace mlir;

namespace tenon::gpu {

TensorGradient::Layout TensorGradient::layoutOf(AttentionGradOp op, const AttentionOperands &operands, Rows rows) {
  const int64_t width = operands.keyWidth(), valueWidth = operands.valueWidth();
  const Vectors query{operands.query, Rows::Queries, width}, dy{op.getDy(), Rows::Queries, valueWidth};
  const Vectors key{operands.key, Rows::Keys, width}, value{operands.value, Rows::Keys, valueWidth};
  const Vectors position{operands.positionQuery, Rows::Queries, width}, table{operands.table, Rows::Places, width};
  if (rows == Rows::Places)
    return {{table}, {position, dy, query}};
  Layout layout{{query, dy}, {key, value}};
  if (rows == Rows::Keys)
    std::swap(layout.own, layout.met);
  if (operands.table)
    (rows == Rows::Queries ? layout.own : layout.met).push_back(position);
  return layout;
}

int64_t TensorGradient::Layout::stageElements(int64_t side) const {
  int64_t elements = 0;
  for (const Vectors &one : met)
    elements += TileRows(side, one.width).elements();
  return elements;
}

int64_t TensorGradient::Layout::ownElements() const {
  int64_t elements = 0;
  for (const Vectors &one : ArrayRef(own).take_front(kThroughRing))
    elements += TileRows(GradientTile::kRows, one.width).elements();
  return elements;
}

int64_t TensorGradient::ringElements(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile,
                                     const GradientPart &part) {
  const Layout layout = layoutOf(op, operands, part.rows);
  const int64_t stage = layout.stageElements(tile.side), own = layout.ownElements();
  const int64_t least = std::max(GradientTile::kStages * stage, own), both = std::max(least, own + stage);
  return bytesBesideRing(operands, tile, part) + 2 * both <= kBlockBytes ? both : least;
}

BandShape TensorGradient::bandOf(const AttentionOperands &operands, GradientTile tile) {
  return {tile.kRows, tile.side, operands.keyWidth()};
}

int64_t TensorGradient::sharedBytes(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile,
                                    const GradientPart &part) {
  return 2 * ringElements(op, operands, tile, part) + bytesBesideRing(operands, tile, part);
}

int64_t TensorGradient::bytesBesideRing(const AttentionOperands &operands, GradientTile tile, const GradientPart &part) {
  const int64_t rows = part.rows == Rows::Queries ? tile.kRows : tile.kStages * tile.side;
  int64_t bytes = 4 * kStatistics * rows;
  if (operands.table)
    bytes += bandOf(operands, tile).bytes();
  if (part.rows == Rows::Places)
    bytes += BandShape{tile.kRows, tile.side, operands.valueWidth()}.bytes();
  return bytes;
}

/// Starts to bring some vectors.
void TensorGradient::bring(const Vectors &vectors, Value memory, int64_t rows, Value first) {
  const TileRows of(rows, vectors.width);
  if (vectors.by == Rows::Queries)
    on.bringQueries(memory, of, vectors.tensor, first);
  else if (vectors.by == Rows::Keys)
    on.bringKeys(memory, of, vectors.tensor, first);
  else
    on.bring(memory, of, rowsByPlace(on, vectors.tensor, vectors.width, firstPlace, placeStep));
}

/// Among the statistics.
Value TensorGradient::numberOfQuery(Value query) {
  Value head = add(builder, multiply(builder, on.batch, on.number(operands.heads())), on.head);
  return add(builder, multiply(builder, head, on.queries), query);
}

/// The own vectors as fragments, and what the first tile is asked for with them.
void TensorGradient::bringOwn() {
  SmallVector<Value> memory{ring};
  for (auto [which, vectors] : llvm::enumerate(layout.own)) {
    if (which == kThroughRing)
      memory.back() = bands[0].memory();
    bring(vectors, memory.back(), tile.kRows, firstOwn);
    memory.push_back(at(memory.back(), on.stored, TileRows(tile.kRows, vectors.width).elements()));
  }
  commitCopies(builder);
  Value some = on.less(walk->first(), walk->end);
  if (isEarly) {
    code.ifThen(some, [&] { issue(metAt(walk->first(), on.number(0)), true); });
    commitCopies(builder); // a group, also of nothing: the one before it is waited for
  }
  const RowValues row = isBy(Rows::Queries) ? loadRow() : RowValues();
  waitForCopies(builder, isEarly ? 1 : 0);
  code.barrier();
  for (auto [which, vectors] : llvm::enumerate(layout.own))
    fragments.push_back(
        on.linesOf(memory[which], TileRows(tile.kRows, vectors.width), multiply(builder, on.warp, on.number(16))));
  if (isBy(Rows::Queries))
    keepStatistics(row, memory[1]);
  if (!isEarly || isBy(Rows::Queries))
    code.barrier(); // before others come, and for statistics; else those of the loop do
  if (!isEarly || bandWaits())
    code.ifThen(some, [&] {
      isEarly ? bands[0].bringFirst() : issue(metAt(walk->first(), on.number(0)), true);
      commitCopies(builder);
    });
  if (isBy(Rows::Queries))
    readStatistics();
}

/// Two threads share a row.
TensorGradient::RowValues TensorGradient::loadRow() {
  const int64_t width = operands.valueWidth();
  Value half = remainder(builder, code.thread(), on.number(2));
  RowValues row;
  row.query = add(builder, firstOwn, divide(builder, code.thread(), on.number(2)));
  row.inside = on.within(row.query, on.queries);
  Value offset = on.offsetOfQuery(row.inside, width);
  auto eight = VectorType::get({SharedTile::kChunk}, on.stored);
  for (int64_t chunk = 0; chunk < width / SharedTile::kChunk; chunk += 2) {
    Value own = multiply(builder, add(builder, half, on.number(chunk)), on.number(SharedTile::kChunk));
    Value address = elementAddress(builder, code.pointer(op.getY()), on.stored, add(builder, offset, own));
    row.y.push_back(LLVM::LoadOp::create(builder, eight, address, 16));
  }
  row.largest = LLVM::LoadOp::create(builder, f32, on.statistic(op.getRowMax(), row.inside));
  row.inverse = LLVM::LoadOp::create(builder, f32, on.statistic(op.getRowSumInverse(), row.inside));
  return row;
}

/// Of each query: what its score, times log2 e, exceeds when its probability is 1, and D = dy . y; dy lies at `memory`.
void TensorGradient::keepStatistics(const RowValues &values, Value memory) {
  const TileRows dy(tile.kRows, operands.valueWidth());
  Value row = divide(builder, code.thread(), on.number(2)), half = remainder(builder, code.thread(), on.number(2));
  Value sum = on.real(0);
  for (auto [number, y] : llvm::enumerate(values.y)) {
    Value chunk = add(builder, half, on.number(2 * int64_t(number)));
    Value address = elementAddress(builder, memory, on.stored, dy.tile.place(builder, row, chunk));
    Value own = LLVM::LoadOp::create(builder, y.getType(), address, 16);
    auto element = [&](Value of, int64_t i) -> Value {
      Value one = LLVM::ExtractElementOp::create(builder, of, on.number(i));
      return arith::ExtFOp::create(builder, f32, one);
    };
    for (int64_t i = 0; i < SharedTile::kChunk; ++i)
      sum = math::FmaOp::create(builder, element(own, i), element(y, i), sum);
  }
  sum = on.across(Reduction::sum, sum, 2);
  Value scaled = arith::MulFOp::create(builder, values.largest, on.real(std::numbers::log2e));
  auto name = builder.getStringAttr("llvm.nvvm.lg2.approx.f");
  Value logarithm = LLVM::CallIntrinsicOp::create(builder, f32, name, ValueRange{values.inverse}).getResult(0);
  Value largest = arith::SubFOp::create(builder, scaled, logarithm); // inf for a row that saw no key
  auto put = [&](Value base, Value index, Value value) {
    LLVM::StoreOp::create(builder, value, elementAddress(builder, base, f32, index), 4);
  };
  code.ifThen(on.less(half, on.number(1)), [&] {
    put(statistics, row, largest);
    put(statistics, add(builder, row, on.number(tile.kRows)), sum);
    code.ifThen(on.less(values.query, on.queries), [&] {
      put(statisticsOfAll, numberOfQuery(values.query), largest);
      put(statisticsOfAll, add(builder, numberOfQuery(values.query), countOfQueries()), sum);
    });
  });
}

void TensorGradient::readStatistics() {
  Value line = add(builder, multiply(builder, on.warp, on.number(16)), divide(builder, on.lane, on.number(4)));
  Value address = elementAddress(builder, statistics, f32, line);
  for (int half : {0, 1}) {
    ownLargest[half] = LLVM::LoadOp::create(builder, f32, at(address, f32, 8 * half));
    ownMean[half] = LLVM::LoadOp::create(builder, f32, at(address, f32, 8 * half + tile.kRows));
  }
}

TensorGradient::Met TensorGradient::metAt(Value round, Value stage) {
  Value head = on.head, number = round;
  if (isBy(Rows::Keys))
    head = multiply(builder, on.keyHead, on.number(group));
  if (group > 1) {
    head = add(builder, head, divide(builder, round, tiles));
    number = remainder(builder, round, tiles);
  }
  Value done = multiply(builder, number, on.number(tile.side));
  return {head, add(builder, range.low, done), stage, done};
}

/// Where vectors of a tile lie: the first stage at the end of the ring, behind the own vectors.
Value TensorGradient::memoryOf(const Met &met, size_t which) {
  const int64_t stage = layout.stageElements(tile.side);
  Value memory = at(at(ring, on.stored, ringSize - stage), on.stored, met.stage, -stage);
  for (size_t before = 0; before < which; ++before)
    memory = at(memory, on.stored, tileOf(before).elements());
  return memory;
}

/// Starts to bring a tile into its stage.
void TensorGradient::issue(const Met &met, bool isFirst) {
  on.head = met.head;
  for (size_t which = 0; which < layout.met.size(); ++which)
    bring(layout.met[which], memoryOf(met, which), tile.side, met.first);
  if (!isFirst || !bandWaits())
    for (AttentionBand &band : bands)
      isFirst ? band.bringFirst() : band.bringNext(met.done);
  const int64_t threads = isBy(Rows::Queries) ? 0 : kStatistics * tile.side;
  if (threads == code.threads)
    issueStatistics(met);
  else if (threads > 0)
    code.ifThen(on.less(code.thread(), on.number(threads)), [&] { issueStatistics(met); });
}

void TensorGradient::issueStatistics(const Met &met) {
  Value which = divide(builder, code.thread(), on.number(tile.side)),
        row = remainder(builder, code.thread(), on.number(tile.side));
  Value query = add(builder, met.first, row), inside = on.less(query, on.queries);
  Value from = add(builder, numberOfQuery(query), multiply(builder, which, countOfQueries()));
  Value to = elementAddress(builder, at(statistics, f32, met.stage, kStatistics * tile.side), f32, code.thread());
  copyAsync(builder, to, elementAddress(builder, statisticsOfAll, f32, on.select(inside, from, on.number(0))), 4, inside);
}

} // namespace tenon::gpu
