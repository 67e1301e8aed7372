#include "lowering/gpu/TensorGradient.h"
#include "dialect/TensorSizes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <numbers>

using namespace mlir;

namespace tenon::gpu {

constexpr int64_t kStatistics = 2; // of a query, f32: see keepStatistics

TensorGradient::TensorGradient(AttentionGradOp op, KernelCode &code, const AttentionOperands &operands, GradientTile tile,
                               const GradientPart &part)
    : op(op), code(code), builder(code.builder), operands(operands), tile(tile), part(part),
      layout(layoutOf(op, operands, part.rows)), on(code, operands),
      group(part.rows == Rows::Keys ? operands.heads() / operands.keyHeads() : 1), f32(builder.getF32Type()),
      statisticsOfAll(code.temporary(0)) {}

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

/// Own vectors come through it before there are stages: two, then what is beyond them.
int64_t TensorGradient::Layout::ringElements(int64_t side) const {
  int64_t first = 0;
  for (const Vectors &one : ArrayRef(own).take_front(2))
    first += TileRows(GradientTile::kRows, one.width).elements();
  return std::max(GradientTile::kStages * stageElements(side), first);
}

BandShape TensorGradient::bandOf(const AttentionOperands &operands, GradientTile tile) {
  return {tile.kRows, tile.side, operands.keyWidth()};
}

int64_t TensorGradient::sharedBytes(AttentionGradOp op, const AttentionOperands &operands, GradientTile tile,
                                    const GradientPart &part) {
  const int64_t rows = part.rows == Rows::Queries ? tile.kRows : tile.kStages * tile.side;
  int64_t bytes = 2 * layoutOf(op, operands, part.rows).ringElements(tile.side) + 4 * kStatistics * rows;
  if (operands.table)
    bytes += bandOf(operands, tile).bytes();
  if (part.rows == Rows::Places)
    bytes += BandShape{tile.kRows, tile.side, operands.valueWidth()}.bytes();
  return bytes;
}

void TensorGradient::enter() {
  Value rows = on.number(tile.kRows), blocks = ceilDivide(builder, count(part.rows), rows);
  Value number =
      on.enter(isBy(Rows::Keys) ? operands.keyHeads() : operands.heads(), blocks, isBy(Rows::Keys) ? on.keyHead : on.head);
  if (isBy(Rows::Queries)) // under causal masks the last ones have most to do: they begin first
    number = subtract(builder, subtract(builder, blocks, on.number(1)), number);
  if (isBy(Rows::Keys))
    on.head = multiply(builder, on.keyHead, on.number(group));
  else
    on.keyHead = divide(builder, on.head, on.number(operands.heads() / operands.keyHeads()));
  firstOwn = multiply(builder, number, rows);
  firstLine = multiply(builder, on.warp, on.number(16));
  if (!isBy(Rows::Places)) {
    firstLine = add(builder, firstOwn, firstLine);
    return;
  }
  // A column and a line of pairs meet at a key that is a number and their difference: so places run against the keys.
  const RelativePlaces places(on);
  placeStep = subtract(builder, on.number(0), places.sign);
  Value rising = on.less(on.number(0), placeStep);
  firstPlace = on.select(rising, firstOwn, add(builder, firstOwn, on.number(tile.kRows - 1)));
  shift = multiply(builder, places.sign, subtract(builder, firstPlace, places.zero));
}

void TensorGradient::findRange() {
  Value none = on.number(0), last = add(builder, firstOwn, on.number(tile.kRows - 1));
  if (isBy(Rows::Places)) {
    Value end = subtract(builder, add(builder, on.keys, on.number(tile.kRows - 1)), shift);
    range = {maximum(builder, none, subtract(builder, none, shift)), minimum(builder, on.queries, end)};
  } else {
    range = on.seen(isBy(Rows::Queries), firstOwn, on.within(last, count(part.rows)), tile.side);
    limits = on.limitsOf({firstLine, {}, isBy(Rows::Queries), 0});
  }
  Value length = maximum(builder, subtract(builder, range.high, range.low), none);
  tiles = ceilDivide(builder, length, on.number(tile.side));
}

/// Of number n of a band the column is that of the first tile and the line the last one, n further apart.
void TensorGradient::addBands() {
  if (!operands.table)
    return;
  BandShape shape = bandOf(operands, tile);
  if (!isBy(Rows::Places)) {
    bands.emplace_back(on, shape, sourceOfTable(on, tile.kRows, firstOwn, range.low, isBy(Rows::Queries)));
    return;
  }
  Value first = add(builder, subtract(builder, range.low, on.number(tile.kRows - 1)), shift); // key
  for (auto [tensor, width] : {std::pair(operands.key, operands.keyWidth()), std::pair(operands.value, operands.valueWidth())}) {
    shape.width = width;
    bands.emplace_back(on, shape, [this, first, tensor, width](Value n) -> RowSource {
      Value key = add(builder, first, n);
      return {tensor, on.offsetOfKey(key, width), on.number(operands.keyHeads() * width),
              on.wordOf(subtract(builder, on.keys, key)), on.wordOf(subtract(builder, on.number(0), key))};
    });
  }
}

void TensorGradient::emit() {
  enter();
  ring = code.shared(on.stored, layout.ringElements(tile.side));
  statistics = code.shared(f32, kStatistics * (isBy(Rows::Queries) ? tile.kRows : tile.kStages * tile.side));
  bringOwn();
  if (!part.byScores && !part.byWeights && !part.byPosition) // nobody reads gradients by query
    return;
  findRange();
  addBands();
  Numbers sums = overTiles(multiply(builder, tiles, on.number(group)));
  ArrayRef<Value> rest = sums;
  const double grown = 65536.0 / double(65536 - operands.threshold());
  for (auto [result, width, factor] :
       {std::tuple(part.byScores, operands.keyWidth(), operands.scale), std::tuple(part.byWeights, operands.valueWidth(), grown),
        std::tuple(part.byPosition, operands.keyWidth(), operands.scale)}) {
    store(result, width, rest.take_front(columnsOf(result, width)), factor);
    rest = rest.drop_front(columnsOf(result, width));
  }
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

/// The rows of the warp become fragments for good; until then they lie where the ring is.
void TensorGradient::bringOwn() {
  Value line = multiply(builder, on.warp, on.number(16));
  fragments.resize(layout.own.size());
  for (size_t begin = 0; begin < layout.own.size(); begin += 2) {
    const size_t end = std::min(begin + 2, layout.own.size());
    SmallVector<Value> memory{ring};
    for (size_t which = begin; which < end; ++which) {
      const Vectors &vectors = layout.own[which];
      bring(vectors, memory.back(), tile.kRows, firstOwn);
      memory.push_back(at(memory.back(), on.stored, TileRows(tile.kRows, vectors.width).elements()));
    }
    commitCopies(builder);
    waitForCopies(builder, 0);
    code.barrier();
    for (size_t which = begin; which < end; ++which)
      fragments[which] = on.linesOf(memory[which - begin], TileRows(tile.kRows, layout.own[which].width), line);
    if (begin == 0 && isBy(Rows::Queries))
      keepStatistics(memory[1]);
    code.barrier(); // before others come
  }
  if (isBy(Rows::Queries))
    readStatistics();
}

/// Of each query: what its score, times log2 e, exceeds when its probability is 1, and D = dy . y. Two threads share a row, whose
/// dy lies at `memory`.
void TensorGradient::keepStatistics(Value memory) {
  const TileRows dy(tile.kRows, operands.valueWidth());
  Value row = divide(builder, code.thread(), on.number(2)), half = remainder(builder, code.thread(), on.number(2));
  Value query = add(builder, firstOwn, row), inside = on.within(query, on.queries);
  Value offset = on.offsetOfQuery(inside, dy.width), sum = on.real(0);
  auto eight = VectorType::get({SharedTile::kChunk}, on.stored);
  for (int64_t chunk = 0; chunk < dy.width / SharedTile::kChunk; chunk += 2) {
    Value own = add(builder, half, on.number(chunk));
    auto load = [&](Value base, Value index) -> Value {
      return LLVM::LoadOp::create(builder, eight, elementAddress(builder, base, on.stored, index), 16);
    };
    Value a = load(memory, dy.tile.place(builder, row, own));
    Value b = load(code.pointer(op.getY()), add(builder, offset, multiply(builder, own, on.number(SharedTile::kChunk))));
    auto element = [&](Value of, int64_t i) -> Value {
      Value one = LLVM::ExtractElementOp::create(builder, of, on.number(i));
      return arith::ExtFOp::create(builder, f32, one);
    };
    for (int64_t i = 0; i < SharedTile::kChunk; ++i)
      sum = math::FmaOp::create(builder, element(a, i), element(b, i), sum);
  }
  sum = on.across(Reduction::sum, sum, 2);
  Value most = LLVM::LoadOp::create(builder, f32, on.statistic(op.getRowMax(), inside));
  Value inverse = LLVM::LoadOp::create(builder, f32, on.statistic(op.getRowSumInverse(), inside));
  Value scaled = arith::MulFOp::create(builder, most, on.real(std::numbers::log2e));
  auto name = builder.getStringAttr("llvm.nvvm.lg2.approx.f");
  Value logarithm = LLVM::CallIntrinsicOp::create(builder, f32, name, ValueRange{inverse}).getResult(0);
  Value largest = arith::SubFOp::create(builder, scaled, logarithm); // inf for a row that saw no key
  auto put = [&](Value base, Value index, Value value) {
    LLVM::StoreOp::create(builder, value, elementAddress(builder, base, f32, index), 4);
  };
  code.ifThen(on.less(half, on.number(1)), [&] {
    put(statistics, row, largest);
    put(statistics, add(builder, row, on.number(tile.kRows)), sum);
    code.ifThen(on.less(query, on.queries), [&] {
      put(statisticsOfAll, numberOfQuery(query), largest);
      put(statisticsOfAll, add(builder, numberOfQuery(query), countOfQueries()), sum);
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

TensorGradient::Met TensorGradient::metAt(Value round) {
  Value head = on.head, number = round;
  if (isBy(Rows::Keys))
    head = multiply(builder, on.keyHead, on.number(group));
  if (group > 1) {
    head = add(builder, head, divide(builder, round, tiles));
    number = remainder(builder, round, tiles);
  }
  Value done = multiply(builder, number, on.number(tile.side));
  return {head, add(builder, range.low, done), remainder(builder, round, on.number(tile.kStages)), done};
}

/// Where vectors of a tile lie.
Value TensorGradient::memoryOf(const Met &met, size_t which) {
  Value memory = at(ring, on.stored, met.stage, layout.stageElements(tile.side));
  for (size_t before = 0; before < which; ++before)
    memory = at(memory, on.stored, tileOf(before).elements());
  return memory;
}

/// Starts to bring a tile into its stage.
void TensorGradient::issue(const Met &met, bool isFirst) {
  on.head = met.head;
  for (size_t which = 0; which < layout.met.size(); ++which)
    bring(layout.met[which], memoryOf(met, which), tile.side, met.first);
  for (AttentionBand &band : bands)
    isFirst ? band.bringFirst() : band.bringNext(met.done);
  const int64_t threads = isBy(Rows::Queries) ? 0 : kStatistics * tile.side;
  if (threads == code.threads)
    issueStatistics(met);
  else if (threads > 0)
    code.ifThen(on.less(code.thread(), on.number(threads)), [&] { issueStatistics(met); });
  commitCopies(builder);
}

void TensorGradient::issueStatistics(const Met &met) {
  Value which = divide(builder, code.thread(), on.number(tile.side)),
        row = remainder(builder, code.thread(), on.number(tile.side));
  Value query = add(builder, met.first, row), inside = on.less(query, on.queries);
  Value from = add(builder, numberOfQuery(query), multiply(builder, which, countOfQueries()));
  Value to = elementAddress(builder, at(statistics, f32, met.stage, kStatistics * tile.side), f32, code.thread());
  copyAsync(builder, to, elementAddress(builder, statisticsOfAll, f32, on.select(inside, from, on.number(0))), 4, inside);
}

/// A stage is filled while the one before it is multiplied.
TensorGradient::Numbers TensorGradient::overTiles(Value rounds) {
  Value none = on.number(0), one = on.number(1);
  const size_t ofScores = columnsOf(part.byScores, operands.keyWidth()),
               ofWeights = columnsOf(part.byWeights, operands.valueWidth()),
               ofPosition = columnsOf(part.byPosition, operands.keyWidth());
  code.ifThen(on.less(none, rounds), [&] { issue(metAt(none), true); });
  auto loop = scf::ForOp::create(builder, none, rounds, one, on.zeros(int64_t(ofScores + ofWeights + ofPosition)));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  waitForCopies(builder, 0);
  code.barrier(); // this stage is there, and the other one was read
  Value next = add(builder, loop.getInductionVar(), one);
  code.ifThen(on.less(next, rounds), [&] { issue(metAt(next), false); });
  const Met met = metAt(loop.getInductionVar());
  on.head = met.head;
  auto before = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
  ArrayRef<Value> all = before;
  Sums sums{Numbers(all.take_front(ofScores)), Numbers(all.slice(ofScores, ofWeights)), Numbers(all.take_back(ofPosition))};
  for (int64_t column = 0; column < tile.side; column += tile.columns)
    emitColumns(met, column, sums);
  Numbers after = sums.scores;
  llvm::append_range(after, sums.weights);
  llvm::append_range(after, sums.position);
  scf::YieldOp::create(builder, after);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// The sums of the warp's rows, four of a lane for each 8 columns, times a factor.
void TensorGradient::store(Value result, int64_t width, ArrayRef<Value> sums, double factor) {
  if (!result)
    return;
  const Type element = cast<RankedTensorType>(result.getType()).getElementType();
  Value column = multiply(builder, remainder(builder, on.lane, on.number(4)), on.number(2));
  for (int64_t which : {0, 1}) {
    Value line = on.lineOf({firstLine, {}, isBy(Rows::Queries), 0}, which);
    if (isBy(Rows::Places))
      line = add(builder, firstPlace, multiply(builder, placeStep, line));
    code.ifThen(on.less(line, count(part.rows)), [&] {
      Value offset = isBy(Rows::Queries) ? on.offsetOfQuery(line, width)
                     : isBy(Rows::Keys)  ? on.offsetOfKey(line, width)
                                         : on.offsetOfPlace(add(builder, multiply(builder, on.batch, on.rows), line), width);
      Value base = elementAddress(builder, code.pointer(result), element, add(builder, offset, column));
      for (int64_t block = 0; block < width / 8; ++block) {
        auto number = [&](int64_t i) -> Value {
          return arith::MulFOp::create(builder, sums[size_t(4 * block + 2 * which + i)], on.real(factor));
        };
        Value address = at(base, element, 8 * block);
        if (element == on.stored) {
          LLVM::StoreOp::create(builder, on.pack(number(0), number(1)), address, 4);
          continue;
        }
        for (int64_t i : {0, 1})
          LLVM::StoreOp::create(builder, number(i), at(address, f32, i), 4);
      }
    });
  }
}

} // namespace tenon::gpu
